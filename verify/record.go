package verify

import (
	"fmt"

	"brine/event"
	"brine/hbase"
	"brine/indexer"
	"brine/sink"
)

// rowRecorder makes mutations as the sink does.
type rowRecorder struct {
	opts    *Options
	preview *sink.Preview
	made    changes
	name    []byte
	cells   []hbase.Cell
}

func newRowRecorder(opts *Options, o *sink.Options) (*rowRecorder, error) {
	alone := *o
	alone.Hooks = sink.Hooks{}
	preview, err := sink.NewPreview(alone)
	return &rowRecorder{opts: opts, preview: preview}, err
}

func (r *rowRecorder) record(events []event.Event, each func(i int, c *changes)) (failures []event.Failure, err error) {
	failures = r.preview.Mutations(events, func(rows *hbase.Batch, of []int) {
		if err == nil {
			err = r.table(rows, of, each)
		}
	})
	return failures, err
}

// table calls each with the changes of one table.
func (r *rowRecorder) table(rows *hbase.Batch, of []int, each func(i int, c *changes)) error {
	table := r.opts.table(rows.Table(), false)
	if table < 0 {
		return fmt.Errorf("verify: table %s is written, but is not among the tables", rows.Table())
	}
	for n := 0; n < len(of); {
		c := &r.made
		c.reset()
		i := of[n]
		for ; n < len(of) && of[n] == i; n++ {
			ch := change{table: table, key: c.keep(rows.Row(n))}
			ch.ops.from = len(c.buf)
			r.cells = rows.AppendCells(r.cells[:0], n)
			for _, cell := range r.cells {
				if err := r.add(cell, rows.TTLOf(n)); err != nil {
					return err
				}
			}
			ch.ops.to = len(c.buf)
			c.list = append(c.list, ch)
		}
		each(i, c)
	}
	return nil
}

func (c *changes) keep(b []byte) span {
	from := len(c.buf)
	c.buf = append(c.buf, b...)
	return span{from, len(c.buf)}
}

func (r *rowRecorder) add(c hbase.Cell, ttl int64) error {
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
		return fmt.Errorf("verify: what a delete of type %d leaves depends on the order of writes, so it cannot be verified", c.Type)
	}
	r.made.buf = appendOp(r.made.buf, o)
	return nil
}

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

func (r *documentRecorder) record(events []event.Event, each func(i int, c *changes)) (failures []event.Failure, err error) {
	for i := range events {
		r.made.reset()
		if failure := r.preview.Changes(&events[i], func(d indexer.Change) { r.add(&d, events[i].Version) }); failure != nil {
			failure.Index = i
			failures = append(failures, *failure)
			continue
		}
		each(i, &r.made)
	}
	return failures, nil
}

func (r *documentRecorder) add(d *indexer.Change, version int64) {
	c := &r.made
	ch := change{table: r.opts.table(d.Index, true), key: c.keep(d.ID)}
	ch.ops.from = len(c.buf)
	if d.Whole {
		c.buf = appendOp(c.buf, op{kind: replace, version: version})
	}
	for _, f := range d.Fields {
		r.name = append(append(r.name[:0], ':'), f.Name...)
		c.buf = appendOp(c.buf, op{kind: put, column: r.name, version: f.Version, value: hash(f.JSON)})
	}
	ch.ops.to = len(c.buf)
	c.list = append(c.list, ch)
}
