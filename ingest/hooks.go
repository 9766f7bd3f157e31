package ingest

import (
	"context"
	"reflect"
	"time"

	"brine/event"
)

// Hooks are called as records pass, from the workers' goroutines and so at the same time: they must be quick and safe for
// concurrent use. Any may be nil.
type Hooks struct {
	Fetched      func(partition, records, bytes int)                   // an answer of a broker, aborted records left out
	Decoded      func(partition, records int)                          // records that became events
	Submitted    func(partition, events int)                           // handed to the Writer for the first time
	Retried      func(partition, events int, reason event.Reason)      // submitted again after a retry verdict
	Settled      func(partition, records int)                          // durable in the store or in the dead letters
	Wrote        func(partition, records, passed int)                  // of those that are settled: in the store, and left out
	DeadLettered func(partition, records int, reason event.Reason)     // durable in the dead letters
	Waiting      func(partition int, reason event.Reason, err error)   // an attempt failed and will be retried: broker or dead letters
	Halted       func(partition int, reason event.Reason, err error)   // an attempt ended in a halt
	Position     func(partition int, watermark, end int64)             // on progress; end − watermark is the lag in offsets
	Committed    func(partition int, offset int64)                     // next to read
	CommitFailed func(err error)                                       //
	JoinFailed   func(err error)                                       // an attempt to join the group; retried
	Assigned     func(generation int, partitions []int)                // a rebalance: these are ours from now on
	Revoked      func(generation int, partitions []int, abandoned int) // flights that were given up at the end
	Redelivered  func(partition, records int)                          // this process has submitted them before
	Skipped      func(partition int, from, to int64)                   // offsets that were gone, passed by policy

	// Took reports how long a batch took in a step. Its context is that of the flight, as Flight has made it.
	Took func(ctx context.Context, partition int, step Step, d time.Duration)
	// Durable reports records that are durable in the store or in the dead letters, each once, with their timestamps; they are the
	// loop's again when it returns.
	Durable func(ctx context.Context, partition int, records []event.Record, times Times)
	// Flight reports records that are about to be decoded and submitted together. The context that it returns goes to the Writer, and
	// landed is called when they are settled, or given up. Neither may be nil.
	Flight func(ctx context.Context, partition int, records []event.Record) (_ context.Context, landed func(settled bool))
}

// fill puts a no-op where a hook is nil, so that callers need not ask.
func (h *Hooks) fill() {
	orNothing(&h.Fetched, func(int, int, int) {})
	orNothing(&h.Decoded, func(int, int) {})
	orNothing(&h.Submitted, func(int, int) {})
	orNothing(&h.Settled, func(int, int) {})
	orNothing(&h.Wrote, func(int, int, int) {})
	orNothing(&h.Redelivered, func(int, int) {})
	orNothing(&h.Retried, func(int, int, event.Reason) {})
	orNothing(&h.DeadLettered, func(int, int, event.Reason) {})
	orNothing(&h.Waiting, func(int, event.Reason, error) {})
	orNothing(&h.Halted, func(int, event.Reason, error) {})
	orNothing(&h.Position, func(int, int64, int64) {})
	orNothing(&h.Committed, func(int, int64) {})
	orNothing(&h.CommitFailed, func(error) {})
	orNothing(&h.JoinFailed, func(error) {})
	orNothing(&h.Assigned, func(int, []int) {})
	orNothing(&h.Revoked, func(int, []int, int) {})
	orNothing(&h.Skipped, func(int, int64, int64) {})
	orNothing(&h.Took, func(context.Context, int, Step, time.Duration) {})
	orNothing(&h.Durable, func(context.Context, int, []event.Record, Times) {})
	orNothing(&h.Flight, func(ctx context.Context, _ int, _ []event.Record) (context.Context, func(bool)) {
		return ctx, func(bool) {}
	})
}

// orNothing sets a hook that is nil.
func orNothing[F any](hook *F, nothing F) {
	if reflect.ValueOf(*hook).IsNil() {
		*hook = nothing
	}
}
