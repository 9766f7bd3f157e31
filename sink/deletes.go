package sink

import (
	"bytes"
	"fmt"
	"slices"

	"brine/event"
	"brine/hbase"
)

// removal describes how rows of a target are deleted.
type removal struct {
	hard    bool
	moves   bool   // events can leave rows behind
	deleted int    // the field, in the schema, that marks an event as a delete; -1: none does
	mark    int    // its column, in target.columns; -1: none
	life    uint64 // the id of a virtual column for whether a hard-deleted row exists; see living
}

// The values of a Bool as a cell holds them.
var is, isNot = event.AppendValue(nil, event.BoolValue(true)), event.AppendValue(nil, event.BoolValue(false))

// newRemoval requires that the target has its columns.
func (t *target) newRemoval(d Deletes, schema event.Schema) (removal, error) {
	r := removal{hard: d.Hard, moves: t.entity && len(schema.Images.Before) > 0, deleted: -1, mark: -1, life: t.seen.column("", nil)}
	if d.Field != "" {
		r.deleted = slices.IndexFunc(schema.Fields, func(f event.Field) bool { return f.Name == d.Field })
		switch {
		case r.deleted < 0:
			return r, fmt.Errorf("field %q, which says that an event is a delete, is not declared; add it to fields", d.Field)
		case schema.Fields[r.deleted].Type != event.Bool:
			return r, fmt.Errorf("field %s, which says that an event is a delete, is declared %s; it must be bool", d.Field,
				schema.Fields[r.deleted].Type)
		}
		r.mark = slices.IndexFunc(t.columns, func(c column) bool { return c.field == r.deleted && c.members == nil })
	}
	switch {
	case r.hard && !t.entity:
		return r, fmt.Errorf("its rows are events, and a delete is just another event; keep them, or write row %s", RowEntity)
	case r.hard && schema.Untimed() != "":
		return r, fmt.Errorf("%s are not timestamps, but HBase orders delete markers by time; mark rows instead", schema.Untimed())
	case !r.hard && r.moves && r.mark < 0:
		return r, fmt.Errorf("a change can leave a row behind, and no column would mark it; set one from a bool field and name that field as " +
			"the deletes' field, or delete hard")
	}
	return r, nil
}

// deletes reports whether the event is a delete.
func (t *target) deletes(ev *event.Event) bool { return t.deleted >= 0 && ev.Values[t.deleted].Bool() }

// marks returns the cell that marks a row as deleted.
func (t *target) marks() Cell {
	c := &t.columns[t.mark]
	return Cell{string(t.families[c.family].name), string(c.qualifier), is}
}

// leave makes the keys of the rows that the event's former values had.
func (d *draft) leave(ev *event.Event) {
	former := event.Event{Record: ev.Record, Version: ev.Version, Values: ev.Former}
	for n := range d.parts {
		p := &d.parts[n]
		p.left = span{len(d.ends), len(d.ends)}
		if held, err := former.Holds(p.when); p.moves && held && err == nil { // otherwise the former values made no row
			d.leaveRows(p, &former)
			p.left.to = len(d.ends)
		}
	}
}

// leaveRows adds the keys of a part's former rows, except those that are still rows of the event: another entry of the table may have such
// a row, and both would be of one version.
func (d *draft) leaveRows(p *part, former *event.Event) {
	first, start := len(d.ends), len(d.rows)
	var err error
	if d.rows, d.ends, err = p.appendKeys(d.rows, d.ends, former); err != nil { // it never had rows
		d.rows, d.ends = d.rows[:start], d.ends[:first]
		return
	}
	kept, end, from := first, start, start
	for k := first; k < len(d.ends); k++ {
		row := d.rows[from:d.ends[k]]
		from = d.ends[k]
		if !d.holds(p.table.Name, row) {
			end += copy(d.rows[end:], row)
			d.ends[kept] = end
			kept++
		}
	}
	d.rows, d.ends = d.rows[:end], d.ends[:kept]
}

// holds reports whether the row is one of the event's.
func (d *draft) holds(table string, row []byte) bool {
	for n := range d.parts {
		p := &d.parts[n]
		for k := p.rows.from; k < p.rows.to && p.table.Name == table; k++ {
			if bytes.Equal(d.row(k), row) {
				return true
			}
		}
	}
	return false
}

// remove adds the mutation that deletes a row.
func (d *draft) remove(p *part, of source, ev *event.Event, row []byte) {
	batch := p.into.batch
	batch.Mutate(row)
	seen := p.seen.row(row)
	var wrote uint64
	if p.hard {
		for _, f := range p.families {
			batch.Delete(hbase.DeleteFamily, f.name, nil, ev.Version)
			wrote |= 1 << f.bit
		}
		d.living(p, seen, row, ev, false)
	} else {
		c := &p.columns[p.mark]
		f := p.families[c.family]
		batch.Put(f.name, c.qualifier, ev.Version, is)
		wrote = 1 << f.bit
		if first, ties := p.seen.tie(seen, c.id, ev.Version, is, placeOf(ev.Record)); ties {
			d.tied(p, TieInfo{Row: row, Family: f.name, Qualifier: c.qualifier}, ev, first)
		}
		batch.TTL(p.ttl.ms) // not the time that the event names: what the marker hides may be kept until another time
	}
	p.into.mutated(of, wrote)
}

// living reports a tie between a change and a delete of the same version. The delete wins, whichever comes last.
func (d *draft) living(p *part, seen sum, row []byte, ev *event.Event, lives bool) {
	value := isNot
	if lives {
		value = is
	}
	if first, ties := p.seen.tie(seen, p.life, ev.Version, value, placeOf(ev.Record)); ties {
		d.tied(p, TieInfo{Row: row}, ev, first)
	}
}

// tied reports to the hook that the event ties with the record at first.
func (d *draft) tied(p *part, t TieInfo, ev *event.Event, first place) {
	t.Table, t.Version, t.Record, t.Partition, t.Offset = p.table.Name, ev.Version, ev.Record, first.partition(), first.offset()
	d.sink.opts.Hooks.Tie(t)
}
