package hbase

import "brine/hbase/internal/pipeline"

// Batch is an ordered list of mutations of one table, built in one buffer without an allocation per mutation:
//
//	b := hbase.NewBatch("logistics:scans")
//	b.Mutate(row)                                  // begins a mutation: an atomic change of one row
//	b.Put(family, qualifier, timestamp, value)     // adds a cell to it
//
// The puts and deletes of a mutation are applied as one. A Batch is used by one goroutine; after Submit it belongs to the client
// until its flight is done, and may then be Reset and used again.
type Batch = pipeline.Batch

// NewBatch makes an empty batch for a table ("namespace:name", or "name" in the default namespace).
func NewBatch(table string) *Batch { return pipeline.NewBatch(table) }

// Flight is a submitted batch until each of its mutations has its result: see its methods Wait and WaitPending.
type Flight = pipeline.Flight

// MutationError is what became of one mutation that is not known to be durable.
type MutationError = pipeline.MutationError

// Durability is what a region server does with its write-ahead log before it acknowledges a mutation. All but the Unsafe ones
// keep what is acknowledged when a server dies.
type Durability = pipeline.Durability

// The kinds of durability.
const (
	// TableDurability is as the table says; if it does not, the log has reached other machines' file systems (SYNC_WAL).
	TableDurability = pipeline.TableDurability
	// FsyncWAL: the log has reached their disks (FSYNC_WAL).
	FsyncWAL = pipeline.FsyncWAL
	// UnsafeAsyncWAL: the log is written later, and a server that dies loses its last second of acknowledged writes (ASYNC_WAL).
	UnsafeAsyncWAL = pipeline.UnsafeAsyncWAL
	// UnsafeSkipWAL: there is no log, and a server that dies loses all that it has not flushed, up to hours of it (SKIP_WAL).
	UnsafeSkipWAL = pipeline.UnsafeSkipWAL
)

// ParseDurability reads table, fsync_wal, unsafe_async_wal or unsafe_skip_wal.
func ParseDurability(s string) (Durability, error) { return pipeline.ParseDurability(s) }
