package ingest

import "brine/ingest/budget"

// Memory is a number of bytes that several loops share, each through a Budget of its own. A quarter is for fetches in progress, the rest
// for records from decoding to settle. The two are separate so that a fetched chunk waiting for room never waits for other fetched chunks,
// only for the writer, which makes progress by itself.
//
// Each loop that runs is guaranteed an equal share of the room for fetches, and of half of the room for records. The other half moves: a
// loop takes of it what the others do not use, and returns it as records settle. Room for fetches does not move, because a partition
// without new records holds it all the time, waiting for some.
type Memory struct{ fetches, holds *budget.Pool }

// NewMemory returns that many bytes, for loops to share.
func NewMemory(bytes int64) *Memory {
	fetches, holds := bytes/4, bytes-bytes/4
	return &Memory{budget.NewPool(fetches, 0), budget.NewPool(holds, holds/2)}
}

// Budget bounds the bytes of records in memory over all partitions of the Runs that share it.
type Budget struct {
	size           int64
	fetches, holds *budget.Part
}

// Budget returns a budget for a loop, whose equal share is roughly that many bytes. It counts among the loops while a Run has it.
func (m *Memory) Budget(share int64) *Budget {
	return &Budget{share, m.fetches.Part(), m.holds.Part()}
}

// NewBudget returns a budget of that many bytes, which it shares with no other.
func NewBudget(bytes int64) *Budget {
	b := NewMemory(bytes).Budget(bytes)
	b.join() // for good
	return b
}

// join makes the budget count among those of the loops that run, until leave.
func (b *Budget) join() (leave func()) {
	fetches, holds := b.fetches.Join(), b.holds.Join()
	return func() { fetches(); holds() }
}

// GiveWay says whether the loop leaves the others their equal shares of the room that moves, however long it keeps what it holds.
func (b *Budget) GiveWay(yields bool) { b.holds.GiveWay(yields) }

// Size returns the number of bytes that the budget was made with.
func (b *Budget) Size() int64 { return b.size }

// InUse returns the number of bytes charged now.
func (b *Budget) InUse() int64 { return b.Usage().Used }

// Usage returns what the budget holds, is guaranteed and could hold now.
func (b *Budget) Usage() budget.Usage {
	f, h := b.fetches.Usage(), b.holds.Usage()
	return budget.Usage{Used: f.Used + h.Used, Guaranteed: f.Guaranteed + h.Guaranteed, Limit: f.Limit + h.Limit}
}
