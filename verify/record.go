package verify

import (
	"context"
	"fmt"

	"brine/event"
	"brine/hbase"
	"brine/indexer"
	"brine/sink"
)

// rowRecorder is a sink whose client records mutations instead of sending them.
type rowRecorder struct {
	opts *Options
	sink *sink.Sink
	made changes
	err  error
	name []byte
}

func newRowRecorder(opts *Options, o *sink.Options) (*rowRecorder, error) {
	r := &rowRecorder{opts: opts}
	alone := *o
	alone.Hooks = sink.Hooks{}
	var err error
	r.sink, err = sink.New(r, alone)
	return r, err
}

func (r *rowRecorder) changes() *changes { return &r.made }

func (r *rowRecorder) record(ctx context.Context, ev *event.Event) ([]event.Failure, error) {
	one := event.Batch{Events: []event.Event{*ev}}
	failures, err := event.Settle(ctx, r.sink.Submit(ctx, &one))
	if r.err != nil {
		err = r.err
	}
	return failures, err
}

// Release implements sink.Client. It does nothing, because nothing is held back.
func (r *rowRecorder) Release() {}

// Hurry implements sink.Client. It does nothing, because nothing waits.
func (r *rowRecorder) Hurry() {}

// Submit implements sink.Client.
func (r *rowRecorder) Submit(_ context.Context, b *hbase.Batch) sink.Flight {
	table := r.opts.table(b.Table(), false)
	if table < 0 {
		r.err = fmt.Errorf("verify: table %s is written, and is not among the tables", b.Table())
		return written{}
	}
	c := &r.made
	for i := range b.Len() {
		ch := change{table: table, key: c.keep(b.Row(i))}
		ch.ops.from = len(c.buf)
		for cell := range b.Cells(i) {
			r.add(&cell, b.TTLOf(i))
		}
		ch.ops.to = len(c.buf)
		c.list = append(c.list, ch)
	}
	return written{}
}

func (c *changes) keep(b []byte) span {
	from := len(c.buf)
	c.buf = append(c.buf, b...)
	return span{from, len(c.buf)}
}

func (r *rowRecorder) add(c *hbase.Cell, ttl int64) {
	o := op{version: c.Timestamp, ttl: ttl}
	r.name = appendColumn(r.name[:0], c.Family, c.Qualifier)
	o.column = r.name
	switch c.Type {
	case hbase.Put:
		o.kind, o.value = put, hash(c.Value)
	case hbase.DeleteColumn:
		o.kind = deleteColumn
	case hbase.DeleteFamily:
		o.kind, o.column = deleteFamily, r.name[:len(c.Family)]
	default:
		r.err = fmt.Errorf("verify: what a delete of type %d leaves depends on the order of writes, so it cannot be verified", c.Type)
		return
	}
	r.made.buf = appendOp(r.made.buf, o)
}

// written is the flight of mutations that are all recorded.
type written struct{}

func (written) Wait(context.Context) ([]hbase.MutationError, error) { return nil, nil }

func (written) WaitPending(context.Context) (*hbase.Batch, []int32, error) { return nil, nil, nil }

// documentRecorder makes documents as the indexer does.
type documentRecorder struct {
	opts    *Options
	preview *indexer.Preview
	made    changes
	name    []byte
}

func newDocumentRecorder(opts *Options, o *indexer.Options) (*documentRecorder, error) {
	preview, err := indexer.NewPreview(*o)
	return &documentRecorder{opts: opts, preview: preview}, err
}

func (r *documentRecorder) changes() *changes { return &r.made }

func (r *documentRecorder) record(_ context.Context, ev *event.Event) ([]event.Failure, error) {
	failure := r.preview.Changes(ev, func(d indexer.Change) {
		c := &r.made
		ch := change{table: r.opts.table(d.Index, true), key: c.keep(d.ID)}
		ch.ops.from = len(c.buf)
		if d.Whole {
			c.buf = appendOp(c.buf, op{kind: replace, version: ev.Version})
		}
		for _, f := range d.Fields {
			r.name = append(append(r.name[:0], ':'), f.Name...)
			c.buf = appendOp(c.buf, op{kind: put, column: r.name, version: f.Version, value: hash(f.JSON)})
		}
		ch.ops.to = len(c.buf)
		c.list = append(c.list, ch)
	})
	if failure != nil {
		return []event.Failure{*failure}, nil
	}
	return nil, nil
}
