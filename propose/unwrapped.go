package propose

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"brine/event"
)

// unwrapped is what rows hold of the envelope that Debezium's ExtractNewRecordState took away, by the names of its add.fields.
type unwrapped struct {
	members map[string]bool // those that every row has
	headers map[string]bool // of every record
	marked  bool            // the operation of some row says that it is deleted
	ended   bool            // some records have no value
}

func (u *unwrapped) has(name string) bool { return u != nil && u.members[name] }

// short reports whether a member of the source is named without it, as __lsn is.
func (u *unwrapped) short(member string) bool {
	return u.has("__"+member) && !u.has("__source_"+member)
}

// place returns the kind of position in the log that every row has or, if deletes are tombstones, every record in its headers.
func (u *unwrapped) place() logPlace {
	in := u.members
	if u.tombstones() {
		in = u.headers
	}
	return placeOf(func(member string, _ event.Type) bool { return in["__"+member] || in["__source_"+member] })
}

// tombstones reports whether deletes are only records without a value. Rows that the SMT marks have __deleted, deleted or not.
func (u *unwrapped) tombstones() bool { return u != nil && u.ended && !u.marks() }

// marks reports whether deletes are rows that are marked.
func (u *unwrapped) marks() bool { return u != nil && (u.has("__deleted") || u.marked) }

// header returns the field for a member of the source that is in the records' headers.
func (u *unwrapped) header(name, member string, t event.Type) event.Field {
	at := "__source_" + member
	if !u.headers[at] {
		at = "__" + member
	}
	return event.Field{Name: name, Type: t, Place: event.InHeader, Path: []string{at}}
}

// columns returns the fields of the row itself.
func (u *unwrapped) columns(fields []Field) []Field {
	return slices.DeleteFunc(fields, func(f Field) bool { return strings.HasPrefix(f.Keys()[0], "__") })
}

// findUnwrapped determines whether the records are rows of changes without their envelope, as Debezium's ExtractNewRecordState writes them.
func (e *encoding) findUnwrapped(o *Options, raw []event.Record) (bool, error) {
	u := &unwrapped{ended: slices.ContainsFunc(raw, func(r event.Record) bool { return hasNone(r.Value) })}
	switch {
	case e.fields != nil && e.name != "json":
		u.members = map[string]bool{}
		for _, f := range e.fields {
			u.members[f.Path[0]] = len(f.Path) == 1
		}
	case e.name != "json" || e.format != nil || e.texts:
		return false, nil
	default:
		u.read(raw)
	}
	if !u.has("__deleted") && !u.has("__op") {
		return false, nil
	}
	if u.readHeaders(raw); u.place() == noPlace && !u.has("__source_ts_ms") && !u.tombstones() {
		return false, fmt.Errorf("%w: %s holds rows as Debezium's ExtractNewRecordState writes them, and nothing in them orders the changes "+
			"of a row; add the place in the log and the time to its add.fields: op,source.lsn,source.snapshot,source.ts_ms for "+
			"Postgres, or op,source.file,source.pos,source.ts_ms for MySQL", ErrSample, o.Source)
	}
	e.changes = &changes{form: event.Debezium, log: u.place(), unwrapped: u}
	if e.fields != nil {
		return true, nil
	}
	e.objects = func(value []byte, each func([]byte)) {
		if _, row := unwrap(value); !hasNone(row) {
			each(row)
		}
	}
	for i := range raw {
		if schema, _ := unwrap(raw[i].Value); schema != nil {
			e.fields = columnFields(schema.Fields)
			break
		}
	}
	return true, nil
}

// hasNone reports whether a record has no value, or null in its place: Kafka Connect may write that as JSON for a row with a schema.
func hasNone(value []byte) bool {
	_, inner := unwrap(value)
	return value == nil || string(bytes.TrimSpace(inner)) == "null"
}

// read finds the members that every row has.
func (u *unwrapped) read(raw []event.Record) {
	for i := range raw {
		if len(raw[i].Value) == 0 || hasNone(raw[i].Value) {
			continue
		}
		var row map[string]json.RawMessage
		if _, inner := unwrap(raw[i].Value); json.Unmarshal(inner, &row) != nil {
			continue
		}
		if u.members == nil {
			u.members = map[string]bool{}
			for name := range row {
				u.members[name] = true
			}
		}
		u.marked = u.marked || string(row["__op"]) == `"d"`
		maps.DeleteFunc(u.members, func(name string, _ bool) bool { return len(row[name]) == 0 || string(row[name]) == "null" })
	}
}

// readHeaders finds the headers that every record has.
func (u *unwrapped) readHeaders(raw []event.Record) {
	for i := range raw {
		has := map[string]bool{}
		for _, h := range raw[i].Headers {
			has[h.Key] = len(h.Value) > 0
		}
		if u.headers == nil {
			u.headers = has
		}
		maps.DeleteFunc(u.headers, func(name string, _ bool) bool { return !has[name] })
	}
}
