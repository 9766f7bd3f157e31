package sink

import (
	"time"

	"brine/event"
	"brine/hbase"
	"brine/rowkey/eventkey"
)

// draft is the mutations of one flight, in buffers that the next one uses again. It belongs to the goroutine that submits,
// then to the flight until it is done.
type draft struct {
	sink     *Sink
	parts    []part // by target
	rejected []event.Failure

	rows  []byte // row keys of the current event, one after another
	ends  []int  // of each in rows
	value []byte // of the current cell
}

// part is the mutations of one table.
type part struct {
	*target
	keys   *eventkey.Encoder
	batch  *hbase.Batch
	events []int    // by mutation: the event's position in the batch
	wrote  []uint64 // by mutation: the set of families it has cells in
	ends   []int    // by mutation: the size of the batch with it; only where the table counts buckets
	spread []Bucket // of the flight that is settled; empty where the table does not count buckets

	flight Flight // nil when there is no mutation
	errs   []hbase.MutationError
	done   bool
}

// draft takes an empty draft.
func (s *Sink) draft() *draft {
	if d, ok := s.drafts.Get().(*draft); ok {
		return d
	}
	d := &draft{sink: s, parts: make([]part, len(s.targets)), ends: make([]int, len(s.targets))}
	for i, t := range s.targets {
		keys, err := eventkey.New(t.table.Key, s.opts.Schema)
		if err != nil {
			panic("BUG: sink: a checked key does not bind: " + err.Error())
		}
		d.parts[i] = part{target: t, keys: keys, batch: hbase.NewBatch(t.table.Name), spread: make([]Bucket, s.counted(t))}
	}
	return d
}

// release empties the draft for the next flight. The client must be done with its batches.
func (d *draft) release() {
	d.rejected = nil // the flight's now
	for i := range d.parts {
		p := &d.parts[i]
		p.batch.Reset(p.table.Name)
		p.events, p.wrote, p.ends = p.events[:0], p.wrote[:0], p.ends[:0]
		p.flight, p.errs, p.done = nil, nil, false
	}
	d.sink.drafts.Put(d)
}

// add makes the mutations of event number i, or rejects it whole.
func (d *draft) add(i int, ev *event.Event, now time.Time) {
	if err := d.check(ev); err != nil {
		d.rejected = append(d.rejected, event.Failure{Index: i, Verdict: event.Reject, Reason: err.Reason, Err: err})
		return
	}
	start := 0
	for n := range d.parts {
		d.mutate(&d.parts[n], i, ev, d.rows[start:d.ends[n]], now)
		start = d.ends[n]
	}
}

// mutate adds the row of one event to one table's batch.
func (d *draft) mutate(p *part, i int, ev *event.Event, row []byte, now time.Time) {
	hooks := &d.sink.opts.Hooks
	p.batch.Mutate(row)
	seen := p.seen.row(row)
	var wrote uint64
	if p.nulls == NullsReplace && ev.Version > 0 { // else nothing is older
		for _, f := range p.families {
			p.batch.Delete(hbase.DeleteFamily, f.name, nil, ev.Version-1)
		}
	}
	for n := range p.columns {
		c := &p.columns[n]
		value, ok := d.cell(c, ev)
		if !ok {
			if p.nulls == NullsDelete {
				p.batch.Delete(hbase.DeleteColumn, p.families[c.family].name, c.qualifier, ev.Version)
			}
			continue
		}
		p.batch.Put(p.families[c.family].name, c.qualifier, ev.Version, value)
		wrote |= 1 << c.family
		if !p.entity {
			seen.add(n, value)
		} else if p.seen.tie(seen, n, ev.Version, value) && hooks.Tie != nil {
			hooks.Tie(p.table.Name)
		}
	}
	if wrote == 0 {
		p.batch.Put(p.families[p.columns[0].family].name, nil, ev.Version, nil)
		wrote = 1 << p.columns[0].family
	}
	p.events = append(p.events, i)
	p.wrote = append(p.wrote, wrote)
	if len(p.spread) > 0 {
		p.ends = append(p.ends, p.batch.Bytes())
	}
	if !p.entity && p.seen.collision(seen, ev.Version) && hooks.Collision != nil {
		hooks.Collision(p.table.Name, row)
	}
	d.expired(p, wrote, ev, now)
}

// cell gives what the column's cell holds of an event, or that it has none. It lasts until the next call.
func (d *draft) cell(c *column, ev *event.Event) (value []byte, ok bool) {
	if c.pack != nil {
		d.value = c.pack.Append(d.value[:0], ev.Values)
		return d.value, len(d.value) > 0
	}
	v := ev.Values[c.field]
	if v.Null() || v.Type == event.Text || v.Type == event.Nested {
		return v.Text(), !v.Null()
	}
	d.value = event.AppendValue(d.value[:0], v)
	return d.value, true
}

// expired tells the hook of each family that hides the event as it is written. Only the server's clock decides that in the end.
func (d *draft) expired(p *part, wrote uint64, ev *event.Event, now time.Time) {
	if d.sink.opts.Hooks.Expired == nil {
		return
	}
	for n, f := range p.families {
		if f.ttl > 0 && wrote&(1<<n) != 0 && ev.Version < now.Add(-f.ttl).UnixMilli() {
			d.sink.opts.Hooks.Expired(p.table.Name, string(f.name), ev.Record)
		}
	}
}
