package sink

import (
	"slices"
	"time"

	"brine/event"
	"brine/hbase"
)

// draft holds the mutations of one flight in reusable buffers. It belongs to the goroutine that submits, then to the flight until that is
// done.
type draft struct {
	sink     *Sink
	parts    []part // by target
	rejected []event.Failure

	// Of the current event:
	rows    []byte // its row keys, concatenated, by part; then those of the rows that it leaves, by part
	ends    []int  // the end of each key in rows
	cells   []cell // by part
	value   []byte // the cells that are not slices of the record, concatenated
	members event.Members
}

// part holds the mutations of one entry.
type part struct {
	*target
	makers []keyMaker // by table.Keys
	rows   span       // of the current event, in draft.ends
	left   span       // the rows that the current event leaves
	cells  span       // of the current event, in draft.cells
	act    act        // what the current event does to its rows

	into   *part // the first entry of the same table, which takes the mutations of all its entries, in the order of the events
	batch  *hbase.Batch
	events []source // by mutation
	wrote  []uint64 // by mutation: the set of families it has cells in
	ends   []int    // by mutation: the size of the batch up to and including it; only if the table counts buckets
	spread []Bucket // of the settled flight; empty unless the table counts buckets

	flight Flight // nil if there is no mutation
	errs   []hbase.MutationError
	done   bool

	// For a flight that has stalled; see pending.go.
	from   []int32  // by mutation: its index in the submitted batch
	before []uint64 // the sets of families of the mutations that were durable at that point
}

// source is what a mutation comes from: a write, numbered as in event.Rest, of the event at an index of the submitted batch.
type source struct{ event, write int32 }

// draft returns an empty draft.
func (s *Sink) draft() *draft {
	if d, ok := s.drafts.Get().(*draft); ok {
		return d
	}
	d := &draft{sink: s, parts: make([]part, len(s.targets))}
	for i, t := range s.targets {
		d.parts[i] = part{target: t, makers: t.makers(), batch: hbase.NewBatch(t.table.Name), spread: make([]Bucket, s.counted(t))}
		d.parts[i].into = &d.parts[slices.IndexFunc(d.parts, func(p part) bool { return p.shared == t.shared })]
	}
	return d
}

// release empties the draft for the next flight. The client must no longer use its batches.
func (d *draft) release() {
	d.reset()
	d.sink.drafts.Put(d)
}

// reset empties the draft.
func (d *draft) reset() {
	d.rejected = nil // which now belongs to the flight or the caller
	for i := range d.parts {
		p := &d.parts[i]
		p.batch.Reset(p.table.Name)
		p.events, p.wrote, p.ends = p.events[:0], p.wrote[:0], p.ends[:0]
		p.flight, p.errs, p.done = nil, nil, false
		for n := range p.makers {
			p.makers[n].keyed.Record = nil
		}
	}
}

// add makes the mutations of the event at index i, or of its rest, or rejects it whole.
func (d *draft) add(i int, ev *event.Event, now time.Time) {
	if ev.LeftOut != "" {
		return
	}
	if err := d.check(ev); err != nil {
		d.rejected = append(d.rejected, event.Failure{Index: i, Verdict: event.Reject, Reason: err.Reason, Err: err})
		return
	}
	of := source{event: int32(i)}
	for n := range d.parts {
		p := &d.parts[n]
		if p.act == writes && p.hard && p.deletes(ev) {
			p.act = deletes
		}
		for k := p.rows.from; k < p.rows.to && p.act != passes; k++ {
			switch {
			case !ev.Rest.Has(int(of.write)):
			case p.act == deletes:
				d.remove(p, of, ev, d.row(k))
			default:
				d.mutate(p, of, ev, d.row(k), now)
			}
			of.write++
		}
		for k := p.left.from; k < p.left.to; k++ {
			if ev.Rest.Has(int(of.write)) {
				d.remove(p, of, ev, d.row(k))
			}
			of.write++
		}
	}
}

// row returns key k of the current event.
func (d *draft) row(k int) []byte {
	start := 0
	if k > 0 {
		start = d.ends[k-1]
	}
	return d.rows[start:d.ends[k]]
}

// mutate adds one row of an event to the batch of its table.
func (d *draft) mutate(p *part, of source, ev *event.Event, row []byte, now time.Time) {
	batch := p.into.batch
	batch.Mutate(row)
	seen := p.seen.row(row)
	var wrote uint64
	if p.nulls == NullsReplace && ev.Version > 0 { // otherwise nothing is older
		for _, f := range p.families {
			batch.Delete(hbase.DeleteFamily, f.name, nil, ev.Version-1)
		}
	}
	nulls := ev.Version
	if p.nulls == NullsDelete && p.mark >= 0 && p.deletes(ev) {
		nulls-- // a change of this version that is applied later, and so unmarks the row, keeps its columns
	}
	for n := p.cells.from; n < p.cells.to; n++ {
		c := &d.cells[n]
		if c.null {
			if nulls >= 0 { // otherwise nothing is older
				batch.Delete(hbase.DeleteColumn, p.families[c.family].name, c.qualifier, nulls)
			}
			continue
		}
		f := p.families[c.family]
		batch.Put(f.name, c.qualifier, ev.Version, c.value)
		wrote |= 1 << f.bit
		if !p.entity {
			seen.add(c.id, c.value)
		} else if first, ties := p.seen.tie(seen, c.id, ev.Version, c.value, placeOf(ev.Record)); ties {
			d.tied(p, TieInfo{Row: row, Family: f.name, Qualifier: c.qualifier}, ev, first)
		}
	}
	if wrote == 0 {
		f := p.families[p.marked()]
		batch.Put(f.name, nil, ev.Version, nil)
		wrote = 1 << f.bit
	}
	if p.hard {
		d.living(p, seen, row, ev, true)
	}
	ttl := p.ttl.of(ev)
	batch.TTL(ttl)
	p.into.mutated(of, wrote)
	if !p.entity && p.seen.collision(seen, ev.Version) {
		d.sink.opts.Hooks.Collision(CollisionInfo{p.table.Name, row})
	}
	d.expired(p, wrote, ttl, ev, now)
}

// mutated records that the batch has one more mutation.
func (p *part) mutated(of source, wrote uint64) {
	p.events = append(p.events, of)
	p.wrote = append(p.wrote, wrote)
	if len(p.spread) > 0 {
		p.ends = append(p.ends, p.batch.Bytes())
	}
}

// expired reports to the hook each family in which the event is hidden as soon as it is written. This is an estimate: the server's clock
// decides.
func (d *draft) expired(p *part, wrote uint64, ttl int64, ev *event.Event, now time.Time) {
	over := func(ms int64) bool { return ms > 0 && ev.Version < now.UnixMilli()-ms }
	for _, f := range p.families {
		if wrote&(1<<f.bit) != 0 && (over(f.ttl.Milliseconds()) || over(ttl)) {
			d.sink.opts.Hooks.Expired(ExpiredInfo{p.table.Name, string(f.name), ev.Record})
		}
	}
}
