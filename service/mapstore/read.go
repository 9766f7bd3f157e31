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

// Span selects a part of a map, and its resolution.
type Span struct {
	From, Until time.Time // Until is now if zero or later than now
	past.Shape
	Server string // only the regions that it has now; empty: all
}

// Kept returns how far back maps go.
func Kept() time.Duration { return layers[len(layers)-1].kept }

// Resolution is how long buckets of some age are.
type Resolution struct {
	Kept time.Duration // how far back they go
	Long time.Duration
}

// Resolutions returns those of all buckets, finest first.
func Resolutions() (out []Resolution) {
	for _, layer := range layers {
		out = append(out, Resolution{layer.kept, layer.long})
	}
	return out
}

// finest returns the finest layer that goes back to from, and has at most some hundred buckets in the span.
func (s *Store) finest(from, until time.Time) int {
	age, span := s.opts.Now().Sub(from), until.Sub(from)
	for l, layer := range layers[:len(layers)-1] {
		if most := layer.kept + layer.long; age <= most && span <= most { // a request for all that is kept arrives a moment later
			return l
		}
	}
	return len(layers) - 1
}

// drawn is a map that was drawn a moment ago.
type drawn struct {
	table string
	of    Span // From is truncated to the start of a bucket
	at    time.Time
	heat  skew.HeatMap
}

const (
	young     = 2 * time.Second // age up to which a map is reused: all viewers cost one read
	mostCells = 1 << 20         // of all maps kept for reuse
)

// Map draws a table's map. It includes what this process has written in the last minute and not stored yet. The map may be shared, and must
// not be modified.
func (s *Store) Map(ctx context.Context, table string, of Span) (skew.HeatMap, error) {
	done, err := s.alone(ctx)
	if err != nil {
		return skew.HeatMap{}, err
	}
	defer done()
	now := s.opts.Now()
	until := of.end(now)
	l := s.finest(of.From, until)
	of.From = of.From.Truncate(layers[l].long)
	s.drawn = slices.DeleteFunc(s.drawn, func(d drawn) bool { return now.Sub(d.at) >= young })
	for _, d := range s.drawn {
		if d.table == table && d.of == of {
			return d.heat, nil
		}
	}
	list, err := s.read(ctx, table, l, of.From, until)
	if err != nil {
		return skew.HeatMap{}, err
	}
	if of.Server != "" {
		list = past.Within(list, s.opts.Tables.Counter(table, skew.Shape{}).On(of.Server))
	}
	heat := past.Draw(list, layers[l].long, until, of.Shape)
	s.keep(drawn{table, of, now, heat})
	return heat, nil
}

// keep keeps a map for reuse, and as many of the newest earlier ones as there is room for.
func (s *Store) keep(fresh drawn) {
	s.drawn = append(s.drawn, fresh)
	cells := 0
	for i, d := range slices.Backward(s.drawn) {
		if cells += len(d.heat.Starts) * len(d.heat.Times); cells > mostCells {
			s.drawn = slices.Delete(s.drawn, 0, i+1)
			return
		}
	}
}

// forget drops the maps kept for reuse.
func (s *Store) forget() {
	select {
	case s.reading <- struct{}{}:
		s.drawn = nil
		<-s.reading
	default: // the current reader drops them
	}
}

