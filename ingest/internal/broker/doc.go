// Package broker speaks Kafka's protocol over kafka-go's Transport. It finds topics, is a member of a consumer group, fetches records,
// looks up and commits offsets, and produces. Its callers decide what a record means and when an offset may be committed.
//
//	cluster.go     Cluster: the connections to the brokers        errors.go   what their errors mean
//	topic.go       Topic: partitions and id of a topic
//	member.go      Member: join, Attend, Commit, Leave            heartbeat.go, joinwait.go
//	consumer.go    Consumer: the same by the consumer protocol     consumerwire.go its requests
//	coordinator.go calls to the group's coordinator               subscription.go what members send each other
//	fetcher.go     Fetcher: one fetch after another               fetch.go    the call
//	chunk.go       Chunk: the records of one fetch, pooled        recordbatch.go, buffer.go
//	log.go         Records: a range of a partition, without a group
//	offsets.go     ends of a log, and what groups have committed
//	produce.go     produce, create a topic, a topic's settings      admin.go    what commands ask: topics, groups
//	wire.go        integers and frames, for the answers that are read here
//
// Fetch answers and a few requests are encoded and decoded here because kafka-go gets them wrong or does not know them: each file explains
// why. See docs/adr/0007, 0015, 0030 and 0090.
package broker
