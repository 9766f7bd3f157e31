package mapstore

import (
	"context"
	"time"

	"brine/hbase"
	"brine/skew/past"
)

// layered identifies a layer of a table.
type layered struct {
	table string
	layer int
}

// progress is how far the coarser buckets of a table have been made.
type progress struct {
	next   time.Time // buckets before it exist
	forced time.Time // buckets before it are made even if they exist: data of their time has arrived since
}

// settles is how long after a bucket's end data of its time may arrive without the bucket having to be made twice.
const settles = 2 * time.Minute

// coarsen makes the next bucket of each coarser layer, if it is due and missing. It makes one per minute, so that a brine that was down for
// a day has caught up before the finer buckets are removed.
func (s *Store) coarsen(ctx context.Context, table string) error {
	due := s.opts.Now().Add(-settles) // the finer buckets are complete up to then
	for l := 1; l < len(layers); l++ {
		p, err := s.progress(ctx, table, l)
		if err != nil {
			return err
		}
		due = due.Truncate(layers[l].long)
		if err := s.makeNext(ctx, table, l, p, due); err != nil {
			return err
		}
		due = p.next
	}
	return nil
}

// progress returns the progress of a layer, from the store if this process does not know it yet.
func (s *Store) progress(ctx context.Context, table string, l int) (*progress, error) {
	of := layered{table, l}
	if p := s.made[of]; p != nil {
		return p, nil
	}
	p := &progress{next: s.opts.Now().Add(-layers[l-1].kept).Truncate(layers[l].long).Add(layers[l].long)}
	newest := hbase.Scan{Start: rowOf(table, s.opts.Now().Add(layers[l].long)), Stop: rowOf(table, time.Unix(0, 0)), Reverse: true, Limit: 1,
		Columns: columnsOf(l)}
	for r, err := range s.opts.Client.Scan(ctx, s.opts.Table, newest) {
		if err != nil {
			return nil, err
		}
		if at, ok := timeOf(table, r.Row); ok && at.Add(layers[l].long).After(p.next) {
			p.next = at.Add(layers[l].long)
		}
	}
	s.made[of] = p
	return p, nil
}

// again marks coarser buckets to be made again if somebody may have made them before this minute was written.
func (s *Store) again(ctx context.Context, table string, at time.Time) error {
	now := s.opts.Now()
	if at.Add(past.Minute + settles).After(now) {
		return nil
	}
	for l := 1; l < len(layers); l++ {
		p, err := s.progress(ctx, table, l)
		if err != nil {
			return err
		}
		if begins := at.Truncate(layers[l].long); begins.Before(p.next) {
			p.next = begins
		}
		p.forced = now
	}
	return nil
}

// makeNext makes the first bucket before due for which there is data, unless it exists.
func (s *Store) makeNext(ctx context.Context, table string, l int, p *progress, due time.Time) error {
	long := layers[l].long
	for p.next.Before(due) {
		first, err := s.first(ctx, table, l-1, p.next, due)
		if err != nil {
			return err
		}
		if first.IsZero() {
			p.next = due
			return nil
		}
		at := first.Truncate(long)
		there := false
		if !at.Before(p.forced) {
			if there, err = s.has(ctx, table, l, at); err != nil {
				return err
			}
		}
		if !there {
			var list []past.Bucket
			if err := s.buckets(ctx, table, l-1, at, at.Add(long), nothing, func(b past.Bucket) { list = append(list, b) }); err != nil {
				return err
			}
			b := past.Most(list)
			b.At = at
			if err := s.put(ctx, layers[l], table, &b, nil); err != nil {
				return err
			}
		}
		if p.next = at.Add(long); !there {
			return nil
		}
	}
	return nil
}

// first returns when the first bucket of a layer in a time span begins, or the zero time if there is none.
func (s *Store) first(ctx context.Context, table string, l int, from, to time.Time) (at time.Time, err error) {
	scan := hbase.Scan{Start: rowOf(table, from), Stop: rowOf(table, to), Limit: 1, Columns: columnsOf(l)}
	for r, err := range s.opts.Client.Scan(ctx, s.opts.Table, scan) {
		if err != nil {
			return at, err
		}
		at, _ = timeOf(table, r.Row)
	}
	return at, nil
}

func (s *Store) has(ctx context.Context, table string, l int, at time.Time) (bool, error) {
	r, err := s.opts.Client.Get(ctx, s.opts.Table, hbase.Get{Row: rowOf(table, at), Columns: columnsOf(l)})
	return len(r.Cells) > 0, err
}
