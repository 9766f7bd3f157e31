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

// MutatorOptions say when mutations are sent and how often they are retried. The names in brackets are HBase's own settings.
type MutatorOptions struct {
	Autoflush   bool          // send a mutation as soon as its lane is free; otherwise it may wait for WriteBuffer or Linger
	WriteBuffer int           // [hbase.client.write.buffer] limit on bytes of cells held back; 2 MiB
	Linger      time.Duration // [hbase.client.write.buffer.periodicflush.timeout.ms] longest time that a mutation is held back; 5 ms
	Retries     int           // [hbase.client.retries.number] default: the client's
	Pause       time.Duration // [hbase.client.pause] default: the client's
	Durability  Durability    // [Durability of a Mutation] default: the table's
}

// EnsureDefaults sets zero fields to their defaults, some of which are the client's options. Client.Mutator calls it.
func (o *MutatorOptions) EnsureDefaults(client *Options) {
	o.WriteBuffer = cmp.Or(o.WriteBuffer, min(2<<20, client.MaxBufferedBytes))
	o.Linger = cmp.Or(o.Linger, 5*time.Millisecond)
	o.Retries = cmp.Or(o.Retries, client.Retries)
	o.Pause = cmp.Or(o.Pause, client.Pause)
}

// Validate reports all faults together, including conflicts with the client's options. Call EnsureDefaults first.
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

// Mutator is a handle for writing. Its options say when mutations are sent and how they are retried. All mutators of a client share its
// lanes, calls and byte bound. Two mutations of one row are applied in the order of their Submits, even if they come through different
// mutators. A Mutator is safe for concurrent use. It needs no closing: call Flush and drop it.
//
// Without Autoflush, an empty lane is held back when a mutation joins it, until the mutator flushes. Whatever must be sent earlier takes
// along what waits before it: another mutator's mutation, a retry, a change of the region. So a mutation may be sent before its mutator's
// flush, but never after.
type Mutator struct{ m *pipeline.Mutator }

// Mutator returns a new Mutator with its own options.
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

// Submit queues the mutations of a batch in order in the lanes of their regions and returns their flight. It blocks only while the client's
// byte bound (Options.MaxBufferedBytes) is used up, and then sends what is held back. A batch larger than the bound is sent when nothing
// else is buffered. Bytes return to the bound with each mutation's result, although the batch's buffer lives as long as its flight. If ctx
// ends while Submit blocks, every mutation fails as Transient, unsent.
func (m *Mutator) Submit(ctx context.Context, b *Batch) *Flight { return m.m.Submit(ctx, b) }

// Flush sends what is held back and waits until every mutation submitted before has its result, which its flight reports. If ctx ends
// first, Flush returns its error, and the mutations continue.
func (m *Mutator) Flush(ctx context.Context) error { return m.m.Flush(ctx) }

// Release sends what is held back and returns. It is for callers that submit nothing more for now.
func (m *Mutator) Release() { m.m.Release() }

// Hurry retries at once the mutations that are waiting out a pause because their region or server failed. It is for callers with little
// time left. The retry counts like any other, and Hurry affects everything that this client writes.
func (m *Mutator) Hurry() { m.m.Hurry() }

// Submit is Mutator.Submit with Autoflush and the client's retries and pause.
func (c *Client) Submit(ctx context.Context, b *Batch) *Flight { return c.auto.Submit(ctx, b) }

// Batch is an ordered list of mutations of one table, built in one buffer without an allocation per mutation:
//
//	b := hbase.NewBatch("logistics:scans")
//	b.Mutate(row)                                  // begins a mutation: an atomic change of one row
//	b.Put(family, qualifier, timestamp, value)     // adds a cell to it
//
// The puts and deletes of a mutation are applied atomically. Only one goroutine may use a Batch. After Submit, it belongs to the client
// until its flight is done; then it may be Reset and used again.
type Batch = pipeline.Batch

// NewBatch returns an empty batch for a table ("namespace:name", or "name" in the default namespace).
func NewBatch(table string) *Batch { return pipeline.NewBatch(table) }

// Flight is a submitted batch until each of its mutations has its result: see Wait and WaitPending.
type Flight = pipeline.Flight

// MutationError is the failure of a mutation that is not known to be durable.
type MutationError = pipeline.MutationError

// Durability is what a region server does with its write-ahead log before it acknowledges a mutation. With all but the Unsafe ones,
// acknowledged mutations survive the death of a server.
type Durability = pipeline.Durability

// The kinds of durability.
const (
	// TableDurability uses the table's setting; if it has none, the log has reached the file systems of other machines (SYNC_WAL).
	TableDurability = pipeline.TableDurability
	// FsyncWAL means that the log has reached their disks (FSYNC_WAL).
	FsyncWAL = pipeline.FsyncWAL
	// UnsafeAsyncWAL means that the log is written later: a server that dies loses its last second of acknowledged writes (ASYNC_WAL).
	UnsafeAsyncWAL = pipeline.UnsafeAsyncWAL
	// UnsafeSkipWAL means that there is no log: a server that dies loses everything not yet flushed, up to hours of writes (SKIP_WAL).
	UnsafeSkipWAL = pipeline.UnsafeSkipWAL
)

// ParseDurability parses table, fsync_wal, unsafe_async_wal or unsafe_skip_wal.
func ParseDurability(s string) (Durability, error) { return pipeline.ParseDurability(s) }
