package propose

import (
	"encoding/json"
	"slices"
	"strings"

	"brine/event"
)

// canalRecord is a record of Canal's flat JSON.
type canalRecord struct {
	Type      string
	IsDdl     *bool
	Es        int64
	PkNames   []string
	MysqlType json.RawMessage
	Data      []json.RawMessage
}

// canal parses a record; ok is false if it is not a change of rows.
func canal(value []byte) (r canalRecord, ok bool) {
	if json.Unmarshal(value, &r) != nil {
		return canalRecord{}, false
	}
	return r, r.IsDdl != nil && r.Es > 0 && len(r.Data) > 0 && slices.Contains([]string{"INSERT", "UPDATE", "DELETE"}, r.Type)
}

// ofCanal extracts rows from the records, and the types of their columns if the records have them.
func (e *encoding) ofCanal(raw []event.Record) {
	e.changes, e.texts = &changes{form: event.Canal, whole: true}, true
	e.objects = func(value []byte, each func([]byte)) {
		r, ok := canal(value)
		if !ok {
			return
		}
		for _, row := range r.Data {
			each(row)
		}
	}
	for i := range raw {
		r, ok := canal(raw[i].Value)
		if !ok {
			continue
		}
		if e.changes.key == nil {
			e.changes.key = r.PkNames
		}
		if e.fields == nil {
			e.fields = mysqlFields(r.MysqlType)
		}
	}
}

// mysqlTypes are the types of columns by their names in MySQL; columns of other types are texts.
var mysqlTypes = map[string]event.Type{
	"tinyint": event.Int, "smallint": event.Int, "mediumint": event.Int, "int": event.Int, "integer": event.Int, "bigint": event.Int,
	"year": event.Int, "decimal": event.Decimal, "numeric": event.Decimal, "float": event.Float, "double": event.Float, "real": event.Float,
	"date": event.Date, "datetime": event.Time, "timestamp": event.Time, "json": event.Nested,
}

// mysqlTime is the format of times in MySQL, with or without a fraction.
const mysqlTime = "%Y-%m-%d %H:%M:%S"

// mysqlFields returns the columns of types, such as {"id":"bigint(20)"}, or nil if it is not such an object.
func mysqlFields(types json.RawMessage) (out []event.Field) {
	var by map[string]string
	if json.Unmarshal(types, &by) != nil {
		return nil
	}
	for _, name := range keyOf(types) {
		kind, _, _ := strings.Cut(strings.ToLower(by[name]), "(")
		kind, _, _ = strings.Cut(kind, " ") // for example unsigned
		f := event.Field{Path: []string{name}, Type: event.Text}
		if t, ok := mysqlTypes[kind]; ok {
			f.Type = t
		}
		if f.Type == event.Time {
			f.Format = mysqlTime
		}
		out = append(out, f)
	}
	return out
}

// maxwellRecord is a record of Maxwell.
type maxwellRecord struct {
	Database, Table, Type string
	Ts                    int64
	Position              string
	Data                  json.RawMessage
}

// maxwell parses a record; ok is false if it is not a change of a row.
func maxwell(value []byte) (r maxwellRecord, ok bool) {
	if json.Unmarshal(value, &r) != nil {
		return maxwellRecord{}, false
	}
	return r, r.Database != "" && r.Table != "" && r.Ts > 0 && len(r.Data) > 0 && r.Data[0] == '{' &&
		slices.Contains([]string{"insert", "update", "delete", "bootstrap-insert"}, r.Type)
}

// ofMaxwell extracts rows from the records, the primary key from the records' keys, and whether all changes have their position in the log.
func (e *encoding) ofMaxwell(raw []event.Record) {
	e.changes = &changes{form: event.Maxwell, whole: true}
	e.objects = func(value []byte, each func([]byte)) {
		if r, ok := maxwell(value); ok {
			each(r.Data)
		}
	}
	e.changes.log = textPlace
	for i := range raw {
		if r, ok := maxwell(raw[i].Value); ok && r.Position == "" && r.Type != "bootstrap-insert" {
			e.changes.log = noPlace
		}
		if e.changes.key != nil {
			continue
		}
		for _, name := range keyOf(raw[i].Key) {
			if column, ok := strings.CutPrefix(name, "pk."); ok {
				e.changes.key = append(e.changes.key, column)
			}
		}
	}
}

// versions returns what orders the changes of rows that an entity's field identifies: their position in the log, which is exact, before
// their time.
func (c *changes) versions(s *sample, entity int) (out []Version) {
	ties := func(text string, of func(i int) int64) {
		out = append(out, Version{Field: text, Of: len(s.events), Ties: s.ties(entity, of)})
	}
	switch c.log {
	case lsnPlace:
		at := s.field(c.place[0])
		ties("lsn("+c.place[0]+")", func(i int) int64 { return s.events[i].Values[at].Int() })
	case filePlace, textPlace:
		places := map[string]int64{}
		ties("binlog("+strings.Join(c.place, ", ")+")", func(i int) int64 {
			place := ""
			for _, name := range c.place {
				place += " " + s.cells[s.field(name)][i]
			}
			if _, ok := places[place]; !ok {
				places[place] = int64(len(places))
			}
			return places[place]
		})
	}
	switch {
	case c.log != noPlace:
		return out // times would have to be accepted by name
	case c.at == "":
		return []Version{s.byRecords(entity)}
	}
	at := s.field(c.at)
	ties(c.at, func(i int) int64 { return s.events[i].Values[at].Int() })
	return out
}
