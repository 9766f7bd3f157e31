package event

import (
	"cmp"
	"context"
	"slices"
)

// Verdict decides what the ingest loop does with an event that a writer could not write.
type Verdict uint8

const (
	// Retry: the store may take it later. The loop waits with backoff and submits the event, with the failure's Rest, again for as long as it
	// owns the partition. An unknown outcome is Retry, because every write is idempotent.
	Retry Verdict = iota + 1
	// Reject: the store will never take this event, but takes its neighbours. The loop writes a dead letter and goes on.
	Reject
	// Halt: nothing of this partition can be written until an operator acts (no such table, access denied). The loop makes no more commits,
	// reports the partition unhealthy and keeps retrying slowly.
	Halt
)

// Failure is the result for one event of a batch that was not written.
type Failure struct {
	Index   int // in Batch.Events
	Verdict Verdict
	Reason  Reason
	Rest    Rest  // what of the event is not durable; the zero value: everything that was submitted
	Err     error // for people: names the table, row, field, server and number of attempts
}

// Worst sorts failures by event and keeps one for each, with the Rest of all. Halt precedes Retry, because retrying cannot help. Retry
// precedes Reject, so that whatever accepts the event has it before it becomes a dead letter.
func Worst(failures []Failure) []Failure {
	slices.SortStableFunc(failures, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(b.Verdict.severity(), a.Verdict.severity()))
	})
	kept := failures[:0]
	for _, f := range failures {
		if n := len(kept); n > 0 && kept[n-1].Index == f.Index {
			kept[n-1].Rest = kept[n-1].Rest.and(f.Rest)
			continue
		}
		kept = append(kept, f)
	}
	clear(failures[len(kept):])
	return kept
}

func (v Verdict) severity() int {
	switch v {
	case Halt:
		return 3
	case Reject:
		return 1
	default:
		return 2
	}
}

// Rest says which of the writes that an event becomes are still to be made. A writer numbers them, rows or documents, from 0 in the order
// in which it makes them; since that is a pure function of the event, the numbers are the same each time. A write that is durable is not
// made again because another one of its event has failed: it could then come behind a later change with the same version, and replace it.
//
// The zero value is all writes. Those from 63 on count as one.
type Rest uint64

// RestOf returns the Rest of one write.
func RestOf(write int) Rest { return 1 << min(write, 63) }

// and returns what belongs to either of two.
func (r Rest) and(o Rest) Rest {
	if r == 0 || o == 0 {
		return 0
	}
	return r | o
}

// Has reports whether a write is still to be made.
func (r Rest) Has(write int) bool { return r == 0 || r&RestOf(write) != 0 }

// Flight is a submitted batch until it is settled, that is, until each of its events is durable or has failed.
type Flight interface {
	// Wait blocks until the batch is settled, or until it has stalled if until is Stalled, and returns what is known by then. If ctx ends
	// first, Wait returns an error with the reason; the flight goes on, and Wait may be called again. Only one goroutine at a time may call
	// Wait.
	Wait(ctx context.Context, until Until) (Outcome, error)
}

// Until is how far to wait for a flight.
type Until uint8

const (
	// Settled: every event is durable or has failed.
	Settled Until = iota
	// Stalled: settled, or held up only by failing parts of the store, such as single regions of HBase. Most of a batch is then durable soon,
	// while the rest may take long. When Wait returns pending events, the flight holds no memory for the others. A flight stalls at most once:
	// after that, Stalled means Settled.
	Stalled
)

// Outcome is what is known of a flight's events. Those not listed are durable. The flight owns the slices; callers may only read them.
type Outcome struct {
	Failures []Failure // one for each failed event, ascending
	Pending  []int     // events that have neither failed nor are durable, ascending; empty once the flight is settled
}

// Left returns the indexes of all events that are not durable, ascending.
func (o Outcome) Left() []int {
	left := slices.Clone(o.Pending)
	for _, f := range o.Failures {
		left = append(left, f.Index)
	}
	slices.Sort(left)
	return left
}

// Settle waits until a flight is settled and returns its failures.
func Settle(ctx context.Context, f Flight) ([]Failure, error) {
	outcome, err := f.Wait(ctx, Settled)
	return outcome.Failures, err
}

// Done is the flight of a batch that is already settled, with its failures in ascending order.
type Done []Failure

// Wait implements Flight. It returns at once.
func (d Done) Wait(context.Context, Until) (Outcome, error) { return Outcome{Failures: d}, nil }

// Part presents the flight of some events of a batch as a flight of the whole batch: the others have failed or are durable.
type Part struct {
	Flight Flight    // of the events at At
	At     []int     // their indexes in the batch, ascending
	Failed []Failure // failures among the others, ascending
}

// Wait implements Flight.
func (p Part) Wait(ctx context.Context, until Until) (Outcome, error) {
	part, err := p.Flight.Wait(ctx, until)
	if err != nil {
		return Outcome{}, err
	}
	whole := Outcome{Failures: slices.Clone(p.Failed)}
	for _, f := range part.Failures {
		f.Index = p.At[f.Index]
		whole.Failures = append(whole.Failures, f)
	}
	slices.SortFunc(whole.Failures, func(a, b Failure) int { return cmp.Compare(a.Index, b.Index) })
	for _, i := range part.Pending {
		whole.Pending = append(whole.Pending, p.At[i])
	}
	return whole, nil
}

// Writer is a store that batches are written to: the HBase sink, the search indexer, or one of a test.
type Writer interface {
	// Submit queues the batch's events in order and returns their flight. It blocks only while the writer's own limits are reached, and at
	// most until ctx ends. The writer keeps nothing of the batch after Submit has returned.
	//
	// Writing an event twice, late, or after an unknown outcome must leave the store as if it was written once.
	Submit(ctx context.Context, batch *Batch) Flight

	// Release sends everything that the writer has been holding back (for a bounded time, to write more at once), and returns at once. The
	// loop calls it when a partition has nothing more to submit, so that a stop or a rebalance need not wait, and after it has resubmitted a
	// batch. A writer that holds nothing back does nothing.
	Release()

	// Hurry makes everything that waits for its next attempt try now, and returns at once. The loop calls it once a second while pending
	// events must settle in a short time, because of a stop or a rebalance: the pauses may be longer than that. A writer that does not wait
	// between attempts does nothing.
	Hurry()
}
