package sink

import (
	"errors"
	"fmt"
	"strings"

	"brine/event"
)

// check makes the event's row keys, and holds its cells against the limit: what it lets pass becomes rows in all tables.
func (d *draft) check(ev *event.Event) *event.Error {
	d.rows = d.rows[:0]
	start := 0
	for n := range d.parts {
		p := &d.parts[n]
		var err error
		if d.rows, err = p.keys.Append(d.rows, ev); err != nil {
			return d.keyError(p, err)
		}
		d.ends[n] = len(d.rows)
		if err := d.checkCells(p, len(d.rows)-start, ev); err != nil {
			return err
		}
		start = d.ends[n]
	}
	return nil
}

// keyValueBytes is what a KeyValue has beside its row, family, qualifier and value: their lengths, the timestamp, the type.
const keyValueBytes = 20

// checkCells refuses a cell that HBase would: its client and its servers count the whole KeyValue.
func (d *draft) checkCells(p *part, row int, ev *event.Event) *event.Error {
	for n := range p.columns {
		c := &p.columns[n]
		most := d.sink.opts.MaxCellBytes - keyValueBytes - row - len(p.families[c.family].name) - len(c.qualifier)
		if size := d.valueBytes(c, ev, most); size > most {
			return d.tooLarge(p, c, d.sink.opts.MaxCellBytes+size-most)
		}
	}
	return nil
}

func (d *draft) tooLarge(p *part, c *column, size int) *event.Error {
	e := &event.Error{Reason: event.TooLarge, Detail: fmt.Sprintf("its cell in table %s has %d bytes; HBase takes %d", p.table.Name, size, d.sink.opts.MaxCellBytes)}
	if c.pack == nil {
		e.Field = fieldPath(d.sink.opts.Schema.Fields[c.field])
		return e
	}
	e.Detail = fmt.Sprintf("the packed cell %s:%s in table %s has %d bytes; HBase takes %d", p.families[c.family].name, c.qualifier, p.table.Name, size, d.sink.opts.MaxCellBytes)
	return e
}

// valueBytes is the length of the column's value; while it is no more than most it may be told as a little more than it is.
func (d *draft) valueBytes(c *column, ev *event.Event, most int) int {
	if c.pack != nil {
		if n := c.pack.Most(ev.Values); n <= most {
			return n
		}
		value, _ := d.cell(c, ev)
		return len(value)
	}
	if v := ev.Values[c.field]; v.Type == event.Text || v.Type == event.Nested {
		return len(v.Text())
	}
	return 8
}

// keyError names the field by its path in the record, and the table.
func (d *draft) keyError(p *part, err error) *event.Error {
	reject := &event.Error{Reason: event.BadKey, Detail: err.Error()}
	if named := (*event.Error)(nil); errors.As(err, &named) {
		*reject = *named
	}
	for _, f := range d.sink.opts.Schema.Fields {
		if f.Name == reject.Field {
			reject.Field = fieldPath(f)
			break
		}
	}
	reject.Detail = strings.TrimPrefix(reject.Detail+" (key of table "+p.table.Name+")", " ")
	return reject
}

func fieldPath(f event.Field) string {
	if len(f.Path) == 0 {
		return f.Name
	}
	return strings.Join(f.Path, ".")
}
