// Package offsets looks up where topics begin and end and where consumer groups are in them, and moves groups. Commands and tools ask Kafka
// through it; the loop makes its own commits. It does not know pipelines.
//
//	client.go   Client: the ends of a topic, what a group has committed, which groups there are
//	group.go    Group: a group in a topic, its Moves and how they are made
//	target.go   what "2h", "+500" or "0:1200,1:900" means for a group
//	topics.go   topics: their names, settings, how one is created
//	name.go     a part of a group's name, of any text
package offsets
