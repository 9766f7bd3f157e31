package propose

import (
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
}

func (u *unwrapped) has(name string) bool { return u != nil && u.members[name] }

// short reports whether a member of the source is named without it, as __lsn is.
func (u *unwrapped) short(member string) bool {
	return u.has("__"+member) && !u.has("__source_"+member)
}

// place returns the kind of position in the log that every row has.
func (u *unwrapped) place() logPlace {
	return placeOf(func(member string, _ event.Type) bool { return u.has("__"+member) || u.has("__source_"+member) })
}

// columns returns the fields of the row itself.
func (u *unwrapped) columns(fields []Field) []Field {
	return slices.DeleteFunc(fields, func(f Field) bool { return strings.HasPrefix(f.Keys()[0], "__") })
}

// findUnwrapped determines whether the records are rows of changes without their envelope, as Debezium's ExtractNewRecordState writes them.
func (e *encoding) findUnwrapped(o *Options, raw []event.Record) (bool, error) {
	u := &unwrapped{}
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
	if !u.has("__deleted") && !u.has("__op") || !u.has("__deleted") && e.fields == nil && endedByTombstones(raw) {
		return false, nil
	}
	if u.place() == noPlace && !u.has("__source_ts_ms") {
		return false, fmt.Errorf("%w: %s holds rows as Debezium's ExtractNewRecordState writes them, and nothing in them orders the changes "+
			"of a row; add the place in the log and the time to its add.fields: op,source.lsn,source.snapshot,source.ts_ms for "+
			"Postgres, or op,source.file,source.pos,source.ts_ms for MySQL", ErrSample, o.Source)
	}
	e.changes = &changes{form: event.Debezium, log: u.place(), unwrapped: u}
	if e.fields != nil {
		return true, nil
	}
	e.objects = func(value []byte, each func([]byte)) {
		_, row := unwrap(value)
		each(row)
	}
	for i := range raw {
		if schema, _ := unwrap(raw[i].Value); schema != nil {
			e.fields = columnFields(schema.Fields)
			break
		}
	}
	return true, nil
}

// read finds the members that every row has.
func (u *unwrapped) read(raw []event.Record) {
	for i := range raw {
		if len(raw[i].Value) == 0 {
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
		maps.DeleteFunc(u.members, func(name string, _ bool) bool { return len(row[name]) == 0 || string(row[name]) == "null" })
	}
}

// endedByTombstones reports whether deletes are only records without a value, which an envelope leaves out.
func endedByTombstones(raw []event.Record) bool {
	empty := slices.ContainsFunc(raw, func(r event.Record) bool { return r.Value == nil })
	return empty && !slices.ContainsFunc(raw, func(r event.Record) bool {
		var row struct {
			Op string `json:"__op"`
		}
		_, inner := unwrap(r.Value)
		return json.Unmarshal(inner, &row) == nil && row.Op == "d"
	})
}
