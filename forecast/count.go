package forecast

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"brine/event"
	"brine/plan"
	"brine/rowkey"
	"brine/sink"
)

// Target is a table that a pipeline writes.
type Target struct {
	Pipeline string
	Schema   event.Schema
	Lookup   []string     // fields that are looked up if a record lacks them
	Rows     sink.Options // of all tables that the pipeline writes: an event that one of them refuses has no row in any
	Table    plan.Table
	TTL      map[string]time.Duration // by family; missing: forever
}

// counter counts what becomes of records in one target. Workers have one each, merged at the end.
type counter struct {
	target  *Target
	out     Report
	decoder *event.Decoder
	lookup  []int             // indexes of Target.Lookup in the schema
	when    []event.Condition // of the table
	rows    *sink.Preview
	now     time.Time
	tally   *plan.Tally
	pairs   *plan.Pairs // not nil in the second reading
	batch   event.Batch
}

func newCounter(t *Target, now time.Time) (*counter, error) {
	rows, err := sink.NewPreview(newestKeys(t.Rows))
	if err != nil {
		return nil, err
	}
	c := &counter{
		target: t, decoder: event.NewDecoder(t.Schema), rows: rows, now: now, tally: plan.NewTally(t.Table),
		out: Report{Pipeline: t.Pipeline, Table: t.Table.Name, Rejected: map[string]Rejected{}, Expired: map[string]int{},
			LeftOut: map[string]int64{}, target: t},
	}
	c.when = slices.DeleteFunc(t.Rows.Conditions(), func(c event.Condition) bool { return c.Of != t.Table.Name })
	for _, name := range t.Lookup {
		c.lookup = append(c.lookup, slices.IndexFunc(t.Schema.Fields, func(f event.Field) bool { return f.Name == name }))
	}
	return c, nil
}

// newestKeys gives every event the key of new ones, whatever its version: a forecast is about future writes, which the sample represents.
func newestKeys(o sink.Options) sink.Options {
	o.Rows = slices.Clone(o.Rows)
	for i := range o.Rows {
		o.Rows[i].Table.Keys = rowkey.One(o.Rows[i].Table.Keys.Newest())
	}
	return o
}

// add counts the record at a place of the sample, and measures its cells if measure.
func (c *counter) add(ctx context.Context, at int64, rec *event.Record, measure bool) error {
	c.decoder.Reset(&c.batch)
	if err := c.resolve(ctx, rec); err != nil {
		return err
	}
	c.out.Records++
	if err := c.decoder.Decode(rec, &c.batch); err != nil {
		c.reject(at, err)
		return nil
	}
	for i := range c.batch.Events {
		c.event(at, rec, &c.batch.Events[i], measure)
	}
	return nil
}

// resolve waits until the record can be decoded.
func (c *counter) resolve(ctx context.Context, rec *event.Record) error {
	err := c.decoder.ResolveSoon(ctx, rec)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("a record of the sample cannot be decoded (topic %s, partition %d, offset %d): %w",
		rec.Topic, rec.Partition, rec.Offset, err)
}

// event counts one event of the record at a place of the sample.
func (c *counter) event(at int64, rec *event.Record, ev *event.Event, measure bool) {
	if ev.LeftOut != "" {
		c.out.LeftOut[string(ev.LeftOut)]++
		return
	}
	for _, when := range c.when {
		if when.Fails(ev) {
			c.out.Filtered++
		}
	}
	if slices.ContainsFunc(c.lookup, func(field int) bool { return ev.Values[field].Null() }) {
		c.out.LookedUp++
		return
	}
	err := c.rows.Rows(ev, func(table string, row []byte, cells func() []sink.Cell) {
		if table != c.out.Table {
			return
		}
		if c.pairs != nil {
			c.pairs.Add(at, row, rec.Value)
			return
		}
		c.tally.Add(at, row, rec.Value)
		if measure {
			c.tally.AddCells(at, row, ev.Version, planned(cells()))
		}
	})
	if err != nil {
		c.reject(at, err)
		return
	}
	for family, ttl := range c.target.TTL {
		if ev.Version < c.now.Add(-ttl).UnixMilli() {
			c.out.Expired[family]++
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

func (c *counter) reject(at int64, err error) {
	err = c.target.Schema.Hide(err)
	reason := string(event.Unknown)
	if fault, ok := errors.AsType[*event.Error](err); ok {
		reason = string(fault.Reason)
	}
	c.out.Rejected[reason] = c.out.Rejected[reason].plus(Rejected{Records: 1, First: err.Error(), at: at})
}

func (c *counter) merge(o *counter) {
	c.out.Records += o.out.Records
	c.out.LookedUp += o.out.LookedUp
	c.out.Filtered += o.out.Filtered
	for reason, n := range o.out.LeftOut {
		c.out.LeftOut[reason] += n
	}
	for reason, r := range o.out.Rejected {
		c.out.Rejected[reason] = c.out.Rejected[reason].plus(r)
	}
	for family, n := range o.out.Expired {
		c.out.Expired[family] += n
	}
	c.tally.Merge(o.tally)
	if c.pairs != nil {
		c.pairs.Merge(o.pairs)
	}
}

// report returns the counts, with a proposed split into regions.
func (c *counter) report(sample Sample, regions int) (Report, error) {
	var err error
	c.out.sample = sample
	for reason, r := range c.out.Rejected {
		r.Place = sample.describe(r.at)
		c.out.Rejected[reason] = r
	}
	c.out.Forecast, err = c.tally.Forecast(regions)
	return c.out, err
}

// fixCollision adds to the advice a field in which the first two events that collide differ.
func (c *counter) fixCollision(out *Report) {
	i := slices.IndexFunc(out.Advice, func(a plan.Advice) bool { return a.Rule == CollisionRule })
	if i < 0 || len(out.Collided) == 0 {
		return
	}
	key := c.target.Table.Key
	var in, absent []string
	for _, name := range c.differing(out.Collided[0].Events) {
		if slices.Contains(key.Fields(), name) {
			in = append(in, name)
		} else {
			absent = append(absent, name)
		}
	}
	switch {
	case len(in) > 0:
		out.Advice[i].Fix = fmt.Sprintf("they differ in %s, which the key holds too coarsely: use its full precision, such as a time in ms",
			strings.Join(in, ", "))
	case len(absent) > 0:
		out.Advice[i].Fix = fmt.Sprintf("they differ in %s; write key: %s + \"|\" + %s", strings.Join(absent, ", "), key, absent[0])
	default:
		out.Advice[i].Fix = "they differ in no declared field: declare one that tells them apart, and add it to the key"
	}
}

// differing returns the names of the declared fields in which two events differ.
func (c *counter) differing(events []plan.PlacedEvent) (names []string) {
	c.decoder.Reset(&c.batch)
	for _, e := range events {
		if err := c.decoder.Decode(&event.Record{Value: []byte(e.Text), Timestamp: c.now.UnixMilli()}, &c.batch); err != nil {
			return nil // it was decoded before
		}
	}
	a, b := c.batch.Events[0].Values, c.batch.Events[1].Values
	for i := range a {
		if a[i].Type != b[i].Type || !bytes.Equal(event.AppendValue(nil, a[i]), event.AppendValue(nil, b[i])) {
			names = append(names, c.target.Schema.Fields[i].Name)
		}
	}
	return names
}
