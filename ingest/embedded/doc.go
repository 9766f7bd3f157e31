// Package embedded is a Kafka in this process, on a loopback port: franz-go's kfake, with groups that forget a member that is gone as
// a broker's do. Package ingest does not know of it.
//
// The invariant: whatever becomes of the processes that join a group, a moment later its partitions belong to members that are there.
// kfake alone does not keep it. It begins a member's session when the answer to the member's request to join could be sent, so a process
// that is killed while that request waits may have no session that could end, is counted among those who joined, and holds its share of the
// partitions forever. A broker begins the session whether or not the answer arrives.
//
// What else kfake lacks is done around it: a guard on every connection hands on only requests that it can decode, and bounds what they hold
// (guard.go, layout.go); nothing is acknowledged that the folder cannot take (disk.go); and a folder is read through, or held against its
// inventory and what was acknowledged, before kfake may cut off what it does not understand (folder.go, segment.go, acknowledged.go).
// Repair saves what can be saved of a damaged one.
package embedded
