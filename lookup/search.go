package lookup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"brine/event"
	"brine/hbase"
	"brine/rowkey"
	"brine/rowkey/eventkey"
)

// search completes one batch. It belongs to the goroutine that submits.
type search struct {
	*Writer
	keys     *eventkey.Encoder
	batch    *event.Batch
	row      []byte
	wanted   map[string][]int // rows to read, and the events that want them
	lacking  []int            // events that lack a field
	failures []event.Failure
}

func (s *search) release() {
	clear(s.wanted)
	clear(s.failures)
	s.batch, s.lacking, s.failures = nil, s.lacking[:0], s.failures[:0]
	s.pool.Put(s)
}

// begin learns from the events that have all fields, then completes those that lack some, and notes which rows are to be read
// for the rest.
func (s *search) begin(batch *event.Batch) {
	s.batch = batch
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range batch.Events {
		ev := &batch.Events[i]
		if ev.Tombstone {
			continue
		}
		if s.lacks(ev) >= 0 {
			s.lacking = append(s.lacking, i)
		} else if err := s.key(ev); err == nil && s.known.get(s.row) == nil {
			s.known.put(s.row, s.told(ev))
		}
	}
	for _, i := range s.lacking {
		ev := &batch.Events[i]
		if err := s.key(ev); err != nil {
			s.reject(i, err)
		} else if values := s.known.get(s.row); values != nil {
			s.complete(ev, values)
		} else {
			if s.wanted == nil {
				s.wanted = map[string][]int{}
			}
			s.wanted[string(s.row)] = append(s.wanted[string(s.row)], i)
		}
	}
}

// lacks gives the first field that the event lacks, in opts.Fields; -1 if it has all.
func (s *search) lacks(ev *event.Event) int {
	for n, at := range s.at {
		if ev.Values[at].Null() {
			return n
		}
	}
	return -1
}

// key makes s.row the event's row in the table.
func (s *search) key(ev *event.Event) (err error) {
	s.row, err = s.keys.Append(s.row[:0], ev)
	return err
}

func (s *search) told(ev *event.Event) []event.Value {
	values := make([]event.Value, len(s.at))
	for n, at := range s.at {
		values[n] = own(ev.Values[at])
	}
	return values
}

// complete gives the event what it lacks.
func (s *search) complete(ev *event.Event, values []event.Value) {
	for n, at := range s.at {
		if ev.Values[at].Null() {
			ev.Values[at] = values[n]
		}
	}
	delete(s.since, place{ev.Record.Partition, ev.Record.Offset})
}

// read reads the rows that are wanted.
func (s *search) read(ctx context.Context) {
	gets := make([]hbase.Get, 0, len(s.wanted))
	for row := range s.wanted {
		gets = append(gets, hbase.Get{Row: []byte(row), Columns: s.columns})
	}
	results, err := s.client.GetAll(ctx, s.opts.Table, gets)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range gets {
		events := s.wanted[string(gets[i].Row)]
		if err != nil {
			s.fail(events, event.Retry, event.Unavailable, fmt.Errorf("looking up fields of the key in table %s: %w", s.opts.Table, err))
			continue
		}
		values, fault := s.values(results[i].Cells)
		switch {
		case fault != nil:
			s.fail(events, event.Reject, event.BadKey, fmt.Errorf("table %s, row %s: %w", s.opts.Table, rowkey.Binary(gets[i].Row), fault))
		case values == nil:
			s.absent(events, gets[i].Row)
		default:
			s.known.put(gets[i].Row, values)
			for _, n := range events {
				s.complete(&s.batch.Events[n], values)
			}
		}
	}
}

// values reads the fields of one row; nil if it lacks one.
func (s *search) values(cells []hbase.Cell) ([]event.Value, error) {
	values := make([]event.Value, len(s.at))
	found := 0
	for n, f := range s.opts.Fields {
		for i := range cells {
			if string(cells[i].Family) != f.Family || string(cells[i].Qualifier) != f.Qualifier {
				continue
			}
			v, err := event.ParseValue(s.opts.Schema.Fields[s.at[n]].Type, cells[i].Value)
			if err != nil {
				return nil, fmt.Errorf("column %s:%s: %w", f.Family, f.Qualifier, err)
			}
			values[n] = own(v)
			found++
			break
		}
	}
	if found < len(values) {
		return nil, nil
	}
	return values, nil
}

// absent has events wait for a row, or rejects those that have waited long enough.
func (s *search) absent(events []int, row []byte) {
	now := s.opts.Now()
	for _, i := range events {
		ev := &s.batch.Events[i]
		at := place{ev.Record.Partition, ev.Record.Offset}
		since, ok := s.since[at]
		if !ok {
			since = now
			s.wait(at)
		}
		f := s.opts.Schema.Fields[s.at[s.lacks(ev)]]
		if now.Sub(since) < s.opts.Wait {
			s.failures = append(s.failures, event.Failure{Index: i, Verdict: event.Retry, Reason: event.Awaited,
				Err: fmt.Errorf("field %s is looked up in table %s, and row %s has not come yet", f.Name, s.opts.Table, rowkey.Binary(row))})
			continue
		}
		delete(s.since, at)
		s.reject(i, &event.Error{Reason: event.MissingField, Field: strings.Join(f.Keys(), "."),
			Detail: fmt.Sprintf("the key needs it, and row %s of table %s, where it is looked up, has not come within %v", rowkey.Binary(row), s.opts.Table, s.opts.Wait)})
	}
}

// wait notes that an event begins to wait. Those of partitions that went away meanwhile are forgotten in time.
func (s *search) wait(at place) {
	now := s.opts.Now()
	if len(s.since) >= maxYoung {
		for p, since := range s.since {
			if now.Sub(since) > 2*s.opts.Wait {
				delete(s.since, p)
			}
		}
	}
	s.since[at] = now
}

func (s *search) reject(i int, err error) {
	reason := event.BadKey
	if named := (*event.Error)(nil); errors.As(err, &named) {
		reason = named.Reason
	}
	s.failures = append(s.failures, event.Failure{Index: i, Verdict: event.Reject, Reason: reason, Err: err})
}

func (s *search) fail(events []int, verdict event.Verdict, reason event.Reason, err error) {
	for _, i := range events {
		s.failures = append(s.failures, event.Failure{Index: i, Verdict: verdict, Reason: reason, Err: err})
	}
}
