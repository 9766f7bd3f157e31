package verify

import (
	"bytes"
	"context"
	"fmt"
	"iter"
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
	table *Table
	judge judge
	names []Finding // the findings of the judge

	folds []*fold // the folds that wait for their rows; entries go to the last one
	n     int

	pull func() (Row, error, bool) // of a scan; nil: rows are read by key
	row  Row                       // the next row of the scan
	more bool
}

const keysPerGet = 500

func (l *look) shard(ctx context.Context, i int) (err error) {
	c := l.check
	s := &c.shards[i]
	w := &worker{look: l, ctx: ctx, table: &c.opts.Tables[s.table]}
	w.judge = judge{table: w.table, full: c.opts.Full, blind: c.unplaced.Load() > 0, now: c.opts.Now().UnixMilli(),
		out: func(f Finding) { w.names = append(w.names, f) }}
	if l.all {
		next, stop := iter.Pull2(w.table.Store.Scan(ctx, s.from, s.to))
		defer stop()
		w.pull = next
		if err := w.advance(); err != nil {
			return err
		}
	}
	err = c.sorter.each(i, c.opts.Memory/int64(c.opts.Workers), func(key, payload []byte) error {
		l.seen.Add(int64(entryHead + len(key) + len(payload)))
		return w.take(s.table, key, payload)
	})
	if err == nil {
		err = w.finish()
	}
	c.keep(s.table, w, l.again)
	return err
}

// take adds an entry to the fold of its key.
func (w *worker) take(table int, key, payload []byte) error {
	if w.again && !w.check.suspect(table, key) {
		return nil
	}
	e, err := readEntry(payload)
	if err != nil {
		return err
	}
	if w.n == 0 || !bytes.Equal(w.folds[w.n-1].key, key) {
		if err := w.next(key); err != nil {
			return err
		}
	}
	return w.folds[w.n-1].add(e)
}

// next begins the fold of another key.
func (w *worker) next(key []byte) error {
	if w.n > 0 {
		if err := w.folded(); err != nil {
			return err
		}
	}
	if w.n == len(w.folds) {
		w.folds = append(w.folds, new(fold))
	}
	w.folds[w.n].reset(key)
	w.n++
	return nil
}

// folded processes the last fold, which is complete.
func (w *worker) folded() error {
	f := w.folds[w.n-1]
	switch {
	case w.again: // the first look counted it
	case w.table.Events:
		w.collision(f)
	default:
		w.tie(f)
	}
	switch {
	case w.pull != nil:
		w.n = 0
		return w.meet(f)
	case !f.must && !f.probed:
		w.n--
		return nil
	case w.n == keysPerGet:
		return w.ask()
	}
	return nil
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

// ask gets the rows of all folds, and judges them.
func (w *worker) ask() error {
	keys := make([][]byte, w.n)
	for i, f := range w.folds[:w.n] {
		keys[i] = f.key
	}
	rows, err := w.table.Store.Get(w.ctx, keys)
	if err != nil {
		return err
	}
	for i, f := range w.folds[:w.n] {
		w.judge.key(f, rows[i])
	}
	w.check.opts.Hooks.Compared(ComparedInfo{w.table.Name, w.n})
	w.n = 0
	return nil
}

// advance moves to the scan's next row in the sample.
func (w *worker) advance() error {
	for {
		row, err, more := w.pull()
		if err != nil {
			return err
		}
		w.row, w.more = row, more
		if !more || w.check.wanted(row.Key) {
			return nil
		}
	}
}

// meet judges the scan's rows up to the fold's key, and the fold.
func (w *worker) meet(f *fold) error {
	if err := w.extras(f.key); err != nil {
		return err
	}
	w.check.opts.Hooks.Compared(ComparedInfo{w.table.Name, 1})
	if !w.more || !bytes.Equal(w.row.Key, f.key) {
		w.judge.key(f, nil)
		return nil
	}
	w.judge.key(f, w.row.Cells)
	return w.advance()
}

// extras judges the rows before a key (nil: all), for which there is no entry.
func (w *worker) extras(before []byte) error {
	var none fold
	for w.more && (before == nil || bytes.Compare(w.row.Key, before) < 0) {
		none.reset(w.row.Key)
		w.judge.key(&none, w.row.Cells)
		w.check.opts.Hooks.Compared(ComparedInfo{w.table.Name, 1})
		if err := w.advance(); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) finish() error {
	if w.n > 0 {
		if err := w.folded(); err != nil {
			return err
		}
	}
	if w.pull != nil {
		return w.extras(nil)
	}
	if w.n > 0 {
		return w.ask()
	}
	return nil
}
