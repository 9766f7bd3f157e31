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
		size := keyValueBytes + row + len(p.families[c.family].name) + len(c.qualifier) + valueBytes(ev.Values[c.field])
		if size > d.sink.opts.MaxCellBytes {
			f := d.sink.opts.Schema.Fields[c.field]
			return &event.Error{Reason: event.TooLarge, Field: fieldPath(f),
				Detail: fmt.Sprintf("its cell in table %s has %d bytes; HBase takes %d", p.table.Name, size, d.sink.opts.MaxCellBytes)}
		}
	}
	return nil
}

// valueBytes is the length of v as a cell holds it, or a little more.
func valueBytes(v event.Value) int {
	if v.Type == event.Text {
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
