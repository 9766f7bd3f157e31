package propose

import (
	"bytes"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"brine/event"
	"brine/internal/term"
)

// tombstones are the records without a value of a sample whose other records are the present state of their keys.
type tombstones struct {
	key  []string // fields of the records' keys
	json bool     // keys are JSON objects
	gone string   // field that marks a delete
}

// findTombstones adds the fields that a record without a value has, if there are such records and every key says what its record is about.
func (p *Proposal) findTombstones(raw []event.Record) {
	for i := range raw {
		if raw[i].Value == nil {
			p.Empty++
		}
	}
	if p.Empty == 0 || p.encoding.changes != nil || !p.opts.Keyed {
		return
	}
	fields := fieldsOfKeys(raw)
	if fields == nil {
		return
	}
	t := &tombstones{json: fields[0].Place == event.InKey}
	for _, f := range fields {
		if at := slices.IndexFunc(p.Fields, func(v Field) bool { return v.Name == f.Name }); at >= 0 && f.Place == event.InKey {
			p.Fields[at] = f
		} else {
			f.Name = free(p.Fields, f.Name)
			p.Fields = append(p.Fields, f)
		}
		t.key = append(t.key, f.Name)
	}
	t.gone = free(p.Fields, "gone")
	p.Fields = append(p.Fields, Field{Field: event.Field{Name: t.gone, Type: event.Bool},
		Note: "set by brine: true if the record has no value"})
	p.tombstones = t
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
	profile := newProfile()
	for i := range raw {
		profile.add(raw[i].Key)
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
		fields[i].Path, fields[i].Place = c.path, event.InKey
	}
	if len(fields) == 0 {
		return nil
	}
	return fields
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
	case p.tombstones != nil || p.encoding.changes != nil:
		return fmt.Sprintf("; %s of them have no value", term.Thousands(int64(p.Empty)))
	}
	return fmt.Sprintf("; %s of them have no value and would be dead letters, since no keys say what they delete",
		term.Thousands(int64(p.Empty)))
}

// settings writes what a pipeline needs to read tombstones.
func (t *tombstones) settings(w *writer) {
	if t.json {
		w.line(2, "key_format: json")
	}
	w.line(2, "deletes: tombstone            # a record without a value deletes the row of its key")
	w.line(2, "images: { deleted: %s }", t.gone)
}
