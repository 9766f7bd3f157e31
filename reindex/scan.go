package reindex

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"brine/event"
	"brine/hbase"
	"brine/indexer"
	"brine/internal/backoff"
	"brine/rowkey"
)

// The limits of one worker.
const (
	batchRows  = 500
	batchBytes = 512 << 10 // of cells
	window     = 4         // batches being written
	scanBytes  = 1 << 20   // per answer
)

// scanning writes the documents of a source's rows.
type scanning struct {
	run    *Run
	source *Source
	state  *source
	writer *indexer.Writer
	limit  *rate.Limiter
}

// scan writes the documents of all rows of the source's table that are not done yet.
func (r *Run) scan(ctx context.Context, s *Source, at *source, writer *indexer.Writer) error {
	if at.Ranges == nil {
		ranges, err := rangesOf(ctx, r.opts.Client, s.Table)
		if err != nil {
			return err
		}
		r.keeper.update(func(*state) { at.Ranges = ranges })
	}
	sc := &scanning{run: r, source: s, state: at, writer: writer, limit: rate.NewLimiter(rate.Inf, 0)}
	if r.opts.Rate > 0 {
		sc.limit = rate.NewLimiter(rate.Limit(r.opts.Rate), batchRows)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(r.opts.Workers)
	for _, x := range at.Ranges {
		if !x.Done {
			g.Go(func() error { return sc.read(ctx, x) })
		}
	}
	return g.Wait()
}

// batch is a batch of rows in progress, with the events made from them.
type batch struct {
	events event.Batch
	rows   int64
	bytes  int
	last   []byte // row
	flight event.Flight
}

// read reads one range, row by row.
func (s *scanning) read(ctx context.Context, x *rangeState) error {
	recover, err := newRecoverer(s.source)
	if err != nil {
		return err
	}
	var out []*batch // in order
	b := &batch{}
	pass := func() error {
		if err := s.submit(ctx, b); err != nil {
			return err
		}
		out, b = append(out, b), &batch{}
		if len(out) < window {
			return nil
		}
		err := s.settle(ctx, x, out[0])
		out = out[1:]
		return err
	}
	request := hbase.Scan{Start: x.Next, Stop: x.To, Columns: recover.families(), MaxResultBytes: scanBytes, Renew: true}
	for row, err := range s.run.opts.Client.Scan(ctx, s.source.Table, request) {
		if err != nil {
			return err
		}
		if err := s.take(b, recover, row); err != nil {
			return err
		}
		if b.rows < batchRows && b.bytes < batchBytes {
			continue
		}
		if err := pass(); err != nil {
			return err
		}
	}
	if b.rows > 0 {
		if err := pass(); err != nil {
			return err
		}
	}
	for _, b := range out {
		if err := s.settle(ctx, x, b); err != nil {
			return err
		}
	}
	s.run.keeper.update(func(*state) { x.Done = true })
	return s.run.opts.rest("range")
}

// take adds the events of a row to a batch.
func (s *scanning) take(b *batch, r *recoverer, row hbase.Result) (err error) {
	record := &event.Record{Topic: s.source.Table, Key: row.Row, Timestamp: s.run.began.UnixMilli()}
	if b.events.Events, err = r.events(b.events.Events, row, record); err != nil {
		if err := s.run.refuse(fmt.Sprintf("%s: %v", s.place(row.Row), s.source.Documents.Schema.Hide(err))); err != nil {
			return err
		}
	}
	b.rows++
	b.last = row.Row
	for i := range row.Cells {
		b.bytes += len(row.Cells[i].Value) + len(row.Row) + 40
	}
	return nil
}

// place names a row, unless its key has a masked field.
func (s *scanning) place(row []byte) string {
	name, of := rowkey.Binary(row), &s.source.Documents
	if of.Schema.Masks(of.Documents[0].Key.Fields()...) {
		name = event.Hidden
	}
	return fmt.Sprintf("table %s, row %s", s.source.Table, name)
}

func (s *scanning) submit(ctx context.Context, b *batch) error {
	if err := s.limit.WaitN(ctx, int(b.rows)); err != nil {
		return err
	}
	b.flight = s.writer.Submit(ctx, &b.events)
	return nil
}

// settle waits until a batch is durable, except for what the index refuses, which it records.
func (s *scanning) settle(ctx context.Context, x *rangeState, b *batch) error {
	for attempt := 0; ; attempt++ {
		failures, err := event.Settle(ctx, b.flight)
		if err != nil {
			return err
		}
		again, err := s.judge(b, failures)
		if err != nil {
			return err
		}
		if len(again) == 0 {
			break
		}
		s.run.waits(failures[0].Err)
		if err := backoff.Wait(ctx, backoff.Exponential(100*time.Millisecond, 15*time.Second, attempt)); err != nil {
			return err
		}
		b.events.Events = again
		b.flight = s.writer.Submit(ctx, &b.events)
	}
	s.run.waits(nil)
	s.run.keeper.update(func(*state) {
		x.Next = append(b.last[:len(b.last):len(b.last)], 0)
		s.state.Rows += b.rows
	})
	return s.run.opts.rest("batch")
}

// judge returns the events to write again.
func (s *scanning) judge(b *batch, failures []event.Failure) (again []event.Event, err error) {
	for _, f := range failures {
		switch ev := b.events.Events[f.Index]; f.Verdict {
		case event.Retry:
			again = append(again, ev)
		case event.Reject:
			err := s.source.Documents.Schema.Hide(f.Err)
			if err := s.run.refuse(fmt.Sprintf("%s: %s: %v", s.place(ev.Record.Key), f.Reason, err)); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("%s: %w", s.place(ev.Record.Key), f.Err)
		}
	}
	return again, nil
}
