// Package sink is the Writer for HBase: it turns events into mutations and batches of them into flights.
//
// The invariant: a mutation is a pure function of its event, and every cell's timestamp is the event's version. So applying a mutation
// again, late, or after an unknown outcome changes nothing.
//
// An event becomes all of its rows or none: draft.check makes its keys and checks the sizes of its cells before the first mutation is
// queued. An event becomes one row per entry of Options.Rows, or one per token if the entry has Each. An event that is a delete, or that
// has left rows behind, removes some (see Deletes). A null field has no cell (see NullPolicy), and a packed cell holds only non-null
// fields. A row that would have no cell gets a single empty one, without a qualifier, in the family of its first column, so that every row
// is visible and rows can be counted.
//
// The path of a batch, as the functions to read in order, with their files:
//
//	Sink.Submit    sink.go    called by takeOff of package ingest; package lookup may be between
//	draft.add      draft.go   an event's mutations, in the batch of each table; check.go rejects an event whole
//	Client.Submit  sink.go    hbase.Mutator.Submit: step 1 of hbase/internal/pipeline/doc.go
//	part.wait      flight.go  flight.Wait waits here until the client's flight is done; pending.go handles one that stalls
//	Sink.judge     judge.go   a verdict on each mutation that failed
//	flight.settle  flight.go  the worst verdict of each event goes back to await and land of package ingest
package sink

import (
	"context"
	"sync"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/internal/refusal"
	"brine/rowkey"
)

// RowKind is what a row of a table stands for.
type RowKind string

// The kinds of row.
const (
	RowEvent  RowKind = "event"  // each event has its own row: two different events on one key are a collision
	RowEntity RowKind = "entity" // the changes of one entity merge into one row, cell by cell, by version
)

// Table is a table that events are written to.
type Table struct {
	Name string
	Row  RowKind
	Keys rowkey.Keys              // an event uses the key of its version
	TTL  map[string]time.Duration // by family; absent means forever
}

// Column maps a field of the event, or several fields packed into one cell, to a column, or each member of a field to its own column.
type Column struct {
	Family, Qualifier string
	Field             string
	Pack              *event.Pack // instead of Field
	Members           *Members    // Qualifier is then the prefix of the columns' names
}

// Members selects the members of an object that become columns of their own: a text as it is, anything else as its JSON. The object is the
// column's Field, of type Nested; without a Field it is the record itself, except the members that its schema takes from the first level.
type Members struct {
	Except []string // names of members that become no column
	Limit  int      // the number of columns per event; an event with more is rejected
}

// Rows describes the rows that an event becomes in one table.
type Rows struct {
	Table   Table
	Columns []Column
	Nulls   NullPolicy        // empty: NullsMerge
	As      map[string]string // fields of the table's key that have another name in the schema: the key's name → the schema's
	Each    *Each             // one row per token of the event, instead of one row
	Empty   string            // the family of the empty cell; only without Columns
	TTL     TTL
	Deletes Deletes

	When      string    // a condition of the schema's Derive: see event.Event.Holds; empty: every event becomes a row
	Otherwise Otherwise // empty: Skip
}

// Otherwise is what an event does to its row if the condition of the entry does not hold.
type Otherwise string

// The values of Otherwise.
const (
	Skip   Otherwise = "skip"   // nothing: what an earlier event wrote stays
	Delete Otherwise = "delete" // the row is deleted as Deletes says; only in a table of RowEntity
)

// Deletes describes what happens to the row of an event that is a delete. In a table of RowEntity it also applies to a row that a change
// has left behind: a row that the event's former values make and its current values do not.
//
// To mark a row, the sink sets the column that Field fills to true at the event's version. If the schema has images, an event that is not a
// delete sets it to false, so that a change can return to a row it left. A hard delete removes the cells of the entry's families up to the
// event's version. HBase drops its delete markers eventually, and older puts must not arrive after that.
type Deletes struct {
	Field string // a Bool that is true in a delete; empty: no event is a delete
	Hard  bool
}

