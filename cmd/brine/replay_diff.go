package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"brine/config"
	"brine/event"
	"brine/hbase"
	"brine/ingest"
	"brine/sink"
)

const (
	diffSlices   = 8   // places of each partition that a sample is taken from
	diffRows     = 500 // rows that are read at once
	diffExamples = 10
)

// diff compares a sample of the range with the tables. It writes nothing.
func (c *replayCmd) diff(e *env, cfg *config.Config, p *config.Pipeline, replays []*replay, shown *replayScreen) error {
	i := slices.IndexFunc(replays, func(r *replay) bool { return r.opts.Group == p.RowsGroup() })
	if i < 0 {
		return usage(errors.New("--diff compares rows; the replay writes documents alone"))
	}
	if _, looksUp := p.Lookup(); looksUp {
		return usage(fmt.Errorf("--diff: the pipeline %s looks keys up (key_from), which only writing does; replay --into another table and compare", p.Name))
	}
	r := replays[i]
	cluster, err := openHBase(e.ctx, cfg, cfg.HBase())
	if err != nil {
		return err
	}
	defer cluster.Close()
	d := differ{client: cluster.client, decoder: event.NewDecoder(p.Schema())}
	d.out = replayDiff{Pipeline: r.name, missing: map[string]bool{}, Examples: []diffedCell{}}
	if d.rows, err = sink.NewPreview(p.Sink()); err != nil {
		return usage(err)
	}
	reader := ingest.NewTopicReader(r.opts.Options)
	defer reader.Close()
	if err := d.sample(e.ctx, reader, r, c.Diff); err != nil {
		return fmt.Errorf("--diff: %w", err)
	}
	shown.diff(&d.out)
	return nil
}

// differ takes records and looks up the rows that they would become.
type differ struct {
	client  *hbase.Client
	decoder *event.Decoder
	rows    *sink.Preview
	batch   event.Batch
	pending map[string][]wantedRow // by table
	n       int                    // rows in pending
	out     replayDiff
}

// wantedRow is a row as a record would write it.
type wantedRow struct {
	key     []byte
	version int64
	cells   []sink.Cell
}

// sample takes about n records from all over the plan's range. With keys it looks at n records for those that have one of them.
func (d *differ) sample(ctx context.Context, reader *ingest.TopicReader, r *replay, n int) error {
	total := r.plan.Left()
	for _, part := range r.plan.Partitions {
		share := min(part.Left(), part.Left()*int64(n)/max(1, total)+1)
		pieces := max(1, min(int64(diffSlices), share))
		for i := range pieces {
			from := part.Next + part.Left()*i/pieces
			to := from + share*(i+1)/pieces - share*i/pieces
			for rec, err := range reader.Records(ctx, part.Partition, from, to) {
				if err != nil {
					return err
				}
				if r.opts.Keys != nil && !slices.ContainsFunc(r.opts.Keys, func(key []byte) bool { return bytes.Equal(key, rec.Key) }) {
					continue
				}
				if err := d.add(ctx, rec); err != nil {
					return err
				}
			}
		}
	}
	return d.compare(ctx)
}

// add makes the rows of a record, or counts it as a dead letter to be.
func (d *differ) add(ctx context.Context, rec *event.Record) error {
	d.out.Records++
	d.decoder.Reset(&d.batch)
	err := d.decoder.Decode(rec, &d.batch)
	if err == nil {
		ev := &d.batch.Events[0]
		err = d.rows.Rows(ev, func(table string, key []byte, cells func() []sink.Cell) {
			row := wantedRow{key: bytes.Clone(key), version: ev.Version}
			for _, cell := range cells() {
				cell.Value = bytes.Clone(cell.Value)
				row.cells = append(row.cells, cell)
			}
			if d.pending == nil {
				d.pending = map[string][]wantedRow{}
			}
			d.pending[table] = append(d.pending[table], row)
			d.n++
		})
	}
	if err != nil {
		d.out.Rejected++
	}
	if d.n < diffRows {
		return nil
	}
	return d.compare(ctx)
}

// compare reads the pending rows and counts what differs.
func (d *differ) compare(ctx context.Context) error {
	for _, table := range sortedKeys(d.pending) {
		rows := d.pending[table]
		found, err := d.read(ctx, table, rows)
		if err != nil {
			return err
		}
		for i := range rows {
			d.row(table, &rows[i], found[i].Cells)
		}
	}
	d.pending, d.n = nil, 0
	return nil
}

func (d *differ) read(ctx context.Context, table string, rows []wantedRow) ([]hbase.Result, error) {
	if d.out.missing[table] {
		return make([]hbase.Result, len(rows)), nil
	}
	gets := make([]hbase.Get, len(rows))
	for i := range rows {
		gets[i].Row = rows[i].key
	}
	found, err := d.client.GetAll(ctx, table, gets)
	if errors.Is(err, hbase.ErrNoTable) {
		d.out.missing[table] = true
		return make([]hbase.Result, len(rows)), nil
	}
	return found, err
}

func (d *differ) row(table string, want *wantedRow, found []hbase.Cell) {
	o := &d.out
	o.Rows++
	if len(found) == 0 {
		o.New++
	}
	changed := false
	for _, cell := range want.cells {
		i := slices.IndexFunc(found, func(c hbase.Cell) bool {
			return string(c.Family) == cell.Family && string(c.Qualifier) == cell.Qualifier
		})
		switch {
		case i < 0 && len(found) == 0:
			continue
		case i < 0:
			o.Added++
		case found[i].Timestamp > want.version:
			o.Kept++
			continue
		case found[i].Timestamp < want.version:
			o.Replaced++
		case bytes.Equal(found[i].Value, cell.Value):
			o.Same++
			continue
		default:
			o.Tied++
		}
		changed = true
		if len(o.Examples) < diffExamples {
			o.Examples = append(o.Examples, exampleOf(table, want, cell, found, i))
		}
	}
	if changed {
		o.Changed++
	}
}
