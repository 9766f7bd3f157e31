package event

import "context"

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
