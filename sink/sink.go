// Package sink is the Writer for HBase: it turns events into mutations and batches of them into flights.
//
// The invariant: a mutation is a pure function of its event, and every cell's timestamp is the event's version; so applying
// it again, late or after an unknown outcome changes nothing.
//
// An event becomes all of its rows, or none: its keys and the sizes of its cells are checked before its first mutation is
// queued. It is one row of each entry of Options.Rows, or one for each token that the entry takes of it (see Each); an event that is a
// delete, or that has left rows behind, removes some (see Deletes). A field that is null has no cell (see NullPolicy), and a packed
// cell holds only fields that are not. A row that would have no cell at all gets a single empty one, without a qualifier, in the
// family of its first column: so each row is seen, and rows can be counted.
//
// The path of a batch; the next function to read, and its file:
//
//	Sink.Submit    sink.go    called by takeOff of package ingest; package lookup may be between
//	draft.add      draft.go   an event's mutations, in the batch of each table; check.go rejects an event whole
//	Client.Submit  sink.go    hbase.Mutator.Submit: step 1 of hbase/internal/pipeline/doc.go
//	part.wait      flight.go  flight.Wait waits here until the client's flight is done; pending.go is for one that stalls
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

// RowKind says what a row of a table is.
type RowKind string

// The kinds of row.
const (
	RowEvent  RowKind = "event"  // each event its own row: two different events on one key are a collision
	RowEntity RowKind = "entity" // the changes of one entity meet in one row, cell by cell, by version
)

// Table is a table that events are written to.
type Table struct {
	Name string
	Row  RowKind
	Keys rowkey.Keys              // an event's is that of its version
	TTL  map[string]time.Duration // by family; absent means forever
}

// Column maps a field of the event, or several that share its cell, to a column; or the members of a field to a column each.
type Column struct {
	Family, Qualifier string
	Field             string
	Pack              *event.Pack // instead of Field
	Members           *Members    // Qualifier is then what the names of the columns begin with
}

// Members says which members of an object become columns of their own: a text as it is, anything else as its JSON. The object is
// the column's Field, of type Nested; without one it is the record itself except what its schema takes from the first level.
type Members struct {
	Except []string // names of members that become none
	Limit  int      // of columns of one event; one that has more is rejected
}

// Rows says which rows an event becomes in one table.
type Rows struct {
	Table   Table
	Columns []Column
	Nulls   NullPolicy        // empty: NullsMerge
	As      map[string]string // fields of the table's key that have another name in the schema: the key's name → the schema's
	Each    *Each             // a row for each token of the event, instead of one
	Empty   string            // the family of the empty cell; only without Columns
	TTL     TTL
	Deletes Deletes

	When      string    // a condition of the schema's Derive: see event.Event.Holds; empty: every event becomes a row
	Otherwise Otherwise // empty: Skip
}

// Otherwise says what an event does to its row when the condition of the entry does not hold.
type Otherwise string

// What becomes of the row.
const (
	Skip   Otherwise = "skip"   // nothing: what an earlier event made stays
	Delete Otherwise = "delete" // it is deleted as Deletes says; only in a table of RowEntity
)

// Deletes says what happens to the row of an event that is a delete, and, in a table of RowEntity, of a row that a change has left
// behind: one that the event's former values make, and its values do not.
//
// A row is marked: its column that Field fills is true at the event's version. An event that is no delete says false there if its
// schema has images, so that a row that was left can be come back to. A row that is deleted hard loses the cells of the entry's
// families, up to the event's version; HBase drops its delete markers in the end, and older puts must not come after that.
type Deletes struct {
	Field string // a Bool that is true in a delete; empty: no event is a delete
	Hard  bool
}

// Each is a field of the key that is a token of the event.
type Each struct {
	Name   string
	Tokens event.Tokens
}

// TTL says how long the cells are kept beside what their families say. Its zero value says no more than those.
type TTL struct {
	For   time.Duration // from the event's version on
	Until string        // a field that is a time: until then; an event in which it is null has no TTL of its own
}

// NullPolicy says what a field that is null, or absent, does to its column. What is not NullsMerge writes delete markers: with
// the event's cells, as one atomic mutation.
type NullPolicy string

// The null policies.
const (
	NullsMerge   NullPolicy = "merge"   // nothing: an older value stays
	NullsReplace NullPolicy = "replace" // all older cells in the families of the columns vanish, whichever column they are of
	NullsDelete  NullPolicy = "delete"  // the column's older values, and those of this version, vanish
)

// Client is what the sink needs of an HBase client; HBase makes one of ours.
type Client interface {
	// Submit queues the mutations in order. The batch is the client's until the flight is done.
	Submit(ctx context.Context, b *hbase.Batch) Flight
	// Release sends what the client holds back to gather more, without waiting for it.
	Release()
	// Hurry sends what waits out a pause after a failure, without waiting for it.
	Hurry()
}

// Flight is a submitted batch of mutations, as *hbase.Flight.
type Flight interface {
	// Wait blocks until every mutation is durable or has failed, and returns the failed ones, ascending.
	Wait(ctx context.Context) ([]hbase.MutationError, error)
	// WaitPending blocks until then as well, and returns nil; or until nothing holds the rest up but failing regions. Then it returns a
	// batch of all mutations that are not known to be durable, with their indexes in the one that was submitted, which is the caller's
	// again.
	WaitPending(ctx context.Context) (pending *hbase.Batch, indexes []int32, err error)
}

// HBase makes a Client from our HBase client's Mutator.
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

// New makes a sink. Its errors name the table and column that are wrong, and the fix.
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

// Submit queues the rows of the batch's events and returns their flight. It keeps nothing of the batch.
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