// Each names a field of the key that is a token of the event.
type Each struct {
	Name   string
	Tokens event.Tokens
}

// TTL limits how long cells are kept, in addition to the TTL of their families. The zero value adds no limit.
type TTL struct {
	For   time.Duration // from the event's version on
	Until string        // a time field that holds the end; an event in which it is null has no TTL of its own
}

// NullPolicy is what a null or absent field does to its column, unless it is event.Unsent: then it does nothing.
type NullPolicy string

// The null policies.
const (
	NullsMerge NullPolicy = "merge" // nothing: an older value stays
	// NullsStore writes event.NullCell at the event's version, so that a null is ordered as any value is and is never purged before older
	// values. An event that deletes the row writes none: of a deleted row nothing more may be known than its key.
	NullsStore NullPolicy = "store"

	// These two write delete markers, in one atomic mutation with the event's cells.

	NullsReplace NullPolicy = "replace" // all older cells in the families of the columns are deleted, whatever their column
	// NullsDelete deletes the column's older values, and those of this version, unless the event marks the row as deleted.
	NullsDelete NullPolicy = "delete"
)

// Deletes reports whether the policy writes delete markers.
func (n NullPolicy) Deletes() bool { return n == NullsReplace || n == NullsDelete }

// Client is the part of an HBase client that the sink needs. HBase returns one for brine's client.
type Client interface {
	// Submit queues the mutations in order. The client owns the batch until the flight is done.
	Submit(ctx context.Context, b *hbase.Batch) Flight
	// Release sends the mutations that the client holds back to fill batches. It does not wait for them.
	Release()
	// Hurry sends the mutations that wait for a pause after a failure. It does not wait for them.
	Hurry()
}

// Flight is a submitted batch of mutations; see *hbase.Flight.
type Flight interface {
	// Wait blocks until every mutation is durable or has failed, and returns the failed ones in ascending order.
	Wait(ctx context.Context) ([]hbase.MutationError, error)
	// WaitPending also blocks until then, and returns nil. It returns earlier if only failing regions hold up the rest: with a batch of all
	// mutations that are not known to be durable, and their indexes in the submitted batch, which then belongs to the caller again.
	WaitPending(ctx context.Context) (pending *hbase.Batch, indexes []int32, err error)
}

// HBase makes a Client of an hbase.Mutator.
func HBase(m *hbase.Mutator) Client { return client{m} }

type client struct{ *hbase.Mutator }

func (c client) Submit(ctx context.Context, b *hbase.Batch) Flight { return c.Mutator.Submit(ctx, b) }

// Sink writes events to HBase. It is safe for concurrent use, and starts no goroutine.
type Sink struct {
	client   Client
	opts     Options
	targets  []*target
	refusals refusal.Bound
	drafts   sync.Pool // of *draft
}

// New returns a sink. Its errors name the table and column that are wrong, and the fix.
func New(client Client, opts Options) (*Sink, error) {
	opts.EnsureDefaults()
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	s := &Sink{client: client, opts: opts}
	if err := s.addTargets(); err != nil {
		return nil, err
	}
	return s, nil
}

// Submit queues the rows of the batch's events and returns their flight. It does not retain the batch.
func (s *Sink) Submit(ctx context.Context, batch *event.Batch) event.Flight {
	s.opts.Hooks.Submit(SubmitInfo{batch.Events})
	d := s.draft()
	now := s.opts.Now()
	for i := range batch.Events {
		d.add(i, &batch.Events[i], now)
	}
	f := &flight{sink: s, draft: d, parts: d.parts, failures: d.rejected}
	for i := range d.parts {
		if p := &d.parts[i]; p.batch.Len() > 0 {
			p.flight = s.client.Submit(ctx, p.batch)
		}
	}
	return f
}

// Release implements event.Writer.
func (s *Sink) Release() { s.client.Release() }

// Hurry implements event.Writer.
func (s *Sink) Hurry() { s.client.Hurry() }
