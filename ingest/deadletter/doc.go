// Package deadletter keeps records that can never be written in a topic of their own, whole and with the reason. It reads them, and writes
// them again once their cause is fixed.
//
// A dead letter is identified by the place of its record (topic, partition, offset) and the group whose writer rejected it. Dead letters
// with the same identity are in one partition, and the last one counts. The others are repeats: a write whose answer was lost is repeated.
// A mark after a dead letter records that its record has been written since: see docs/adr/0017.
//
//	letter.go   Letter: a record that could not be written; Kept: a dead letter in its topic
//	topic.go    the topic: made when it is missing, written     record.go  how a letter and a mark look in Kafka
//	log.go      Log: reads a topic as it was when it was opened
//	scan.go     Scan: the letters that a Filter takes, of several topics     meter.go  how far it is
//	summary.go  how many there are of each kind              object.go   dead letters as JSON
//	fix.go      what helps against each reason               purge.go    Scan.PlanPurge: what is older, deleted
//	replay.go   Scan.Replay: writes them again, and marks those that are durable
package deadletter
