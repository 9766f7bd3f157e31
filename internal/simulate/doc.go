// Package simulate runs whole brine processes against Kafka and HBase in one testing/synctest bubble, breaks things according to
// a plan drawn from a seed, and then checks that nothing was lost and nothing is wrong. Its tests and make simulate run it;
// nothing imports it.
//
// Everything in a World except for the network is real: kfake's brokers, the embedded HBase with Pebble on its in-memory file
// system, the ingest loop, the sink, and the HBase client. Minutes of the bubble's time take about a second, because time passes
// only while all goroutines wait.
//
//	Plan (plan.go)        what a seed draws: sizes, the input, its format, the faults and their times
//	encoders (formats.go) the input in its format, encoded independently of brine's decoders; the registry of its schemas
//	                      (registry.go) can be away, hang, refuse, forget and answer garbage
//	internal/memnet       connections in memory that can be cut, stopped, slowed, or lose an answer
//	World (world.go)      brokers, region servers, the Processes, and the course of a run
//	Process (process.go)  one life of one brine: a client and a loop with its sink, which another one follows when the process is
//	                      reloaded (reload.go, settings.go), people's requests to it (pause.go), and what it records of filters that change
//	                      (marks.go)
//	tap (tap.go)          the brokers' answers to members, which the ledger reads
//	Ledger (ledger.go)    what was applied, dead-lettered and committed, as the servers saw it
//	Findings              violations of the invariants, during a run (ledger.go) and at its end (check.go)
//
// A seed determines the plan, but not the interleaving of goroutines: a seed that failed is run many times.
//
// # Limits
//
// A frozen process is one whose connections hang; its timers continue. Only runs against real servers freeze whole processes.
// A bubble's time stops while a goroutine waits for a mutex whose holder waits for time to pass, so that such a run would never
// end: code in a bubble must not hold a mutex while it waits for an answer, as kafka-go's own consumer group does. kfake cannot have
// members of both protocols in one group: it refuses the first ones by the consumer protocol until the last of the others has
// left, and refuses the others from then on.
package simulate
