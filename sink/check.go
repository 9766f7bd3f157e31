package sink

import (
	"errors"
	"fmt"
	"strings"

	"brine/event"
)

// cell is one cell of the current event, in one of its entries.
type cell struct {
	family           int // in target.families
	qualifier, value []byte
	id               uint64 // column.id
	pack             bool
	field            int  // the field that fills it, in the schema; -1: several fields, or a member
	null             bool // it has no value, and older values of its column are deleted
}

// span is a part of one of the draft's lists.
type span struct{ from, to int }

// check makes the event's row keys and cells, and checks the cells against the limit. An event that passes becomes rows in all tables.
func (d *draft) check(ev *event.Event) *event.Error {
	d.rows, d.ends, d.cells, d.value = d.rows[:0], d.ends[:0], d.cells[:0], d.value[:0]
	d.members.Reset()
	for n := range d.parts {
		p := &d.parts[n]
		start, longest := len(d.rows), 0
		if err := d.makeKeys(p, ev); err != nil {
			return err
		}
		if p.act != writes {
			continue
		}
		for _, end := range d.ends[p.rows.from:] {
			longest, start = max(longest, end-start), end
		}
		if err := d.makeCells(p, ev); err != nil {
			return err
		}
		if err := d.checkCells(p, longest); err != nil {
			return err
		}
	}
	if ev.Former != nil {
		d.leave(ev)
	}
	return nil
}

// makeCells makes the cells that all rows of the event in one table have.
func (d *draft) makeCells(p *part, ev *event.Event) *event.Error {
	p.cells.from = len(d.cells)
	deletes := p.deletes(ev)
	for n := range p.columns {
		c := &p.columns[n]
		if c.members != nil {
			if err := d.addMembers(p, c, ev); err != nil {
				return err
			}
			continue
		}
		value, ok := d.cell(c, ev)
		if !ok && n == p.mark && (p.moves || p.hides) {
			value, ok = isNot, true
		}
		if !ok && c.null != nil && !deletes && (c.pack != nil || !ev.Values[c.field].Unsent()) {
			value, ok = c.null, true
		}
		if ok || p.nulls == NullsDelete {
			d.cells = append(d.cells, cell{family: c.family, qualifier: c.qualifier, id: c.id, value: value, pack: c.pack != nil,
				field: c.field, null: !ok})
		}
	}
	p.cells.to = len(d.cells)
	return nil
}

// cell returns the value of the column's cell for an event, and whether it has one. The value is valid until the next event.
func (d *draft) cell(c *column, ev *event.Event) (value []byte, ok bool) {
	start := len(d.value)
	if c.pack != nil {
		d.value = c.pack.Append(d.value, ev.Values)
		return d.value[start:], len(d.value) > start
	}
	v := ev.Values[c.field]
	if v.Null() || v.Type == event.Text || v.Type == event.Nested || v.Type == event.Bytes {
		return v.Text(), !v.Null()
	}
	d.value = event.AppendValue(d.value, v)
	return d.value[start:], true
}

// keyValueBytes is the size of a KeyValue without its row, family, qualifier and value: their lengths, the timestamp and the type.
const keyValueBytes = 20

// checkCells refuses a cell that HBase would refuse: its client and its servers count the whole KeyValue.
func (d *draft) checkCells(p *part, row int) *event.Error {
	most := d.sink.opts.MaxCellBytes - keyValueBytes - row
	for i := p.cells.from; i < p.cells.to; i++ {
		c := &d.cells[i]
		if over := len(p.families[c.family].name) + len(c.qualifier) + len(c.value) - most; over > 0 {
			return d.tooLarge(p, c, d.sink.opts.MaxCellBytes+over)
		}
	}
	return nil
}

func (d *draft) tooLarge(p *part, c *cell, size int) *event.Error {
	e := &event.Error{Reason: event.TooLarge, Detail: fmt.Sprintf("its cell in table %s has %d bytes; HBase allows %d", p.table.Name, size,
		d.sink.opts.MaxCellBytes)}
	switch {
	case c.pack:
		e.Detail = fmt.Sprintf("the packed cell %s:%s in table %s has %d bytes; HBase allows %d", p.families[c.family].name, c.qualifier,
			p.table.Name, size, d.sink.opts.MaxCellBytes)
	case c.field < 0:
		e.Field = string(c.qualifier)
	default:
		e.Field = fieldPath(d.sink.opts.Schema.Fields[c.field])
	}
	return e
}

// keyError adds the path of the field in the record and the table to an error of the key.
func (d *draft) keyError(p *part, err error) *event.Error {
	reject := &event.Error{Reason: event.BadKey, Detail: err.Error()}
	if named := (*event.Error)(nil); errors.As(err, &named) {
		*reject = *named
	}
	keyed := &p.makers[0] // all have the fields at the same positions
	if i := keyed.position(reject.Field); i >= 0 && reject.Field != "" {
		reject.Field = fieldPath(keyed.schema.Fields[i])
	}
	reject.Detail = strings.TrimPrefix(reject.Detail+" (key of table "+p.table.Name+")", " ")
	return reject
}

func fieldPath(f event.Field) string { return f.Where() }
