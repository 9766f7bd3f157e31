// Package embedded is a Kafka in this process, on a loopback port: franz-go's kfake, with groups that remove dead members as a real
// broker's do. Package ingest does not know it.
//
// The invariant: whatever happens to the processes that join a group, a moment later its partitions belong to members that are alive. kfake
// alone does not guarantee that. It starts a member's session only once the answer to the join request could be sent. So a process that is
// killed while its request waits may have no session that could expire: it counts as joined and holds its share of the partitions forever.
// A real broker starts the session whether or not the answer arrives.
//
// The package also makes up for what else kfake lacks. A guard on every connection passes on only requests that kfake can decode, and
// bounds their memory (guard.go, layout.go). Nothing is acknowledged that the folder cannot take (disk.go). A folder is read through, or
// compared with its inventory and with what was acknowledged, before kfake can cut off what it does not understand (folder.go, segment.go,
// acknowledged.go). Repair saves what can be saved of a damaged folder.
package embedded
