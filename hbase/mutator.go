package hbase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"brine/hbase/internal/pipeline"
	"brine/hbase/internal/remote"
)

// MutatorOptions say when mutations leave and how often they are sent again. The names in brackets are HBase's own settings.
type MutatorOptions struct {
	Autoflush   bool          // a mutation leaves as soon as its lane is free; else it may wait for WriteBuffer or Linger
	WriteBuffer int           // [hbase.client.write.buffer] bytes of cells that are held back at most; 2 MiB
	Linger      time.Duration // [hbase.client.write.buffer.periodicflush.timeout.ms] longest time that a mutation is held back; 5 ms
	Retries     int           // [hbase.client.retries.number] the client's
	Pause       time.Duration // [hbase.client.pause] the client's
	Durability  Durability    // [Durability of a Mutation] the table's
}

// EnsureDefaults sets what is zero to its default, which for some is the client's option. Client.Mutator calls it.
func (o *MutatorOptions) EnsureDefaults(client *Options) {
	o.WriteBuffer = cmp.Or(o.WriteBuffer, min(2<<20, client.MaxBufferedBytes))
	o.Linger = cmp.Or(o.Linger, 5*time.Millisecond)
	o.Retries = cmp.Or(o.Retries, client.Retries)
	o.Pause = cmp.Or(o.Pause, client.Pause)
}

// Validate reports every fault at once, also of what cannot work beside the client's options. It expects EnsureDefaults to have run.
func (o *MutatorOptions) Validate(client *Options) error {
	var errs []error
	if o.Retries < 1 || o.Retries > pipeline.MaxRetries {
		errs = append(errs, fmt.Errorf("hbase: MutatorOptions.Retries is %d, must be from 1 to %d", o.Retries, pipeline.MaxRetries))
	}
	if o.Pause < time.Millisecond {
		errs = append(errs, fmt.Errorf("hbase: MutatorOptions.Pause is %v, must be at least %v", o.Pause, time.Millisecond))
	}
	if o.WriteBuffer < 1 || o.WriteBuffer > client.MaxBufferedBytes {
		errs = append(errs, fmt.Errorf("hbase: MutatorOptions.WriteBuffer is %d, must be from 1 to the client's MaxBufferedBytes, which is %d",
			o.WriteBuffer, client.MaxBufferedBytes))
	}
	if o.Linger < 0 {
		errs = append(errs, fmt.Errorf("hbase: MutatorOptions.Linger is %v, must be positive", o.Linger))
	}
	if o.Durability > UnsafeSkipWAL {
		errs = append(errs, fmt.Errorf("hbase: MutatorOptions.Durability is %d, must be at most %d", o.Durability, UnsafeSkipWAL))
	}
	return errors.Join(errs...)
}

// Mutator is a handle to write with: what is submitted through it leaves, and is sent again, as its options say. All mutators
// of a client share its lanes, calls and byte bound, and two mutations of one row are applied in the order of their Submits,
// whichever mutators they came through. A Mutator is safe for concurrent use. There is nothing to close: Flush, and drop it.
//
// Without autoflush a lane that was empty is held back when a mutation joins it, until the mutator flushes. What must leave
// earlier takes along what waits before it: another mutator's mutation, a retry, a change of the region. So a mutation may
// leave sooner than its mutator's flush, never later.
type Mutator struct{ m *pipeline.Mutator }

// Mutator makes a handle with options of its own.
func (c *Client) Mutator(o MutatorOptions) (*Mutator, error) {
	o.EnsureDefaults(&c.opts)
	if err := o.Validate(&c.opts); err != nil {
		return nil, err
	}
	return c.newMutator(o), nil
}

func (c *Client) newMutator(o MutatorOptions) *Mutator {
	return &Mutator{c.writer.Mutator(pipeline.MutatorOptions{
		Autoflush: o.Autoflush, WriteBuffer: o.WriteBuffer, Linger: o.Linger, Durability: o.Durability, Retries: o.Retries,
		Pauses:  remote.Pauses{Pause: o.Pause, Overloaded: c.opts.PauseServerOverloaded, Patience: c.opts.Patience},
		Timeout: cmp.Or(c.opts.Patience, c.opts.OperationTimeout),
	})}
}

// Submit queues the batch's mutations in order into the lanes of their regions and returns their flight. It blocks only
// while the client's byte bound (Options.MaxBufferedBytes) is spent, and then sends what is held back; a batch larger
// than the bound goes when nothing else is buffered. Bytes return to the bound with each mutation's result, though the batch's
// buffer lives as long as its flight. If ctx ends while it blocks, every mutation fails as Transient, unsent.
func (m *Mutator) Submit(ctx context.Context, b *Batch) *Flight { return m.m.Submit(ctx, b) }

// Flush sends what is held back and waits until every mutation that was submitted before has its result, which its flight
// reports. It returns ctx's error if ctx ends first; the mutations go on.
func (m *Mutator) Flush(ctx context.Context) error { return m.m.Flush(ctx) }

// Release sends what is held back, and returns: for a caller who submits nothing more for now.
func (m *Mutator) Release() { m.m.Release() }

// Hurry retries now what waits out a pause because its region or server failed: for a caller with little time left. It
// counts as any other try, and covers all that this client writes.
func (m *Mutator) Hurry() { m.m.Hurry() }

// Submit is Mutator.Submit with autoflush, and with the client's retries and pause.
func (c *Client) Submit(ctx context.Context, b *Batch) *Flight { return c.auto.Submit(ctx, b) }

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
