package sink

import (
	"fmt"
	"strings"

	"brine/event"
)

// memberColumns describes columns that are named after the members of an object.
type memberColumns struct {
	except map[string]bool
	limit  int
}

const maxNameBytes = 1 << 10 // of a member; each of its cells repeats the name

// newMembers skips the members that fields hold, and those that the column excepts.
func newMembers(m *Members, fields []event.Field) (*memberColumns, error) {
	if m.Limit < 1 {
		return nil, fmt.Errorf("at most %d members become columns; allow at least one", m.Limit)
	}
	out := &memberColumns{except: map[string]bool{}, limit: m.Limit}
	for _, name := range m.Except {
		out.except[name] = true
	}
	for _, f := range fields {
		if path := f.Keys(); len(path) == 1 && f.OfValue() {
			out.except[path[0]] = true
		}
	}
	return out, nil
}

// addMembers makes a cell of each member of an event's object.
func (d *draft) addMembers(p *part, c *column, ev *event.Event) *event.Error {
	object, field := ev.Record.Value, ""
	if c.field < 0 && object == nil { // a tombstone
		return nil
	}
	if c.field >= 0 {
		v := ev.Values[c.field]
		if v.Null() {
			return nil
		}
		object, field = v.Text(), fieldPath(d.sink.opts.Schema.Fields[c.field])
	}
	first := len(d.cells)
	err := d.members.Read(object, func(name, value []byte) *event.Error {
		if c.members.except[string(name)] {
			return nil
		}
		if err := c.members.check(name, len(d.cells)-first); err != nil {
			return err
		}
		return d.addMember(p, c, name, value)
	})
	if err != nil && field != "" {
		err.Field = strings.TrimSuffix(field+"."+err.Field, ".")
	}
	return err
}

// check refuses a name that cannot be a qualifier, and a column beyond the limit.
func (m *memberColumns) check(name []byte, columns int) *event.Error {
	switch {
	case len(name) == 0:
		return &event.Error{Reason: event.BadName, Detail: "a member has an empty name, which cannot be a column"}
	case len(name) > maxNameBytes:
		return &event.Error{Reason: event.BadName, Field: strings.ToValidUTF8(string(name[:20]), "") + "…",
			Detail: fmt.Sprintf("its name has %d bytes; a column name may have %d", len(name), maxNameBytes)}
	case columns == m.limit:
		return &event.Error{Reason: event.TooLarge, Detail: fmt.Sprintf("it has more than %d members; see limit", m.limit)}
	}
	return nil
}

// addMember makes one cell. It returns an error if its column is one of the entry's, or already holds another member.
func (d *draft) addMember(p *part, c *column, name, value []byte) *event.Error {
	qualifier := name
	if len(c.qualifier) > 0 {
		start := len(d.value)
		d.value = append(append(d.value, c.qualifier...), name...)
		qualifier = d.value[start:]
	}
	id := p.seen.column(string(p.families[c.family].name), qualifier)
	for i := range p.columns {
		if o := &p.columns[i]; o.id == id && o.members == nil {
			return &event.Error{Reason: event.BadName, Field: string(name),
				Detail: fmt.Sprintf("the member's column %s:%s is also set on its own; give members their own prefix",
					p.families[c.family].name, qualifier)}
		}
	}
	for i := p.cells.from; i < len(d.cells); i++ {
		if d.cells[i].id == id {
			return &event.Error{Reason: event.Undecodable, Field: string(name), Detail: "it occurs twice"}
		}
	}
	d.cells = append(d.cells, cell{family: c.family, qualifier: qualifier, id: id, value: value})
	return nil
}
