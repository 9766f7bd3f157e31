package event

import (
	"cmp"
	"context"
	"slices"
)

// Verdict says what the ingest loop does with an event that a writer could not write.
type Verdict uint8

const (
	// Retry: the store may take it later. The loop waits with back-off and submits the event again for as long as it owns
	// the partition. An unknown outcome is Retry, since every write is idempotent.
	Retry Verdict = iota + 1
	// Reject: the store will never take this event, but takes its neighbours. The loop dead-letters it and goes on.
	Reject
	// Halt: nothing of this partition can be written until an operator acts (no such table, access denied). The loop
	// commits nothing more, reports the partition unhealthy and keeps trying slowly.
	Halt
)

// Failure is what became of one event of a batch that was not written.
type Failure struct {
	Index   int // in Batch.Events
	Verdict Verdict
	Reason  Reason
	Err     error // for people: names the table, row, field, server and attempts
}

// Flight is a submitted batch until it is settled: until each of its events is durable or has failed.
type Flight interface {
	// Wait blocks until the batch is settled, or until Stalled is reached if that is asked for, and returns what is known by then. When ctx
	// ends first it returns an error that says why; the flight goes on and may be waited for again. Wait is called by one goroutine at a time.
	Wait(ctx context.Context, until Until) (Outcome, error)
}

// Until says how far a flight is waited for.
type Until uint8

const (
	// Settled: every event is durable or has failed.
	Settled Until = iota
	// Stalled: settled, or nothing holds the rest up but parts of the store that fail, as HBase's regions do by themselves. Most of a batch is
	// then durable soon, and the rest may take long. By the time that Wait returns pending events the flight holds no memory for the others.
	// A flight stalls once at most: after that Stalled means Settled.
	Stalled
)

// Outcome is what is known of a flight's events. Those that it does not list are durable. Its slices are the flight's: they may be read.
type Outcome struct {
	Failures []Failure // one for each event that has failed, ascending
	Pending  []int     // events that have neither failed nor are durable, ascending; none once the flight is settled
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

// Settle waits until a flight is settled and returns what has failed of it.
func Settle(ctx context.Context, f Flight) ([]Failure, error) {
	outcome, err := f.Wait(ctx, Settled)
	return outcome.Failures, err
}

// Done is the flight of a batch that is settled already, with what has failed of it, ascending.
type Done []Failure

// Wait implements Flight. It returns at once.
func (d Done) Wait(context.Context, Until) (Outcome, error) { return Outcome{Failures: d}, nil }

// Part is a flight of some events of a batch, as a flight of the batch: the others have failed, or are durable.
type Part struct {
	Flight Flight    // of the events at At
	At     []int     // their indexes in the batch, ascending
	Failed []Failure // the others that have failed, ascending
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

// Writer is a store that batches are written to: the HBase sink, the search indexer, or a test's.
type Writer interface {
	// Submit queues the batch's events in order and returns their flight. It blocks only while the writer's own bounds are
	// full, and then only until ctx ends. The writer keeps nothing of the batch after Submit has returned.
	//
	// Writing an event twice, late, or after an unknown outcome must leave the store as writing it once.
	Submit(ctx context.Context, batch *Batch) Flight

	// Release lets everything go that the writer holds back, for a bounded time, to write more of it together, and returns at once. The loop
	// calls it when a partition has nothing more to submit, so that a stop or a rebalance need not wait, and after a batch that is submitted
	// again. It does nothing in a writer that holds nothing back.
	Release()

	// Hurry has all that waits for its next attempt tried now, and returns at once. The loop calls it once a second while what is pending must
	// be settled in a short time, because of a stop or a rebalance: the pauses may be longer than that. It does nothing in a writer that does
	// not wait between attempts.
	Hurry()
}