// alone waits until nobody else reads. done lets the next reader in.
func (s *Store) alone(ctx context.Context) (done func(), err error) {
	select {
	case s.reading <- struct{}{}:
		return func() { <-s.reading }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// end returns when a span ends.
func (of *Span) end(now time.Time) time.Time {
	if of.Until.IsZero() || of.Until.After(now) {
		return now
	}
	return of.Until
}

// Size is the size of a table at a time.
type Size struct {
	At time.Time
	MB int64
}

// Sizes returns the sizes of a table over a time span, where they were known.
func (s *Store) Sizes(ctx context.Context, table string, of Span) ([]Size, error) {
	sizes := []Size{}
	done, err := s.alone(ctx)
	if err != nil {
		return sizes, err
	}
	defer done()
	until := of.end(s.opts.Now())
	l := s.finest(of.From, until)
	list, err := s.read(ctx, table, l, of.From.Truncate(layers[l].long), until)
	for i := range list {
		if list[i].MB > 0 {
			sizes = append(sizes, Size{list[i].At, list[i].MB})
		}
	}
	return sizes, err
}

// read reads the buckets of a layer that begin in a time span.
func (s *Store) read(ctx context.Context, table string, l int, from, until time.Time) (list []past.Bucket, err error) {
	// What this process has not stored comes from its counters. It is skipped in the store, where it may arrive before the read is over.
	fresh, since := s.unwritten(table)
	own := tailOf(s.member, since)
	counted := func(tail []byte) bool { return bytes.HasPrefix(tail, own[:8]) && bytes.Compare(tail, own) >= 0 }
	var minutes []past.Bucket
	next := from // what is missing of a layer is read from the finer one
	for k := l; k >= 0; k-- {
		into := &list
		if k == 0 {
			into = &minutes
		}
		err := s.buckets(ctx, table, k, next, until, counted, func(b past.Bucket) {
			next = b.At.Add(layers[k].long)
			if n := len(*into); n > 0 {
				b.Starts = shared((*into)[n-1].Starts, b.Starts)
			}
			*into = append(*into, b)
		})
		if err != nil && !errors.Is(err, hbase.ErrNoTable) { // ErrNoTable: nothing was written yet
			return nil, err
		}
	}
	minutes = byTime(append(minutes, fresh...), past.Minute, past.Sum)
	list = byTime(append(list, minutes...), layers[l].long, past.Most)
	return slices.DeleteFunc(list, func(b past.Bucket) bool { return b.At.Before(from) || !b.At.Before(until) }), nil
}

// byTime combines all buckets that lie within the same interval of length long.
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

// soon is the least duration over which the writes of the open minute are shown.
const soon = 5 * time.Second

// unwritten returns the buckets that this process has counted and not stored, and the time since when.
func (s *Store) unwritten(table string) (list []past.Bucket, since time.Time) {
	s.mu.Lock()
	since = s.written[table]
	s.mu.Unlock()
	if !slices.Contains(s.opts.Tables.Names(), table) {
		return nil, since
	}
	closed, open := s.opts.Tables.Counter(table, skew.Shape{}).Columns(since)
	for i := range closed {
		list = append(list, past.Of(&closed[i], past.Minute))
	}
	// A process that writes nothing closes no columns, so its open column does not cover a minute.
	if open.To.After(open.From) && open.To.Sub(open.From) <= 2*past.Minute {
		list = append(list, past.Of(&open, soon))
	}
	return slices.DeleteFunc(list, func(b past.Bucket) bool { return len(b.Starts) == 0 }), since
}

// buckets reads the buckets of a layer that begin in a time span, in order. It adds up the members' rows of a bucket, and skips rows whose
// key tail satisfies except.
func (s *Store) buckets(
	ctx context.Context, table string, l int, from, to time.Time, except func(tail []byte) bool, take func(past.Bucket),
) error {
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
		if !ok || len(r.Cells) == 0 || except(r.Row[len(rowOf(table, at)):]) {
			continue
		}
		b, err := decode(at, r.Cells)
		if err != nil {
			continue // written by a newer brine; the map omits it
		}
		if len(one) > 0 && !one[0].At.Equal(at) {
			give()
		}
		one = append(one, b)
	}
	give()
	return nil
}

// decode decodes a bucket's cells. What cannot be read of the cell beside the first is missing.
func decode(at time.Time, cells []hbase.Cell) (past.Bucket, error) {
	first := cells[0].Value
	b, err := past.Decode(at, first)
	for _, c := range cells[1:] {
		if err == nil && string(c.Qualifier) == beside {
			_ = b.DecodeMore(first, c.Value)
		}
	}
	return b, err
}

func nothing([]byte) bool { return false }

func columnsOf(l int) []hbase.Column { return []hbase.Column{{Family: []byte(layers[l].family)}} }

// shared returns now, or before if it holds the same keys, to save memory.
func shared(before, now []skew.Key) []skew.Key {
	if slices.EqualFunc(before, now, func(a, b skew.Key) bool { return bytes.Equal(a, b) }) {
		return before
	}
	return now
}

// Counted draws what a process has counted and still has, for those that keep no history.
func Counted(c *skew.Counter, of Span) skew.HeatMap {
	until := of.Until
	columns, open := c.Columns(of.From)
	if open.To.After(open.From) {
		columns, until = append(columns, open), open.To
	}
	list := make([]past.Bucket, len(columns))
	for i := range columns {
		list[i] = past.Of(&columns[i], time.Second)
	}
	if of.Server != "" {
		list = past.Within(list, c.On(of.Server))
	}
	return past.Draw(list, past.Minute, until, of.Shape)
}
