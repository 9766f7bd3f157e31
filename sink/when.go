package sink

import (
	"fmt"
	"slices"

	"brine/event"
)

// Conditions returns the conditions of the rows.
func (o *Options) Conditions() []event.Condition {
	var of, fields []string
	for i := range o.Rows {
		of, fields = append(of, o.Rows[i].Table.Name), append(fields, o.Rows[i].When)
	}
	return o.Schema.Conditions(of, fields)
}

// addCondition requires that the target has its removal.
func (t *target) addCondition(rows Rows, schema event.Schema) error {
	t.when, t.hides = -1, rows.Otherwise == Delete
	if rows.When == "" {
		return nil
	}
	t.when = slices.IndexFunc(schema.Fields, func(f event.Field) bool { return f.Name == rows.When })
	switch {
	case t.when < 0:
		return fmt.Errorf("there is no condition %s", rows.When)
	case rows.Otherwise != "" && rows.Otherwise != Skip && rows.Otherwise != Delete:
		return fmt.Errorf("otherwise is %q; write %q or %q", rows.Otherwise, Skip, Delete)
	case t.hides && !t.entity:
		return fmt.Errorf("its rows are events, which are never deleted; write otherwise %s, or row %s", Skip, RowEntity)
	case t.hides && !t.hard && t.mark < 0:
		return fmt.Errorf("no column would mark a deleted row; set one from a bool field and name that field as the deletes' field, or " +
			"delete hard")
	}
	return nil
}

// makeKeys adds the keys of the event's rows in a part, and records whether the event writes, deletes or skips them.
func (d *draft) makeKeys(p *part, ev *event.Event) *event.Error {
	p.left, p.cells, p.act = span{}, span{}, writes
	p.rows = span{len(d.ends), len(d.ends)}
	start := len(d.rows)
	holds, reject := ev.Holds(p.when)
	switch {
	case reject != nil:
		return reject
	case !holds && p.hides:
		p.act = deletes
	case !holds && !p.moves:
		p.act = passes
		return nil
	case !holds:
		p.act = passes // its key shows which row it has not left
	}
	var err error
	if d.rows, d.ends, err = p.appendKeys(d.rows, d.ends, ev); err != nil && holds {
		return d.keyError(p, err)
	} else if err != nil { // an event without a key has made no row
		d.rows, d.ends = d.rows[:start], d.ends[:p.rows.from]
	}
	p.rows.to = len(d.ends)
	return nil
}

// act is what an event does to its rows in a part.
type act uint8

const (
	writes act = iota
	deletes
	passes
)
