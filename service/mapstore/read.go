package mapstore

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"brine/hbase"
	"brine/skew"
	"brine/skew/past"
)

// Span says which part of a map is meant, and how finely.
type Span struct {
	From, Until     time.Time // until now, where Until is zero or later
	Ranges, Columns int       // at most
}

// Kept is how far back maps go.
func Kept() time.Duration { return layers[len(layers)-1].kept }

// finest is the finest kind of buckets that goes back to a time, and has no more than some hundred of them in a span.
func (s *Store) finest(from, until time.Time) int {
	age, span := s.opts.Now().Sub(from), until.Sub(from)
	for l, layer := range layers[:len(layers)-1] {
		if most := layer.kept + layer.long; age <= most && span <= most { // who asks for all that is kept asks a moment later
			return l
		}
	}
	return len(layers) - 1
}

// Map draws a table's map. What this process has written in the last minute, and has not stored, is on it.
func (s *Store) Map(ctx context.Context, table string, of Span) (skew.HeatMap, error) {
	list, l, until, err := s.read(ctx, table, of)
	if err != nil {
		return skew.HeatMap{}, err
	}
	return past.Draw(list, layers[l].long, until, of.Ranges, of.Columns), nil
}

// Size is how large a table was.
type Size struct {
	At time.Time
	MB int64
}

// Sizes are those of a table over a span of time, where they were known.
func (s *Store) Sizes(ctx context.Context, table string, of Span) ([]Size, error) {
	list, _, _, err := s.read(ctx, table, of)
	sizes := []Size{}
	for i := range list {
		if list[i].MB > 0 {
			sizes = append(sizes, Size{list[i].At, list[i].MB})
		}
	}
	return sizes, err
}

// read reads the buckets of a span, and of which kind they are.
func (s *Store) read(ctx context.Context, table string, of Span) (list []past.Bucket, l int, until time.Time, err error) {
	done, err := s.alone(ctx)
	if err != nil {
		return nil, 0, until, err
	}
	defer done()
	now := s.opts.Now()
	if until = of.Until; until.IsZero() || until.After(now) {
		until = now
	}
	l = s.finest(of.From, until)
	from := of.From.Truncate(layers[l].long)
	var minutes []past.Bucket
	next := from // what is not made yet of a kind is read of the finer one
	for k := l; k >= 0; k-- {
		into := &list
		if k == 0 {
			into = &minutes
		}
		err := s.buckets(ctx, table, k, next, until, func(b past.Bucket) {
			next = b.At.Add(layers[k].long)
			if n := len(*into); n > 0 {
				b.Starts = shared((*into)[n-1].Starts, b.Starts)
			}
			*into = append(*into, b)
		})
		if err != nil && !errors.Is(err, hbase.ErrNoTable) { // nothing was written yet
			return nil, l, until, err
		}
	}
	minutes = byTime(append(minutes, s.unwritten(table)...), past.Minute, past.Sum)
	list = byTime(append(list, minutes...), layers[l].long, past.Most)
	return slices.DeleteFunc(list, func(b past.Bucket) bool { return b.At.Before(from) || !b.At.Before(until) }), l, until, nil
}

// byTime makes one bucket of all that lie within one of so long.
func byTime(list []past.Bucket, long time.Duration, one func([]past.Bucket) past.Bucket) (out []past.Bucket) {
	slices.SortStableFunc(list, func(a, b past.Bucket) int { return a.At.Compare(b.At) })
	for len(list) > 0 {
		at, n := list[0].At.Truncate(long), 1
		for n < len(list) && list[n].At.Before(at.Add(long)) {
			n++
		}
		b := one(list[:n])
		b.At = at
		out, list = append(out, b), list[n:]
	}
	return out
}

// soon is over how much time what was written in the open minute is shown at least.
const soon = 5 * time.Second

// unwritten are the buckets of what this process has counted and not stored yet.
func (s *Store) unwritten(table string) (list []past.Bucket) {
	if !slices.Contains(s.opts.Tables.Names(), table) {
		return nil
	}
	closed, open := s.opts.Tables.Counter(table, skew.Shape{}).Columns(s.written[table])
	for i := range closed {
		list = append(list, past.Of(&closed[i], past.Minute))
	}
	// A process that writes nothing closes no columns: what it has open is of no minute.
	if open.To.After(open.From) && open.To.Sub(open.From) <= 2*past.Minute {
		list = append(list, past.Of(&open, soon))
	}
	return slices.DeleteFunc(list, func(b past.Bucket) bool { return len(b.Starts) == 0 })
}

// buckets reads those of a kind that begin in a span of time, in order; what members have of one is added up.
func (s *Store) buckets(ctx context.Context, table string, l int, from, to time.Time, take func(past.Bucket)) error {
	var one []past.Bucket // of one time, by member
	give := func() {
		if len(one) > 0 {
			take(past.Sum(one))
			one = nil
		}
	}
	scan := hbase.Scan{Start: rowOf(table, from), Stop: rowOf(table, to), Columns: columnsOf(l)}
	for r, err := range s.opts.Client.Scan(ctx, s.opts.Table, scan) {
		if err != nil {
			return err
		}
		at, ok := timeOf(table, r.Row)
		if !ok || len(r.Cells) == 0 {
			continue
		}
		b, err := past.Decode(at, r.Cells[0].Value)
		if err != nil {
			continue // a newer brine's: the map is without it
		}
		if len(one) > 0 && !one[0].At.Equal(at) {
			give()
		}
		one = append(one, b)
	}
	give()
	return nil
}

func columnsOf(l int) []hbase.Column { return []hbase.Column{{Family: []byte(layers[l].family)}} }

// shared is the second of two lists of keys, in the first one's memory where they are the same.
func shared(before, now []skew.Key) []skew.Key {
	if slices.EqualFunc(before, now, func(a, b skew.Key) bool { return bytes.Equal(a, b) }) {
		return before
	}
	return now
}
