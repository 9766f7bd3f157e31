package lookup

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"brine/event"
	"brine/hbase"
	"brine/rowkey"
	"brine/rowkey/eventkey"
)

// search completes one batch. It belongs to the goroutine that submits.
type search struct {
	*Writer
	keys     []*eventkey.Encoder // of the table's keys
	batch    *event.Batch
	name     []byte // of the event's row, as key makes it
	ends     []int  // in name, of the row under each key
	wanted   map[string]*want
	lacking  []int // events that lack a field
	failures []event.Failure
}

// want is a row to read, and the events that want it.
type want struct {
	rows   [][]byte // under each key
	events []int
}

// row returns a row's name for messages: its name under the newest key, or event.Hidden if the keys have a masked field.
func (s *search) row(w *want) string {
	if s.opts.Schema.Masks(s.opts.Keys.Fields()...) {
		return event.Hidden
	}
	return rowkey.Binary(w.rows[len(w.rows)-1])
}

func (s *search) release() {
	clear(s.wanted)
	clear(s.failures)
	s.batch, s.lacking, s.failures = nil, s.lacking[:0], s.failures[:0]
	s.pool.Put(s)
}

// begin learns from the events that have all fields, completes those that lack some, and collects the rows to read for the rest.
func (s *search) begin(batch *event.Batch) {
	s.batch = batch
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range batch.Events {
		ev := &batch.Events[i]
		if ev.LeftOut != "" {
			continue
		}
		if s.lacks(ev) >= 0 {
			s.lacking = append(s.lacking, i)
		} else if err := s.key(ev); err == nil && s.known.get(s.name) == nil {
			s.known.put(s.name, s.valuesOf(ev))
		}
	}
	for _, i := range s.lacking {
		ev := &batch.Events[i]
		if err := s.key(ev); err != nil {
			s.reject(i, err)
		} else if values := s.known.get(s.name); values != nil {
			s.complete(ev, values)
		} else {
			w := s.want()
			w.events = append(w.events, i)
		}
	}
}

// lacks returns the index in opts.Fields of the first field that the event lacks, or -1 if it has all.
func (s *search) lacks(ev *event.Event) int {
	for n, at := range s.at {
		if ev.Values[at].Null() {
			return n
		}
	}
	return -1
}

// key sets s.name for the event's row in the table: the row under each key, followed by the ends of all but the last, which separate them.
// If there is only one key, it is the row itself.
func (s *search) key(ev *event.Event) (err error) {
	s.name, s.ends = s.name[:0], s.ends[:0]
	for _, k := range s.keys {
		if s.name, err = k.Append(s.name, ev); err != nil {
			return err
		}
		s.ends = append(s.ends, len(s.name))
	}
	for _, end := range s.ends[:len(s.ends)-1] {
		s.name = binary.BigEndian.AppendUint32(s.name, uint32(end))
	}
	return nil
}

// want returns the entry of s.name in wanted, which it adds if it is missing.
func (s *search) want() *want {
	w := s.wanted[string(s.name)]
	if w == nil {
		w = &want{}
		start := 0
		for _, end := range s.ends {
			w.rows = append(w.rows, bytes.Clone(s.name[start:end]))
			start = end
		}
		s.wanted[string(s.name)] = w
	}
	return w
}

func (s *search) valuesOf(ev *event.Event) []event.Value {
	values := make([]event.Value, len(s.at))
	for n, at := range s.at {
		values[n] = own(ev.Values[at])
	}
	return values
}

// complete sets the fields that the event lacks.
func (s *search) complete(ev *event.Event, values []event.Value) {
	for n, at := range s.at {
		if ev.Values[at].Null() {
			ev.Values[at] = values[n]
		}
	}
	delete(s.since, place{ev.Record.Partition, ev.Record.Offset})
}

// read reads the wanted rows: under each key, the cells whose version belongs to that key.
func (s *search) read(ctx context.Context) {
	keys := len(s.keys)
	gets, names := make([]hbase.Get, 0, len(s.wanted)*keys), make([]string, 0, len(s.wanted))
	for name, w := range s.wanted {
		names = append(names, name)
		for i, row := range w.rows {
			get := hbase.Get{Row: row, Columns: s.columns}
			get.From, get.To = s.opts.Keys.Versions(i)
			gets = append(gets, get)
		}
	}
	results, err := s.client.GetAll(ctx, s.opts.Table, gets)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, name := range names {
		w := s.wanted[name]
		if err != nil {
			s.fail(w.events, event.Retry, event.Unavailable, fmt.Errorf("looking up fields of the key in table %s: %w", s.opts.Table, err))
			continue
		}
		values, fault := s.values(results[i*keys : (i+1)*keys])
		switch {
		case fault != nil:
			s.fail(w.events, event.Reject, event.BadKey, fmt.Errorf("table %s, row %s: %w", s.opts.Table, s.row(w), fault))
		case values == nil:
			s.absent(w)
		default:
			s.known.put([]byte(name), values)
			for _, n := range w.events {
				s.complete(&s.batch.Events[n], values)
			}
		}
	}
}

// values parses the fields from the cells of one row under each key, or returns nil if one is missing or null. Cells under a newer key are
// newer.
func (s *search) values(under []hbase.Result) ([]event.Value, error) {
	values := make([]event.Value, len(s.at))
	for n, f := range s.opts.Fields {
		var cell *hbase.Cell
		for i := len(under) - 1; i >= 0 && cell == nil; i-- {
			cell = f.in(under[i].Cells)
		}
		if cell == nil {
			return nil, nil
		}
		v, err := event.ParseValue(s.opts.Schema.Fields[s.at[n]].Type, cell.Value)
		if err != nil {
			return nil, fmt.Errorf("column %s:%s: %w", f.Family, f.Qualifier, err)
		}
		if v.Null() {
			return nil, nil
		}
		values[n] = own(v)
	}
	return values, nil
}

// in returns the field's cell, or nil if there is none.
func (f Field) in(cells []hbase.Cell) *hbase.Cell {
	i := slices.IndexFunc(cells, func(c hbase.Cell) bool { return string(c.Family) == f.Family && string(c.Qualifier) == f.Qualifier })
	if i < 0 {
		return nil
	}
	return &cells[i]
}
