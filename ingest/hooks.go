package ingest

import (
	"context"
	"time"

	"brine/event"
)

// Hooks are called as records pass, from the workers' goroutines and therefore concurrently: they must be quick and safe for concurrent
// use. Any may be nil.
type Hooks struct {
	Fetched      func(FetchedInfo)      // a broker answered
	Decoded      func(DecodedInfo)      // records became events
	Submitted    func(SubmittedInfo)    // events were handed to the Writer for the first time
	Retried      func(RetriedInfo)      // events were submitted again after a retry verdict
	Settled      func(SettledInfo)      // records are durable in the store or in the dead letters, or left out
	Wrote        func(WroteInfo)        // a flight was settled, with what became of its records
	DeadLettered func(DeadLetteredInfo) // records became durable in the dead letters
	Waiting      func(WaitingInfo)      // a broker or the dead letters were not reached and are tried again, or Admit holds the partition
	Halted       func(HaltedInfo)       // an attempt ended in a halt of the partition
	Position     func(PositionInfo)     // the watermark moved
	Committed    func(CommittedInfo)    // an offset was committed
	CommitFailed func(CommitFailedInfo) // a commit of offsets failed
	JoinFailed   func(JoinFailedInfo)   // an attempt to join the group failed and will be repeated
	Assigned     func(AssignedInfo)     // a rebalance gave us partitions
	Revoked      func(RevokedInfo)      // what was assigned is over
	Redelivered  func(RedeliveredInfo)  // records arrived that this process has submitted before
	Skipped      func(SkippedInfo)      // the policy passed offsets that were gone
	Took         func(TookInfo)         // a batch took a step
	Awaited      func(AwaitedInfo)      // a partition's worker has waited for records
	Durable      func(DurableInfo)      // records became durable in the store or in the dead letters; each is reported once

	// Flight reports records that are about to be decoded and submitted together. The Writer gets the context that it returns; landed is
	// called when the records are settled or given up. It must return neither as nil.
	Flight func(context.Context, FlightInfo) (_ context.Context, landed func(settled bool))
}

// FetchedInfo describes one answer of a broker.
type FetchedInfo struct {
	Partition int
	Records   int // without those of aborted transactions
	Bytes     int // as sent
}

// DecodedInfo is the number of events that a flight's records became.
type DecodedInfo struct{ Partition, Events int }

// SubmittedInfo is one batch that the Writer received.
type SubmittedInfo struct{ Partition, Events int }

// RetriedInfo is the events of one flight that the Writer received again.
type RetriedInfo struct {
	Partition int
	Events    int
	Reason    event.Reason // of the first
}

// SettledInfo is the number of records settled.
type SettledInfo struct{ Partition, Records int }

// WroteInfo is what became of one flight's records. Those that are in neither count are dead letters.
type WroteInfo struct {
	Partition int
	Records   int // in the store
	LeftOut   int // because their events write nothing, or their keys were not asked for
	// Events counts the events that write nothing, by reason; nil if there are none. The loop reuses it after the hook returns.
	Events map[event.LeftOut]int
	// Filtered counts, by Condition.Of, events that are left out of one place because its condition fails. The loop reuses it as well.
	Filtered map[string]int
}

// DeadLetteredInfo is the number of records that became durable in the dead letters.
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

// HaltedInfo is one halt. The next attempt follows within Options.HaltPause.
type HaltedInfo struct {
	Partition int
	Reason    event.Reason
	Err       error
}

// PositionInfo is the position of a partition. End − Watermark is its lag in offsets.
type PositionInfo struct {
	Partition int
	Watermark int64 // the offset before which everything is settled
	End       int64 // of the log, as last seen
}

// CommittedInfo is one partition's committed offset.
type CommittedInfo struct {
	Partition int
	Offset    int64 // next to read
}

// CommitFailedInfo is one failed commit, of all partitions.
type CommitFailedInfo struct{ Err error }

// JoinFailedInfo is one failed attempt to join the group.
type JoinFailedInfo struct{ Err error }

// AssignedInfo is what a generation of the group assigns to this process.
type AssignedInfo struct {
	Generation int
	Partitions []int
}

// RevokedInfo is what a generation had assigned to this process.
type RevokedInfo struct {
	Generation int
	Partitions []int
	Abandoned  int // flights that were given up at the end
}

// RedeliveredInfo is the number of records of a flight that arrived again.
type RedeliveredInfo struct{ Partition, Records int }

// SkippedInfo is a range of offsets that were gone.
type SkippedInfo struct {
	Partition int
	From      int64
	To        int64 // where the partition goes on
}

// TookInfo is one step of a batch.
type TookInfo struct {
	Flight    context.Context // as returned by Hooks.Flight, if the step belongs to a flight
	Partition int             // 0 for StepCommit, which covers all partitions
	Step      Step
	Duration  time.Duration
	Stored    time.Duration // of StepSettle: how long the Writer had the flight
}

// AwaitedInfo is how long a partition's worker had nothing to do.
type AwaitedInfo struct {
	Partition int
	Duration  time.Duration
	Room      time.Duration // the part of it in which the budget had no room for records
}

// DurableInfo is records that became durable. The loop reuses them after the hook returns.
type DurableInfo struct {
	Flight    context.Context // as returned by Hooks.Flight
	Partition int
	Records   []event.Record
	Times     Times // of Records
}

// FlightInfo is the records of one flight. The loop reuses them after the hook returns.
type FlightInfo struct {
	Partition int
	Records   []event.Record
}

// ensureDefaults replaces nil hooks by no-ops.
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
