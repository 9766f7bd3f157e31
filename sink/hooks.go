package sink

import (
	"brine/event"
	"brine/hbase"
)

// Hooks report what the sink does; any may be nil. The goroutines that call Submit or Wait call them, so they must be safe for concurrent
// use. They must not keep what an Info lends: events, records, rows and buckets.
type Hooks struct {
	Submit  func(SubmitInfo)  // each batch, again if it is submitted again
	Expired func(ExpiredInfo) // an event is older than its family's TTL: HBase hides it as soon as it is written

	// Collision reports two different events that have the same key in a RowEvent table, and Tie equal versions of one cell with different
	// values, of which the last applied wins. If both are nil, nothing is remembered to find them.
	Collision func(CollisionInfo)
	Tie       func(TieInfo)

	// Durable reports the rows of one flight in one table that are durable, or may be, before any of them is reported as settled. A row may be
	// reported more than once. If Durable is nil, they are not reported.
	Durable func(DurableInfo)

	// Spread reports the durable rows of one flight by the salt bucket of their keys, for tables whose keys all begin with the same salt of at
	// most MaxBuckets buckets. If Spread is nil, they are not counted.
	Spread func(SpreadInfo)
}

// SubmitInfo is one batch.
type SubmitInfo struct{ Events []event.Event }

// CollisionInfo is the second of two events that have one key.
type CollisionInfo struct {
	Table string
	Row   []byte
}

// ExpiredInfo is an event that a family hides.
type ExpiredInfo struct {
	Table, Family string
	Record        *event.Record
}

// TieInfo is two changes of the same version, applied shortly after each other, that disagree about one cell, or about whether a
// hard-deleted row exists. Only the first tie of a version of a cell is reported; redeliveries are not.
type TieInfo struct {
	Table             string
	Row               []byte
	Family, Qualifier []byte // nil: the tie is about whether the row exists; the delete wins
	Version           int64
	Record            *event.Record // of the change that was applied last
	Partition         int           // of the record that was applied before it
	Offset            int64
}

// DurableInfo is the rows of a flight in one table. The sink takes Rows back when the hook returns.
type DurableInfo struct {
	Table string
	Rows  *hbase.Batch
}

// SpreadInfo is what one flight wrote into one table.
type SpreadInfo struct {
	Table   string
	Buckets []Bucket // by number; all buckets of the table
}

// Bucket is what one flight wrote into one salt bucket.
type Bucket struct{ Rows, Bytes int64 }

// MaxBuckets is the largest number of buckets that are counted per table.
const MaxBuckets = 1024

// ensureDefaults sets every nil hook to a no-op, except Durable, Spread, and Collision and Tie if both are nil.
func (h *Hooks) ensureDefaults() {
	orNothing(&h.Submit)
	orNothing(&h.Expired)
	if h.remembers() {
		orNothing(&h.Collision)
		orNothing(&h.Tie)
	}
}

// remembers reports whether anybody wants to know what only a memory of earlier writes finds.
func (h *Hooks) remembers() bool { return h.Collision != nil || h.Tie != nil }

func orNothing[Info any](hook *func(Info)) {
	if *hook == nil {
		*hook = func(Info) {}
	}
}
