// Package pipeline takes batches of mutations from Submit to their results. It knows a client only as an Env of functions, so it can be
// tested without one.
//
// The invariants:
//   - every mutation passed to Submit gets exactly one result;
//   - among answered calls, two mutations of one row are applied in the order given: the lanes of a table cover every key
//     exactly once, and a lane is in at most one call (after an unknown outcome only timestamps order mutations, which is why
//     every cell carries one);
//   - bytes return to the bound with each mutation's result, and whatever waits for room holds none of it;
//   - a failing region delays only its own lane.
//
// This is the path of a mutation. Each step names the next one. In brine, package sink submits (sink/sink.go has its part of the path).
//
//  1. Mutator.Submit (submit.go) creates a Flight (flight.go), fails what can never be written (check), and continues with
//     admit.
//  2. admit (submit.go) waits for room in the byte bound (reserve) and continues with enqueue. If enqueue returns a full lane,
//     admit returns the bytes, waits for room in the lane (awaitRoom), and starts again.
//  3. enqueue (submit.go) puts each mutation in the lane of its region (lane.go), unless one of the lanes is full
//     (fullLane), in which case it keeps the flight's turn (claim). A lane that was empty lingers if its mutator allows it
//     (linger.go). enqueue continues with schedule; for a lingering lane, that happens later.
//  4. schedule (gather.go) puts a lane whose region is known in its server's queue. Other lanes go to locate (locate.go), which
//     calls Env.FindAround until the region is found, carves the lane accordingly (lane.go), and returns to schedule. schedule
//     continues with dispatch.
//  5. dispatch (gather.go) lets gather make calls from a server's queue while the server may have more calls: of many lanes, or
//     of one that must ride alone. It continues with send, in one goroutine per call.
//  6. send (send.go) encodes the call, passes it to Env.Send, reads the answer (multi.read, outcome.go), and continues with
//     judge, region by region.
//  7. judge (outcome.go) decides for each mutation of a region whether it is applied, failed for good, or sent again, by the
//     remedy in package remote for its error. Then send continues with finish (send.go), which frees the server for other calls
//     and continues with requeue.
//  8. requeue (requeue.go) puts the mutations to send again at the front of their lane, in order, and applyRemedy locates the
//     lane again, searches it for the mutation at fault, or pauses it. From there it is scheduled as in step 4. Back in send,
//     the server gets its next calls (dispatch), and send continues with report.
//  9. report (flight.go) calls the Applied hook, and settle passes the results to the flight. A flight is done when its last
//     mutation is settled, and its Wait returns: in brine, to part.wait of package sink.
//
// Off this path:
//
//	pending.go    a flight that waits only for failing regions releases its batch
//	watch.go      calls that a dead server keeps are given up once their regions are open elsewhere
//	pace.go       lanes that are far slower than their server's others ride alone
//
//	Submit → lane of the region → (located) → queue of the server → call → results
//	              ↑ back in order, after the remedy ──────────────────┘
//
// While a server's calls are unanswered, its lanes gather mutations; the next call takes all that has gathered (group commit). A lane that
// failed waits by itself and then rides alone, in a call that does not count against the others'. So does a lane whose calls take far
// longer. A call that takes far longer than others makes room for another.
package pipeline
