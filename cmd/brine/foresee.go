package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"brine/config"
	"brine/event"
	"brine/plan"
	"brine/rowkey"
	"brine/sink"
)

// foreseer takes records of a pipeline for one of its tables and counts. Workers have one each, merged at the end.
type foreseer struct {
	out     foresight
	schema  event.Schema
	decoder *event.Decoder
	lookup  []int // the fields that are looked up when a record lacks them
	rows    *sink.Preview
	now     time.Time
	tally   *plan.Tally
	pairs   *plan.Pairs // not nil in the second reading
	batch   event.Batch
}

// foreseers makes one for each pipeline and each table that it writes.
func foreseers(cfg *config.Config, now time.Time, pipelines ...string) ([]*foreseer, error) {
	var out []*foreseer
	for _, p := range cfg.Pipelines {
		if len(pipelines) > 0 && !slices.Contains(pipelines, p.Name) {
			continue
		}
		seen := map[string]bool{}
		for _, r := range p.Rows {
			if seen[r.Table] {
				continue
			}
			seen[r.Table] = true
			f, err := newForeseer(cfg, p, r.Table, now)
			if err != nil {
				return nil, usage(err)
			}
			out = append(out, f)
		}
	}
	return out, nil
}

func newForeseer(cfg *config.Config, p *config.Pipeline, table string, now time.Time) (*foreseer, error) {
	t := cfg.Table(table)
	splits, err := t.SplitPoints()
	if err != nil {
		return nil, err
	}
	rows, err := sink.NewPreview(newestKeys(p.Sink())) // of all its tables: an event that one of them refuses has no row in any
	if err != nil {
		return nil, err
	}
	planned := plan.Table{Name: t.Name, Key: t.RowKeys().Newest(), EventRows: t.Row == "event", Splits: splits}
	for _, f := range t.Families {
		planned.Families = append(planned.Families, plan.Family{Name: f.Name, Codec: f.Compression, BlockSize: int(f.BlockSize)})
	}
	schema := p.Schema()
	var lookup []int
	if o, ok := p.Lookup(); ok {
		for _, f := range o.Fields {
			lookup = append(lookup, slices.IndexFunc(schema.Fields, func(s event.Field) bool { return s.Name == f.Name }))
		}
	}
	return &foreseer{
		out:    foresight{Pipeline: p.Name, Table: t.Name, Rejected: map[string]rejected{}, Expired: map[string]int{}, table: t},
		schema: schema, decoder: event.NewDecoder(schema), lookup: lookup, rows: rows, now: now, tally: plan.NewTally(planned),
	}, nil
}

// newestKeys gives every event the key of new ones, whatever its version: what is foreseen is what is written from now on, and a sample
// stands for it.
func newestKeys(o sink.Options) sink.Options {
	for i := range o.Rows {
		o.Rows[i].Table.Keys = rowkey.One(o.Rows[i].Table.Keys.Newest())
	}
	return o
}

// add takes the record at a place of the sample; measure says whether its cells are to be measured.
func (f *foreseer) add(at int64, rec *event.Record, measure bool) {
	f.decoder.Reset(&f.batch)
	f.out.Records++
	if err := f.decoder.Decode(rec, &f.batch); err != nil {
		f.reject(at, err)
		return
	}
	ev := &f.batch.Events[0]
	if slices.ContainsFunc(f.lookup, func(field int) bool { return ev.Values[field].Null() }) {
		f.out.LookedUp++
		return
	}
	err := f.rows.Rows(ev, func(table string, row []byte, cells func() []sink.Cell) {
		if table != f.out.Table {
			return
		}
		if f.pairs != nil {
			f.pairs.Add(at, row, rec.Value)
			return
		}
		f.tally.Add(at, row, rec.Value)
		if measure {
			f.tally.AddCells(at, row, ev.Version, planned(cells()))
		}
	})
	if err != nil {
		f.reject(at, err)
		return
	}
	for i := range f.out.table.Families {
		if family := &f.out.table.Families[i]; f.pairs == nil && family.TTL > 0 && ev.Version < f.now.Add(-family.TTL).UnixMilli() {
			f.out.Expired[family.Name]++
		}
	}
}

func planned(cells []sink.Cell) []plan.Cell {
	out := make([]plan.Cell, len(cells))
	for i, c := range cells {
		out[i] = plan.Cell(c)
	}
	return out
}

func (f *foreseer) reject(at int64, err error) {
	reason := string(event.Unknown)
	if fault, ok := errors.AsType[*event.Error](err); ok {
		reason = string(fault.Reason)
	}
	f.out.Rejected[reason] = f.out.Rejected[reason].and(rejected{Records: 1, First: err.Error(), at: at})
}

func (f *foreseer) merge(o *foreseer) {
	f.out.Records += o.out.Records
	f.out.LookedUp += o.out.LookedUp
	for reason, r := range o.out.Rejected {
		f.out.Rejected[reason] = f.out.Rejected[reason].and(r)
	}
	for family, n := range o.out.Expired {
		f.out.Expired[family] += n
	}
	f.tally.Merge(o.tally)
	if f.pairs != nil {
		f.pairs.Merge(o.pairs)
	}
}

// result is what was foreseen of all records taken; regions is for how many a split is proposed, 0 for as many as there are.
func (f *foreseer) result(regions int) (foresight, error) {
	var err error
	f.out.Forecast, err = f.tally.Forecast(regions)
	return f.out, err
}

// fixCollision names a field that tells the first two events that collide apart.
func (f *foreseer) fixCollision(out *foresight) {
	i := slices.IndexFunc(out.Advice, func(a plan.Advice) bool { return a.Rule == "collision" })
	if i < 0 || len(out.Collided) == 0 {
		return
	}
	key := f.out.table.RowKeys().Newest()
	var in, absent []string
	for _, name := range f.differing(out.Collided[0].Events) {
		if slices.Contains(key.Fields(), name) {
			in = append(in, name)
		} else {
			absent = append(absent, name)
		}
	}
	switch {
	case len(in) > 0:
		out.Advice[i].Fix = fmt.Sprintf("they differ in %s, which the key holds too coarsely: hold it whole, such as a time in ms", strings.Join(in, ", "))
	case len(absent) > 0:
		out.Advice[i].Fix = fmt.Sprintf("they differ in %s; write key: %s + \"|\" + %s", strings.Join(absent, ", "), key, absent[0])
	default:
		out.Advice[i].Fix = "they differ in no declared field: declare one that tells them apart, and add it to the key"
	}
}

// differing names the declared fields in which two events differ.
func (f *foreseer) differing(events []plan.PlacedEvent) (names []string) {
	f.decoder.Reset(&f.batch)
	for _, e := range events {
		if err := f.decoder.Decode(&event.Record{Value: []byte(e.Text), Timestamp: f.now.UnixMilli()}, &f.batch); err != nil {
			return nil // it was decoded before
		}
	}
	a, b := f.batch.Events[0].Values, f.batch.Events[1].Values
	for i := range a {
		if a[i].Type != b[i].Type || !bytes.Equal(event.AppendValue(nil, a[i]), event.AppendValue(nil, b[i])) {
			names = append(names, f.schema.Fields[i].Name)
		}
	}
	return names
}
