// Package simulate runs whole brine processes against Kafka and HBase in one testing/synctest bubble, breaks things by a plan
// that a seed draws, and checks afterwards that nothing was lost and nothing is wrong. Its tests and make simulate run it;
// nothing imports it.
//
// Everything in a World but the network is real: kfake's brokers, the embedded HBase with Pebble on its in-memory file system,
// the ingest loop, the sink, and the HBase client. Minutes of the bubble's time take a second or so, since time passes only
// while all wait.
//
//	Plan (plan.go)        what a seed draws: sizes, the input, its format, the faults and their times
//	encoders (formats.go) the input in its format, written without the decoders that brine reads it with; the registry of its
//	                      schemas (registry.go) can be away, hang, refuse, forget and answer garbage
//	internal/memnet       connections in memory that can be cut, stopped, slowed, or lose an answer
//	World (world.go)      brokers, region servers, the Processes, and the course of a run
//	Process (process.go)  one life of one brine: a client and a loop with its sink, which another one follows when the process is
//	                      reloaded (reload.go, settings.go), and what people ask of it (pause.go)
//	tap (tap.go)          what brokers answer to members, which the ledger reads along
//	Ledger (ledger.go)    what was applied, buried and committed, as the servers saw it
//	Findings              what is held against the invariants while a run goes on (ledger.go) and at its end (check.go)
//
// A seed fixes the plan, not the interleaving of goroutines: a seed that failed is run many times.
//
// # Limits
//
// A frozen process is one whose connections hang; its timers go on. Freezes of whole processes are left to runs against
// real servers. A bubble's time stops while a goroutine waits for a mutex whose holder waits for time, so such a run would
// never end: whatever takes part must not hold a mutex while it waits for an answer, which kafka-go's own consumer group does.
// kfake has no group with members by both protocols: the first by the consumer protocol are refused until the last of the others has left,
// and these from then on.
package simulate
