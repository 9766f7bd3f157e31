// Package pipeline takes batches of mutations from Submit to their results. It knows a client only as an Env of functions, so
// that it is tested without one.
//
// The invariants:
//   - every mutation given to Submit gets exactly one result;
//   - two mutations of one row are applied in the order given, among answered calls: the lanes of a table cover every key
//     exactly once, and a lane is in at most one call (after an unknown outcome only timestamps order mutations, which is why
//     every cell carries one);
//   - bytes return to the bound with each mutation's result, and what waits for room holds none of it;
//   - a region that fails delays only its own lane.
//
// The path of a mutation. Each step names the next one. In brine, package sink submits (sink/sink.go has its part of the path).
//
//  1. Mutator.Submit (submit.go) makes a Flight (flight.go), sorts out what can never be written (check), and goes on with
//     admit.
//  2. admit (submit.go) waits for room in the byte bound (reserve) and goes on with enqueue. If that returns a lane that is full,
//     admit gives the bytes back, waits for room there (awaitRoom), and begins again.
//  3. enqueue (submit.go) puts each mutation into the lane of its region (lane.go), unless one of them is full
//     (fullLane), where it keeps the flight's turn (claim). A lane that was empty lingers if its mutator lets it (linger.go).
//     It goes on with schedule, for a lane that lingers later.
//  4. schedule (gather.go) puts a lane whose region is known into its server's queue. One whose region is not goes to locate
//     (locate.go), which asks Env.FindAround until the region is found, carves the lane accordingly (lane.go), and comes
//     back to schedule. It goes on with dispatch.
//  5. dispatch (gather.go) has gather make calls out of a server's queue while the server may have more: of many lanes, or of
//     one that must ride alone. It goes on with send, in a goroutine for each call.
//  6. send (send.go) encodes the call, hands it to Env.Send, has the answer read (multi.read, outcome.go), and goes on with
//     judge, region by region.
//  7. judge (outcome.go) decides for each mutation of a region: applied, failed for good, or to be sent again, by the remedy
//     that package remote has for its error. Then send goes on with finish (send.go), which frees the server for other calls,
//     and goes on with requeue.
//  8. requeue (requeue.go) puts what is to be sent again at the front of its lane, in order, and applyRemedy has the lane
//     located again, searched for the mutation at fault, or paused. From there it is scheduled as
//     in step 4. Back in send, the server has its next calls (dispatch), and send goes on with report.
//  9. report (flight.go) calls the Applied hook, and settle passes the results to the flight. A flight whose last mutation is
//     settled is done, and its Wait returns: in brine, to part.wait of package sink.
//
// Beside the way:
//
//	pending.go    a flight that waits for nothing but failing regions lets its batch go
//	watch.go      calls that a dead server keeps are given up once their regions are open elsewhere
//	pace.go       lanes that are far slower than their server's others ride alone
//
//	Submit → lane of the region → (located) → queue of the server → call → results
//	              ↑ back in order, after the remedy ──────────────────┘
//
// While a server's calls are unanswered its lanes gather; the next call takes what has come together (group commit). A lane that
// failed waits by itself and then rides alone, in a call that does not count against the others'; so does one whose calls take
// far longer. A call that takes far longer than others makes room for another.
package pipeline
