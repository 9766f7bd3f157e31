package propose

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"brine/event"
	"brine/event/avro"
	"brine/event/protobuf"
	"brine/internal/term"
	"brine/registry"
)

// tombstones are the records without a value of a sample whose other records are the present state of their keys.
type tombstones struct {
	key    []string     // fields of the records' keys
	name   string       // the keys' format; empty: they are texts
	format event.Format // the same
	gone   string       // field that marks a delete
}

// findTombstones adds the fields that a record without a value has, if there are such records and every key says what its record is about.
func (p *Proposal) findTombstones(ctx context.Context, raw []event.Record) {
	c := p.encoding.changes
	for i := range raw {
		if raw[i].Value == nil || c != nil && c.unwrapped != nil && hasNone(raw[i].Value) {
			p.Empty++
		}
	}
	if p.Empty == 0 || c != nil && !c.unwrapped.tombstones() || !p.opts.Keyed {
		return
	}
	t, fields := &tombstones{}, fieldsOfKeys(raw)
	switch {
	case fields == nil:
		if t, fields = p.encoding.schemaOfKeys(ctx, raw); fields == nil {
			return
		}
	case fields[0].Place == event.InKey:
		t.name, t.format = "json", event.JSONFormat{}
	}
	for _, f := range fields {
		at := slices.IndexFunc(p.Fields, func(v Field) bool { return v.Name == f.Name })
		switch {
		case at >= 0 && f.Place == event.InKey:
			p.Fields[at] = f
		case at >= 0 && p.Fields[at].Place == f.Place: // it is there already
		default:
			f.Name = free(p.Fields, f.Name)
			p.Fields = append(p.Fields, f)
		}
		t.key = append(t.key, f.Name)
	}
	if p.tombstones = t; c != nil {
		t.gone = c.gone
		return
	}
	t.gone = free(p.Fields, "gone")
	p.Fields = append(p.Fields, Field{Field: event.Field{Name: t.gone, Type: event.Bool},
		Note: "set by brine: true if the record has no value"})
}

// free returns a name that no field has.
func free(fields []Field, name string) string {
	for slices.ContainsFunc(fields, func(f Field) bool { return f.Name == name }) {
		name += "_"
	}
	return name
}

// fieldsOfKeys returns the fields in the records' keys: the members of objects, or the whole of texts. It returns nil if a record has no
// key or keys are neither.
func fieldsOfKeys(raw []event.Record) []Field {
	profile, within := newProfile(), []string(nil)
	for i := range raw {
		schema, inner := unwrap(raw[i].Key)
		if schema != nil {
			within = []string{"payload"}
		}
		profile.add(inner)
		if key := raw[i].Key; len(key) == 0 || !utf8.Valid(key) || bytes.IndexFunc(key, unicode.IsControl) >= 0 {
			return nil
		}
	}
	switch profile.bad {
	case 0:
	case profile.records:
		return []Field{{Field: event.Field{Name: "key", Type: event.Text, Place: event.WholeKey}}}
	default:
		return nil
	}
	fields := profile.infer(false)
	for i, c := range profile.fields() {
		if f := &fields[i]; c.seen < len(raw) || f.Type == event.Nested || f.Type == event.Float {
			return nil
		}
		fields[i].Path, fields[i].Place = append(within[:len(within):len(within)], c.path...), event.InKey
	}
	if len(fields) == 0 {
		return nil
	}
	return fields
}

// schemaOfKeys returns the fields of the schema that the first record's key names, or none.
func (e *encoding) schemaOfKeys(ctx context.Context, raw []event.Record) (*tombstones, []Field) {
	if e.client == nil || slices.ContainsFunc(raw, func(r event.Record) bool { return len(r.Key) == 0 }) {
		return nil, nil
	}
	framed, wrong := e.framing.Of(&raw[0], registry.Key)
	if wrong != nil {
		return nil, nil
	}
	s, err := e.client.Schema(ctx, framed.ID)
	if err != nil {
		return nil, nil
	}
	t, keys := &tombstones{}, &encoding{}
	switch s.Type {
	case registry.Protobuf:
		compiled, err := protobuf.FromRegistry(s)
		if err != nil {
			return nil, nil
		}
		if m := e.message(compiled, &framed, &raw[0], registry.Key); m != nil {
			t.name, t.format, keys.fields = "protobuf", protobuf.Registered(e.framing, e.client), m.Fields()
		}
	case registry.Avro:
		parsed, err := avro.FromRegistry(s)
		if err != nil {
			return nil, nil
		}
		t.name, t.format, keys.fields = "avro", avro.Registered(e.framing, e.client), parsed.Fields()
		for _, of := range []event.Type{event.Text, event.Int} {
			f := event.Field{Name: "key", Type: of, Place: event.InKey}
			if there, err := parsed.Fits(f); there && err == nil && len(keys.fields) == 0 {
				return t, []Field{{Field: f}}
			}
		}
	}
	fields := keys.declare()
	for i := range fields {
		fields[i].Path, fields[i].Place = keys.fields[i].Path, event.InKey
		if t := fields[i].Type; t == event.Nested || t == event.Float {
			return nil, nil
		}
	}
	return t, fields
}

// ofKeys returns the positions of the fields in the records' keys.
func (t *tombstones) ofKeys(s *sample) (out []int) {
	for _, name := range t.key {
		out = append(out, s.field(name))
	}
	return out
}

// empty describes the records without a value.
func (p *Proposal) empty() string {
	switch {
	case p.Empty == 0:
		return ""
	case p.tombstones != nil || p.encoding.changes != nil && !p.encoding.changes.unwrapped.tombstones():
		return fmt.Sprintf("; %s of them have no value", term.Thousands(int64(p.Empty)))
	}
	return fmt.Sprintf("; %s of them have no value and would be dead letters, since no keys say what they delete",
		term.Thousands(int64(p.Empty)))
}

// settings writes what a pipeline needs to read tombstones.
func (t *tombstones) settings(w *writer) {
	if t.name != "" {
		w.line(2, "key_format: %s", t.name)
	}
	w.line(2, "deletes: tombstone            # a record without a value deletes the row of its key")
}
