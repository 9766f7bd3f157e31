package sink

import (
	"fmt"
	"maps"
	"slices"

	"brine/event"
	"brine/rowkey"
	"brine/rowkey/eventkey"
)

// addKeys makes the keying of each of the table's keys. Rows of one entity under two keys are read as one row, so a delete marker under the
// newer key would not hide cells under the older.
func (t *target) addKeys(rows Rows, schema event.Schema) error {
	keys := rows.Table.Keys
	if err := keys.Validate(); err != nil {
		return err
	}
	t.salt = keys.Salt()
	for _, k := range keys {
		keying, err := newKeying(k.Key, rows, schema)
		if err != nil {
			return err
		}
		t.keys = append(t.keys, keying)
		t.masked = t.masked || schema.Masks(keying.sources(rows)...)
		switch {
		case !t.entity || len(keys) == 1:
		case !k.Key.HoldsAs(keys.Newest()):
			return fmt.Errorf("the key %s holds fields other than %s, or less exactly, so an entity would have two rows that are not known to "+
				"be one", k.Key, keys.Newest())
		case t.nulls.Deletes():
			return fmt.Errorf("nulls %s under one of several keys would not delete what is under another; use %s", t.nulls, NullsMerge)
		case rows.Deletes.Hard:
			return fmt.Errorf("a hard delete under one of several keys would not delete what is under another; mark rows instead")
		}
	}
	return nil
}

// keying describes how the row keys of an entry are made. A key that takes all of its fields from the event, under the event's names, uses
// the event's own schema. For any other key, what As and Each add follows the event's values.
type keying struct {
	key    *rowkey.Key
	schema event.Schema
	as     []int         // positions, in the event's schema, of the fields that follow it
	each   *event.Tokens // of the last field that follows; nil: there is one row
	events event.Schema
}

func newKeying(key *rowkey.Key, rows Rows, schema event.Schema) (keying, error) {
	k := keying{key: key, schema: schema, events: schema}
	if len(rows.As) > 0 || rows.Each != nil {
		k.schema.Fields = slices.Clone(schema.Fields)
	}
	add := func(name string, as event.Field) {
		if i := k.position(name); i >= 0 {
			k.schema.Fields[i].Name = "" // no key names it
		}
		as.Name = name
		k.schema.Fields = append(k.schema.Fields, as)
	}
	for _, name := range slices.Sorted(maps.Keys(rows.As)) {
		from := slices.IndexFunc(schema.Fields, func(f event.Field) bool { return f.Name == rows.As[name] })
		if from < 0 {
			return k, fmt.Errorf("field %q, which the key has as %s, is not declared; add it to fields", rows.As[name], name)
		}
		k.as = append(k.as, from)
		add(name, event.Field{Type: schema.Fields[from].Type, Path: schema.Fields[from].Keys(), Place: schema.Fields[from].Place})
	}
	if rows.Each != nil {
		if err := k.checkEach(rows.Each); err != nil {
			return k, err
		}
		k.each = &rows.Each.Tokens
		add(rows.Each.Name, event.Field{Type: event.Text})
	}
	_, err := eventkey.New(k.key, k.schema)
	return k, err
}

// sources returns the fields of the events that the key is made of.
func (k *keying) sources(rows Rows) (out []string) {
	for _, name := range k.key.Fields() {
		switch from, as := rows.As[name]; {
		case rows.Each != nil && rows.Each.Name == name:
			for _, text := range rows.Each.Tokens.Fields {
				out = append(out, text.Field)
			}
		case as:
			out = append(out, from)
		default:
			out = append(out, name)
		}
	}
	return out
}

func (k *keying) checkEach(e *Each) error {
	if !slices.Contains(k.key.Fields(), e.Name) {
		return fmt.Errorf("the key %s does not hold %s, so all tokens of an event would be one row; add it to the key", k.key, e.Name)
	}
	_, err := event.NewCutter(&e.Tokens, k.events)
	return err
}

func (k *keying) position(name string) int {
	return slices.IndexFunc(k.schema.Fields, func(f event.Field) bool { return f.Name == name })
}

// keyMaker makes the row keys of one entry under one key. It belongs to a draft.
type keyMaker struct {
	*keying
	encoder *eventkey.Encoder
	cutter  *event.Cutter // nil: there is one row
	keyed   event.Event   // the event with the additional values that the key needs
}

func (t *target) makers() []keyMaker {
	out := make([]keyMaker, len(t.keys))
	for i := range t.keys {
		out[i] = t.keys[i].maker()
	}
	return out
}

// appendKeys appends the keys of the event's rows, made by the key of its version; see keyMaker.append.
func (p *part) appendKeys(rows []byte, ends []int, ev *event.Event) ([]byte, []int, error) {
	return p.makers[p.table.Keys.At(ev.Version)].append(rows, ends, ev)
}

func (k *keying) maker() keyMaker {
	m := keyMaker{keying: k}
	var err error
	if m.encoder, err = eventkey.New(k.key, k.schema); err == nil && k.each != nil {
		m.cutter, err = event.NewCutter(k.each, k.events)
	}
	if err != nil {
		panic("BUG: sink: a checked key does not bind: " + err.Error())
	}
	return m
}

// append appends the keys of the event's rows to rows, and the end of each to ends.
func (m *keyMaker) append(rows []byte, ends []int, ev *event.Event) ([]byte, []int, error) {
	if len(m.schema.Fields) == len(m.events.Fields) {
		rows, err := m.encoder.Append(rows, ev)
		return rows, append(ends, len(rows)), err
	}
	values := append(m.keyed.Values[:0], ev.Values...)
	for _, from := range m.as {
		values = append(values, ev.Values[from])
	}
	m.keyed = event.Event{Record: ev.Record, Version: ev.Version, Values: values}
	if m.cutter == nil {
		rows, err := m.encoder.Append(rows, &m.keyed)
		return rows, append(ends, len(rows)), err
	}
	tokens, reject := m.cutter.Cut(ev.Values)
	if reject != nil {
		return rows, ends, reject
	}
	for _, token := range tokens {
		var err error
		m.keyed.Values = append(values, event.TextOf(token))
		if rows, err = m.encoder.Append(rows, &m.keyed); err != nil {
			return rows, ends, err
		}
		ends = append(ends, len(rows))
	}
	return rows, ends, nil
}
