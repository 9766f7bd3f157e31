package verify

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// look is one pass over the shards. It reads all of each shard, or only the keys that have entries.
type look struct {
	check *Check
	all   bool // scan: also find keys without an entry
	again bool // only the suspects
	seen  atomic.Int64
}

// firstLook compares everything.
func (c *Check) firstLook(ctx context.Context) error {
	return c.look(ctx, &look{check: c, all: c.opts.Full})
}

// look runs l over all shards. Its findings become the suspects.
func (c *Check) look(ctx context.Context, l *look) error {
	if err := c.sorter.flush(); err != nil {
		return err
	}
	if !l.again {
		total := c.sorter.size
		c.opts.Hooks.Phase(PhaseInfo{"comparing", func() (int64, int64) { return l.seen.Load(), total }})
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(c.opts.Workers)
	for i := range c.shards {
		g.Go(func() error {
			if err := l.shard(ctx, i); err != nil {
				return fmt.Errorf("verify: %s: %w", c.opts.Tables[c.shards[i].table].Name, err)
			}
			return nil
		})
	}
	return g.Wait()
}

// worker compares one shard.
type worker struct {
	*look
	ctx   context.Context
	shard *shard
	table *Table
	judge judge
	names []Finding // the findings of the judge

	entries *merge
	next    struct { // the entry that follows the last fold
		key, payload []byte
		more         bool
	}
	read     int64 // bytes of entries that are not reported yet
	compared int   // keys that are not reported yet
}

const (
	keysPerGet = 500
	reportEach = 500 // keys
)

func (l *look) shard(ctx context.Context, i int) (err error) {
	c := l.check
	s := &c.shards[i]
	w := &worker{look: l, ctx: ctx, shard: s, table: &c.opts.Tables[s.table]}
	w.judge = judge{table: w.table, marks: c.opts.marks(w.table), full: c.opts.Full, blind: c.unplaced.Load() > 0 || len(w.table.Others) > 0,
		now: c.opts.Now().UnixMilli(), out: func(f Finding) { w.names = append(w.names, f) }}
	if w.entries, err = c.sorter.merge(i, c.opts.Memory/int64(c.opts.Workers)); err == nil {
		err = w.advance()
	}
	switch {
	case err != nil:
	case l.all:
		err = w.scan()
	default:
		err = w.get()
	}
	w.report()
	c.keep(s.table, w, l.again)
	return err
}

// report reports the progress since the previous call.
func (w *worker) report() {
	w.seen.Add(w.read)
	if w.compared > 0 {
		w.check.opts.Hooks.Compared(ComparedInfo{w.table.Name, w.compared})
	}
	w.read, w.compared = 0, 0
}

// advance moves to the next entry.
func (w *worker) advance() (err error) {
	w.next.key, w.next.payload, w.next.more, err = w.entries.next()
	if w.next.more {
		w.read += int64(entryHead + len(w.next.key) + len(w.next.payload))
	}
	return err
}

// fold folds all entries of the next key. It returns false if there are no more.
func (w *worker) fold(f *fold) (more bool, err error) {
	for w.again && w.next.more && !w.check.suspect(w.shard.table, w.next.key) {
		if err := w.advance(); err != nil {
			return false, err
		}
	}
	if !w.next.more {
		return false, nil
	}
	f.reset(w.next.key)
	for w.next.more && bytes.Equal(w.next.key, f.key) {
		e, err := readEntry(w.next.payload)
		if err == nil {
			err = f.add(e)
		}
		if err == nil {
			err = w.advance()
		}
		if err != nil {
			return false, err
		}
	}
	switch {
	case w.again: // the first look counted it
	case w.table.Events:
		w.collision(f)
	default:
		w.tie(f)
	}
	return true, nil
}

func (w *worker) collision(f *fold) {
	w.judge.tally.Repeats += max(0, f.records-1)
	if f.collides && w.check.alike(f.first, f.other) {
		w.names = append(w.names, w.judge.finding(f, Finding{Kind: Collided, Expected: -1, Found: -1, from: []origin{f.first, f.other},
			Reason: "two different events have this key, and one hides the other"}))
	}
}

// alike reports whether two records of a source had the same reading: otherwise one event may have become two things.
func (c *Check) alike(a, b origin) bool {
	e := c.opts.Sources[a.source].Eras
	first, _ := e.At(a.partition, a.offset)
	second, _ := e.At(b.partition, b.offset)
	return first == second
}

// get judges the keys that have entries, with their rows, which it reads by their keys.
func (w *worker) get() error {
	var folds []*fold
	n := 0 // folds that wait for their rows
	for {
		if n == len(folds) {
			folds = append(folds, new(fold))
		}
		f := folds[n]
		more, err := w.fold(f)
		if err != nil {
			return err
		}
		if more && (f.must || f.probed) {
			n++
		}
		if n == keysPerGet || n > 0 && !more {
			if err := w.ask(folds[:n]); err != nil {
				return err
			}
			n = 0
		}
		if !more {
			return nil
		}
	}
}

// ask gets the rows of all folds, and judges them.
func (w *worker) ask(folds []*fold) error {
	keys := make([][]byte, len(folds))
	for i, f := range folds {
		keys[i] = f.key
	}
	rows, err := w.table.Store.Get(w.ctx, keys)
	if err != nil {
		return err
	}
	for i, f := range folds {
		w.compare(f, rows[i])
	}
	return nil
}

// scan judges all rows of the shard in the sample, and the keys that have entries.
func (w *worker) scan() error {
	var f, none fold
	more, err := w.fold(&f)
	if err != nil {
		return err
	}
	for row, err := range w.table.Store.Scan(w.ctx, w.shard.from, w.shard.to) {
		if err != nil {
			return err
		}
		if !w.check.wanted(row.Key) {
			continue
		}
		for more && bytes.Compare(f.key, row.Key) < 0 {
			if more, err = w.meet(&f, nil); err != nil {
				return err
			}
		}
		if more && bytes.Equal(f.key, row.Key) {
			if more, err = w.meet(&f, row.Cells); err != nil {
				return err
			}
			continue
		}
		none.reset(row.Key)
		w.compare(&none, row.Cells)
	}
	for more {
		if more, err = w.meet(&f, nil); err != nil {
			return err
		}
	}
	return nil
}

// meet judges a fold with what the scan has found of its key, and folds the next key.
func (w *worker) meet(f *fold, cells []Cell) (more bool, err error) {
	w.compare(f, cells)
	return w.fold(f)
}

func (w *worker) compare(f *fold, cells []Cell) {
	w.judge.key(f, cells)
	if w.compared++; w.compared == reportEach {
		w.report()
	}
}
