package ingest

import (
	"context"
	"time"

	"brine/event"
)

// Hooks are called as records pass, from the workers' goroutines and so at the same time: they must be quick and safe for
// concurrent use. Any may be nil.
type Hooks struct {
	Fetched      func(FetchedInfo)      // an answer of a broker
	Decoded      func(DecodedInfo)      // records became events
	Submitted    func(SubmittedInfo)    // events were handed to the Writer for the first time
	Retried      func(RetriedInfo)      // events were submitted again after a retry verdict
	Settled      func(SettledInfo)      // records are durable in the store or in the dead letters, or left out
	Wrote        func(WroteInfo)        // what became of a flight that is settled
	DeadLettered func(DeadLetteredInfo) // records are durable in the dead letters
	Waiting      func(WaitingInfo)      // an attempt at a broker or at the dead letters failed and will be made again
	Halted       func(HaltedInfo)       // an attempt ended in a halt of the partition
	Position     func(PositionInfo)     // the watermark moved
	Committed    func(CommittedInfo)    // an offset was committed
	CommitFailed func(CommitFailedInfo) // a commit of offsets failed
	JoinFailed   func(JoinFailedInfo)   // an attempt to join the group failed and will be made again
	Assigned     func(AssignedInfo)     // a rebalance: partitions are ours from now on
	Revoked      func(RevokedInfo)      // the end of what was assigned
	Redelivered  func(RedeliveredInfo)  // records came that this process has submitted before
	Skipped      func(SkippedInfo)      // offsets that were gone were passed by policy
	Took         func(TookInfo)         // a batch took a step
	Awaited      func(AwaitedInfo)      // a partition's worker had waited for records
	Durable      func(DurableInfo)      // records are durable in the store or in the dead letters, each once

	// Flight reports records that are about to be decoded and submitted together. The context that it returns goes to the Writer, and
	// landed is called when they are settled, or given up. Neither may be nil.
	Flight func(context.Context, FlightInfo) (_ context.Context, landed func(settled bool))
}

// FetchedInfo is one answer of a broker.
type FetchedInfo struct {
	Partition int
	Records   int // those of aborted transactions left out
	Bytes     int // as sent
}

// DecodedInfo is how many records of a flight became events.
type DecodedInfo struct{ Partition, Events int }

// SubmittedInfo is one batch that the Writer got.
type SubmittedInfo struct{ Partition, Events int }

// RetriedInfo is the events of one flight that the Writer got again.
type RetriedInfo struct {
	Partition int
	Events    int
	Reason    event.Reason // of the first
}

// SettledInfo is how many records are settled.
type SettledInfo struct{ Partition, Records int }

// WroteInfo is what became of one flight's records. Those that are neither are dead letters.
type WroteInfo struct {
	Partition int
	Records   int // in the store
	LeftOut   int // since their events write nothing, or their keys were not asked for
	// Events are those that write nothing, by reason; nil: there are none. It is the loop's again when the hook returns.
	Events map[event.LeftOut]int
	// Filtered are events that write something perhaps, but not in one place, since its condition fails, by Condition.Of; also one by one.
	Filtered map[string]int
}

// DeadLetteredInfo is how many records are durable in the dead letters.
type DeadLetteredInfo struct {
	Partition int
	Records   int
	Reason    event.Reason
}

// WaitingInfo is one failed attempt.
type WaitingInfo struct {
	Partition int
	Reason    event.Reason
	Err       error
}

// HaltedInfo is one halt. The next attempt is made after Options.HaltPause at most.
type HaltedInfo struct {
	Partition int
	Reason    event.Reason
	Err       error
}

// PositionInfo is how far a partition is. End − Watermark is its lag in offsets.
type PositionInfo struct {
	Partition int
	Watermark int64 // the offset before which all is settled
	End       int64 // of the log, as last seen
}

// CommittedInfo is one partition's committed offset.
type CommittedInfo struct {
	Partition int
	Offset    int64 // next to read
}

// CommitFailedInfo is one commit, of all partitions, that failed.
type CommitFailedInfo struct{ Err error }

// JoinFailedInfo is one attempt to join the group that failed.
type JoinFailedInfo struct{ Err error }

// AssignedInfo is what a generation of the group assigns to this process.
type AssignedInfo struct {
	Generation int
	Partitions []int
}

// RevokedInfo is what a generation had assigned.
type RevokedInfo struct {
	Generation int
	Partitions []int
	Abandoned  int // flights that were given up at the end
}

// RedeliveredInfo is how many records of a flight came again.
type RedeliveredInfo struct{ Partition, Records int }

// SkippedInfo is a range of offsets that were gone.
type SkippedInfo struct {
	Partition int
	From      int64
	To        int64 // where the partition goes on
}

// TookInfo is one step of a batch.
type TookInfo struct {
	Flight    context.Context // as Hooks.Flight has made it, where the step belongs to a flight
	Partition int             // 0 for StepCommit, which is for all of them
	Step      Step
	Duration  time.Duration
	Stored    time.Duration // of StepSettle: how much of it the Writer had the flight
}

// AwaitedInfo is how long a partition's worker had nothing to do.
type AwaitedInfo struct {
	Partition int
	Duration  time.Duration
	Room      time.Duration // of that: there was no room in the budget for records
}

// DurableInfo is records that are durable. They are the loop's again when the hook returns.
type DurableInfo struct {
	Flight    context.Context // as Hooks.Flight has made it
	Partition int
	Records   []event.Record
	Times     Times // of Records
}

// FlightInfo is the records of one flight. They are the loop's again when the hook returns.
type FlightInfo struct {
	Partition int
	Records   []event.Record
}

// ensureDefaults puts a no-op where a hook is nil.
func (h *Hooks) ensureDefaults() {
	orNothing(&h.Fetched)
	orNothing(&h.Decoded)
	orNothing(&h.Submitted)
	orNothing(&h.Retried)
	orNothing(&h.Settled)
	orNothing(&h.Wrote)
	orNothing(&h.DeadLettered)
	orNothing(&h.Waiting)
	orNothing(&h.Halted)
	orNothing(&h.Position)
	orNothing(&h.Committed)
	orNothing(&h.CommitFailed)
	orNothing(&h.JoinFailed)
	orNothing(&h.Assigned)
	orNothing(&h.Revoked)
	orNothing(&h.Redelivered)
	orNothing(&h.Skipped)
	orNothing(&h.Took)
	orNothing(&h.Awaited)
	orNothing(&h.Durable)
	if h.Flight == nil {
		h.Flight = func(ctx context.Context, _ FlightInfo) (context.Context, func(bool)) { return ctx, func(bool) {} }
	}
}

func orNothing[Info any](hook *func(Info)) {
	if *hook == nil {
		*hook = func(Info) {}
	}
}
