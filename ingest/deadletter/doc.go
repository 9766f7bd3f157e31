// Package deadletter keeps records that can never be written, whole and with the reason, in a topic of their own; it reads them,
// and writes them again once what they failed for is fixed.
//
// A dead letter's identity is the place of its record (topic, partition, offset) and the group whose writer did not take it. Dead letters
// of one identity lie in one partition, in which the last one counts: the others are repeats, since a write whose answer was lost is made
// again. A mark behind a dead letter says that its record has been written since: see docs/adr/0017.
//
//	letter.go   Letter: a record that could not be written; Kept: a dead letter in its topic
//	topic.go    the topic: made when it is missing, written     record.go  how a letter and a mark look in Kafka
//	log.go      Log: reads a topic as it was when it was opened
//	scan.go     Scan: the letters that a Filter takes, of several topics     meter.go  how far it is
//	summary.go  how many there are of each kind              object.go   dead letters as JSON
//	fix.go      what helps against each reason               purge.go    Scan.PlanPurge: what is older, deleted
//	replay.go   Scan.Replay: writes them again, and marks those that are durable
package deadletter
