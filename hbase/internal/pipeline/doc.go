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
// The way of a mutation. Each step names the next one.
//
//  1. Mutator.Submit (submit.go) makes a Flight (flight.go), sorts out what can never be written (check), and goes on with
//     admit.
//  2. admit (submit.go) waits for room in the byte bound (reserve) and in each lane (fullLane, claim), and goes on with
//     enqueue.
//  3. enqueue (submit.go) puts each mutation into the lane of its region (lane.go, lanes.go). A lane that was empty lingers
//     if its mutator lets it (linger.go); else it goes to schedule.
//  4. schedule (gather.go) puts a lane whose region is known into its server's queue. One whose region is not goes to locate
//     (locate.go), which asks Env.FindAround until the region is found, carves the lane accordingly (lanes.go), and comes
//     back to schedule.
//  5. dispatch (gather.go) has gather make calls out of a server's queue while the server may have more: of many lanes, or of
//     one that must ride alone. Each call goes to send in a goroutine of its own.
//  6. send (send.go) encodes the call, hands it to Env.Send, and has the answer read (outcome.go).
//  7. judge (outcome.go) decides for each mutation of a region: applied, failed for good, or to be sent again, by the remedy
//     that package remote has for its error. Then finish (send.go) frees the server for other calls.
//  8. requeue (requeue.go) puts what is to be sent again at the front of its lane, in order, and applyRemedy has the lane
//     located again, searched for the mutation at fault (isolation.go), or paused (pause.go). From there it is scheduled as
//     in step 4.
//  9. report (settle.go) calls the Applied hook, and settle passes the results to the flight. A flight whose last mutation is
//     settled is done.
//
// Beside the way:
//
//	pending.go    a flight that waits for nothing but failing regions lets its batch go
//	pause.go      what ends a pause early: the region is open again, or somebody has little time left
//	watch.go      calls that a dead server keeps are given up once their regions are open elsewhere
//	pace.go       lanes that are far slower than their server's others ride alone
//	isolation.go  the search for the mutation that makes its calls fail
//
//	Submit → lane of the region → (located) → queue of the server → call → results
//	              ↑ back in order, after the remedy ──────────────────┘
//
// While a server's calls are unanswered its lanes gather; the next call takes what has come together (group commit). A lane that
// failed waits by itself and then rides alone, in a call that does not count against the others'; so does one whose calls take
// far longer. A call that takes far longer than others makes room for another.
package pipeline
