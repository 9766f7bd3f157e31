package ingest

import (
	"context"
	"time"

	"brine/event"
)

// Writer is a store that batches are written to: the HBase sink, the search indexer, or a test's.
type Writer interface {
	// Submit queues the batch's events in order and returns their flight. It blocks only while the writer's own bounds are
	// full, and then only until ctx ends. The writer keeps nothing of the batch after Submit has returned.
	//
	// Writing an event twice, late, or after an unknown outcome must leave the store as writing it once.
	Submit(ctx context.Context, batch *event.Batch) event.Flight
}

// Holder is a Writer that may hold events back, for a bounded time, to write more of them together.
type Holder interface {
	// Release lets everything go that is held back, and returns at once. The loop calls it when a partition has nothing more
	// to submit, so that a stop or a rebalance need not wait, and after a batch that is submitted again.
	Release()
}

// Hurrier is a Writer that waits between its attempts at what a part of the store fails to take.
type Hurrier interface {
	// Hurry has all that waits for its next attempt tried now, and returns at once. The loop calls it once a second while what is out must be settled
	// in a short time, because of a stop or a rebalance: the pauses may be longer than that.
	Hurry()
}

const hurryEvery = time.Second
