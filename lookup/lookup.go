// Package lookup completes events that lack fields of their rows' keys. Before a writer gets the events, it reads the fields in another
// table, where the event's own fields determine the row.
//
// The invariant: what is looked up never changes. An order's user and time of creation stay the same, whenever and however often they are
// looked up. So a completed event is as pure a function of its record as any other, and a value that was found once, or that another event
// carried, need not be read again.
package lookup

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/rowkey"
	"brine/rowkey/eventkey"
)

// Client is what look-ups need from HBase; *hbase.Client implements it.
type Client interface {
	GetAll(ctx context.Context, table string, gets []hbase.Get) ([]hbase.Result, error)
}

// Options describe what to look up, and where.
type Options struct {
	Schema event.Schema
	Table  string
	Keys   rowkey.Keys // of Table, made of fields that each event has; a row may be under any of them, by the version that it was written with
	Fields []Field
	Wait   time.Duration    // how long an event waits for its row before it is rejected
	Now    func() time.Time // nil means time.Now
}

// Field is a field that an event may lack, and the column that holds it.
type Field struct{ Name, Family, Qualifier string }

// Writer is a writer in front of another one. It is safe for concurrent use and starts no goroutine.
type Writer struct {
	client  Client
	to      event.Writer
	opts    Options
	at      []int // the positions of the fields in the schema
	columns []hbase.Column
	pool    sync.Pool // of *search

	mu    sync.Mutex
	known memory
	since map[place]time.Time // when an event's row was first found to be absent
}

// place is a record's position in its topic.
type place struct {
	partition int
	offset    int64
}

// New returns a Writer. Its errors name the field that is wrong, and the fix.
func New(client Client, to event.Writer, o Options) (*Writer, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	w := &Writer{client: client, to: to, opts: o, since: map[place]time.Time{}}
	if len(o.Fields) == 0 {
		return nil, fmt.Errorf("no field is looked up in table %s; name one", o.Table)
	}
	for _, f := range o.Fields {
		at := slices.IndexFunc(o.Schema.Fields, func(s event.Field) bool { return s.Name == f.Name })
		if at < 0 {
			return nil, fmt.Errorf("field %q, which is looked up in table %s, is not declared; add it to fields", f.Name, o.Table)
		}
		w.at = append(w.at, at)
		w.columns = append(w.columns, hbase.Column{Family: []byte(f.Family), Qualifier: []byte(f.Qualifier)})
	}
	first, err := w.newSearch()
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", o.Table, err)
	}
	w.pool.New = func() any { s, _ := w.newSearch(); return s }
	w.pool.Put(first)
	return w, nil
}

func (w *Writer) newSearch() (*search, error) {
	s := &search{Writer: w, wanted: map[string]*want{}}
	if err := w.opts.Keys.Validate(); err != nil {
		return nil, err
	}
	for _, k := range w.opts.Keys {
		encoder, err := eventkey.New(k.Key, w.opts.Schema)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, encoder)
	}
	return s, nil
}

// Submit completes the batch's events, reads what no event has carried yet, and passes them on. An event whose row does not exist yet
// fails: it is retried until Wait is over, and then rejected.
func (w *Writer) Submit(ctx context.Context, batch *event.Batch) event.Flight {
	s := w.pool.Get().(*search)
	defer s.release()
	s.begin(batch)
	if len(s.wanted) > 0 {
		s.read(ctx)
	}
	if len(s.failures) == 0 {
		return w.to.Submit(ctx, batch)
	}
	slices.SortFunc(s.failures, func(a, b event.Failure) int { return a.Index - b.Index })
	f := event.Part{Failed: slices.Clone(s.failures)}
	rest, failed := new(event.Batch), s.failures
	for i := range batch.Events {
		if len(failed) > 0 && failed[0].Index == i {
			failed = failed[1:]
			continue
		}
		rest.Events = append(rest.Events, batch.Events[i])
		f.At = append(f.At, i)
	}
	if len(rest.Events) == 0 {
		return event.Done(f.Failed)
	}
	f.Flight = w.to.Submit(ctx, rest)
	return f
}

// Release implements event.Writer.
func (w *Writer) Release() { w.to.Release() }

// Hurry implements event.Writer.
func (w *Writer) Hurry() { w.to.Hurry() }

// memory holds what was found or carried, by the names of rows: the last few thousand. It drops the older half at a time.
type memory struct{ young, old map[string][]event.Value }

const maxYoung = 10_000

func (m *memory) get(name []byte) []event.Value {
	values, ok := m.young[string(name)]
	if !ok {
		if values, ok = m.old[string(name)]; ok {
			m.put(name, values)
		}
	}
	return values
}

func (m *memory) put(name []byte, values []event.Value) {
	if len(m.young) >= maxYoung || m.young == nil {
		m.young, m.old = make(map[string][]event.Value), m.young
	}
	m.young[string(name)] = values
}

// own copies a value whose text has another owner.
func own(v event.Value) event.Value {
	return v.Owned()
}
