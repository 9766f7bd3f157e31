package sink

import (
	"brine/event"
	"brine/hbase"
)

// Hooks report what the sink does; any may be nil. They are called by the goroutines that call Submit or Wait, must be safe for
// concurrent use and must keep nothing that an Info lends: events, records, rows and buckets.
type Hooks struct {
	Submit    func(SubmitInfo)    // of each batch, again when it is submitted again
	Collision func(CollisionInfo) // two different events have one key of a RowEvent table
	Expired   func(ExpiredInfo)   // an event is older than its family's TTL: HBase hides it as it is written
	Tie       func(TieInfo)       // equal versions of one cell with different values: the last applied wins

	// Durable reports the rows of one flight in one table that are durable, or may be, before any of them is said to be settled; a row may
	// be reported again. Nil: they are not reported.
	Durable func(DurableInfo)

	// Spread reports the rows of one flight that are durable, by the salt bucket of their keys: of tables whose key begins with
	// a salt of at most MaxBuckets buckets, the same in all of their keys. Nil: they are not counted.
	Spread func(SpreadInfo)
}

// SubmitInfo is one batch.
type SubmitInfo struct{ Events []event.Event }

// CollisionInfo is the second of two events on one key.
type CollisionInfo struct {
	Table string
	Row   []byte
}

// ExpiredInfo is an event that a family hides.
type ExpiredInfo struct {
	Table, Family string
	Record        *event.Record
}

// TieInfo is two changes of one version, applied not long after each other, that disagree about one cell, or of whether a row
// that is deleted hard is there. Of a version of a cell the first tie is reported, and redeliveries are not.
type TieInfo struct {
	Table             string
	Row               []byte
	Family, Qualifier []byte // nil: whether the row is there; the delete wins
	Version           int64
	Record            *event.Record // of the change that was applied last
	Partition         int           // of the record that was applied before it
	Offset            int64
}

// DurableInfo is the rows of a flight in one table. They are the sink's again when the hook returns.
type DurableInfo struct {
	Table string
	Rows  *hbase.Batch
}

// SpreadInfo is what one flight wrote into one table.
type SpreadInfo struct {
	Table   string
	Buckets []Bucket // by number, all of the table's
}

// Bucket is what one flight wrote into one salt bucket.
type Bucket struct{ Rows, Bytes int64 }

// MaxBuckets is the most buckets of a table that are counted.
const MaxBuckets = 1024

// ensureDefaults puts a no-op where a hook is nil, but for Spread.
func (h *Hooks) ensureDefaults() {
	orNothing(&h.Submit)
	orNothing(&h.Collision)
	orNothing(&h.Expired)
	orNothing(&h.Tie)
}

func orNothing[Info any](hook *func(Info)) {
	if *hook == nil {
		*hook = func(Info) {}
	}
}
