package propose

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"brine/event"
	"brine/event/avro"
	"brine/registry"
)

// changes is what a sample of a database's log shows about the log.
type changes struct {
	form  event.EnvelopeForm
	key   []string // columns of the primary key, from the records or their keys
	whole bool     // every update and delete has the whole row before it
	log   logPlace // which kind of position in the database's log each change has
	at    string   // field of the time of a change; empty: its log shows none
	gone  string   // field that marks a change as a delete
	place []string // fields of the position in the log
	// unwrapped is what the rows of changes without an envelope hold of it; nil: changes have their envelope.
	unwrapped *unwrapped
}

// logPlace is the form in which a change gives its position in the database's log.
type logPlace int

const (
	noPlace   logPlace = iota
	lsnPlace           // Postgres: source.lsn
	filePlace          // MySQL and MariaDB: source.file and source.pos
	textPlace          // Maxwell: position, a text of both
)

// placeOf returns the kind of position in source, given a function that reports whether it has a member of a type.
func placeOf(has func(member string, t event.Type) bool) logPlace {
	switch {
	case has("lsn", event.Int):
		return lsnPlace
	case has("file", event.Text) && has("pos", event.Int):
		return filePlace
	}
	return noPlace
}

// placeIn returns the kind of position in a record's source.
func placeIn(source json.RawMessage) logPlace {
	var s struct {
		LSN, Pos *int64
		File     string
	}
	if json.Unmarshal(source, &s) != nil {
		return noPlace
	}
	return placeOf(func(member string, _ event.Type) bool {
		return member == "lsn" && s.LSN != nil || member == "pos" && s.Pos != nil || member == "file" && s.File != ""
	})
}

// change is a record of Debezium.
type change struct {
	Op            string
	Before, After json.RawMessage
	Source        json.RawMessage
}

// row returns the row in a record, or nil if there is none.
func (c *change) row() []byte {
	if len(c.After) > 0 && c.After[0] == '{' {
		return c.After
	}
	if len(c.Before) > 0 && c.Before[0] == '{' {
		return c.Before
	}
	return nil
}

// wrapped is the envelope of JSON that Kafka Connect writes with its schema.
type wrapped struct {
	Schema  *connect
	Payload json.RawMessage
}

// connect is a schema as Kafka Connect writes it.
type connect struct {
	Type, Name, Field string
	Fields            []connect
}

func unwrap(value []byte) (schema *connect, inner []byte) {
	var w wrapped
	if json.Unmarshal(value, &w) == nil && w.Schema != nil && len(w.Payload) > 0 {
		return w.Schema, w.Payload
	}
	return nil, value
}

// debezium parses a record; ok is false if it is not a change of a row.
func debezium(value []byte) (c change, ok bool) {
	_, inner := unwrap(value)
	if json.Unmarshal(inner, &c) != nil {
		return change{}, false
	}
	return c, c.Op != "" && c.row() != nil && len(c.Source) > 0
}

// findChanges determines whether the records are changes as Debezium writes them.
func (e *encoding) findChanges(ctx context.Context, o *Options, raw []event.Record) error {
	within := func(key string) bool {
		return slices.ContainsFunc(e.fields, func(f event.Field) bool { return f.Path[0] == key })
	}
	if e.changes != nil {
		return nil
	}
	switch bare, err := e.findUnwrapped(o, raw); {
	case err != nil:
		return err
	case bare:
	case e.name == "avro" && within("before") && within("after") && within("op"):
		e.changes = &changes{form: event.Debezium, log: placeOf(func(member string, t event.Type) bool {
			return slices.ContainsFunc(e.fields, func(f event.Field) bool {
				return slices.Equal(f.Path, []string{"source", member}) && f.Type == t
			})
		})}
		e.fields = slices.DeleteFunc(e.fields, func(f event.Field) bool { return f.Path[0] != "after" || len(f.Path) == 1 })
		for i := range e.fields {
			e.fields[i].Path = e.fields[i].Path[1:]
		}
	case e.name == "json" && e.format == nil && share(raw, func(v []byte) bool { _, ok := debezium(v); return ok }):
		e.changes = &changes{form: event.Debezium, whole: true}
		e.objects = func(value []byte, each func([]byte)) {
			if c, ok := debezium(value); ok {
				each(c.row())
			}
		}
		e.read(raw)
	case e.name == "json" && e.format == nil && share(raw, func(v []byte) bool { _, ok := canal(v); return ok }):
		e.ofCanal(raw)
	case e.name == "json" && e.format == nil && share(raw, func(v []byte) bool { _, ok := maxwell(v); return ok }):
		e.ofMaxwell(raw)
	default:
		return nil
	}
	for i := range raw {
		if e.changes.form != event.Debezium {
			break // its records are self-describing
		}
		if key := e.keyOf(ctx, &raw[i]); key != nil {
			e.changes.key = key
			break
		}
	}
	if e.changes.key == nil && !e.changes.whole {
		return fmt.Errorf("%w: records of %s are row changes, and neither their keys nor the rows before the changes show which columns are "+
			"the primary key; write the configuration yourself, see docs/formats.md", ErrSample, o.Source)
	}
	return nil
}

// read determines whether all rows before changes are whole, and whether all changes have their position in the log. If each record has a
// schema, read takes the columns' types from there.
func (e *encoding) read(raw []event.Record) {
	updates, fields, first := 0, []event.Field(nil), true
	for i := range raw {
		c, ok := debezium(raw[i].Value)
		if !ok {
			continue
		}
		switch place := placeIn(c.Source); {
		case first:
			e.changes.log, first = place, false
		case place != e.changes.log:
			e.changes.log = noPlace
		}
		schema, _ := unwrap(raw[i].Value)
		if fields = rowFields(schema); fields != nil && e.fields == nil {
			e.fields = fields
		}
		if c.Op == "u" || c.Op == "d" {
			updates++
			e.changes.whole = e.changes.whole && members(c.Before) >= max(1, members(c.After))
		}
	}
	e.changes.whole = e.changes.whole && updates > 0
	if fields == nil {
		e.fields = nil // some records lack types
	}
}

// members returns the number of an object's members.
func members(object []byte) int {
	var m map[string]json.RawMessage
	if json.Unmarshal(object, &m) != nil {
		return 0
	}
	return len(m)
}

// connectTypes are the types of columns by their names in Kafka Connect.
var connectTypes = map[string]event.Type{
	"io.debezium.time.Date": event.Date, "io.debezium.time.Timestamp": event.TimeMS, "io.debezium.time.MicroTimestamp": event.TimeUS,
	"io.debezium.time.NanoTimestamp": event.TimeNS, "io.debezium.time.ZonedTimestamp": event.TimeUS,
	"org.apache.kafka.connect.data.Date": event.Date, "org.apache.kafka.connect.data.Timestamp": event.TimeMS,
	"int8": event.Int, "int16": event.Int, "int32": event.Int, "int64": event.Int, "float": event.Float, "double": event.Float,
	"float32": event.Float, "float64": event.Float, "boolean": event.Bool, "string": event.Text, "bytes": event.Bytes,
}

// rowFields returns the columns that a schema has below after.
func rowFields(schema *connect) (out []event.Field) {
	if schema == nil {
		return nil
	}
	at := slices.IndexFunc(schema.Fields, func(f connect) bool { return f.Field == "after" })
	if at < 0 {
		return nil
	}
	return columnFields(schema.Fields[at].Fields)
}

// columnFields returns the columns of a row's schema.
func columnFields(columns []connect) (out []event.Field) {
	for _, c := range columns {
		f := event.Field{Path: []string{c.Field}, Type: event.Nested}
		if strings.HasSuffix(c.Name, "Decimal") {
			f.Type = event.Decimal
		} else if t, ok := connectTypes[c.Name]; ok {
			f.Type = t
		} else if t, ok := connectTypes[c.Type]; ok {
			f.Type = t
		}
		out = append(out, f)
	}
	return out
}

// keyOf returns the columns of the primary key in a record's key, in order, or nil if it has none.
func (e *encoding) keyOf(ctx context.Context, rec *event.Record) (out []string) {
	if e.client == nil {
		return keyOf(rec.Key)
	}
	framed, wrong := e.framing.Of(rec, registry.Key)
	if wrong != nil {
		return keyOf(rec.Key)
	}
	found, err := e.client.Schema(ctx, framed.ID)
	if err != nil {
		return nil
	}
	schema, err := avro.FromRegistry(found)
	if err != nil {
		return nil
	}
	for _, f := range schema.Fields() {
		if len(f.Path) == 1 {
			out = append(out, f.Path[0])
		}
	}
	return out
}

// keyOf returns the members of a record's key, in order, or nil if it is not an object.
func keyOf(key []byte) (out []string) {
	_, inner := unwrap(key)
	d := json.NewDecoder(bytes.NewReader(inner))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return nil
		}
		text, ok := name.(string)
		if !ok {
			return nil
		}
		out = append(out, text)
	}
	return out
}

// extend adds the fields of the envelope that a pipeline needs.
func (c *changes) extend(fields []Field) []Field {
	free := func(name string) string {
		for slices.ContainsFunc(fields, func(f Field) bool { return f.Name == name }) {
			name += "_"
		}
		return name
	}
	if c.unwrapped != nil {
		fields = c.unwrapped.columns(fields)
	}
	c.at, c.gone = free("changed_at"), free("gone")
	at := event.Field{Name: c.at, Type: event.TimeMS, Path: []string{"$source", "ts_ms"}}
	switch c.form {
	case event.Canal, event.CanalProtobuf:
		at.Path = []string{"$es"}
	case event.Maxwell:
		at.Path, at.Type = []string{"$ts"}, event.TimeS
	}
	of := func(member string, t event.Type, note string) {
		f := event.Field{Name: free(member), Type: t, Path: []string{"$source", member}}
		if c.unwrapped.tombstones() {
			f = c.unwrapped.header(f.Name, member, t)
		} else if c.form == event.Maxwell || c.unwrapped.short(member) {
			f.Path = []string{"$" + member}
		}
		fields, c.place = append(fields, Field{Field: f, Note: note}), append(c.place, f.Name)
	}
	switch c.log {
	case lsnPlace:
		of("lsn", event.Int, "the change's place in the log")
	case filePlace:
		of("file", event.Text, "the file of the log that the change is in")
		of("pos", event.Int, "the change's place in that file")
	case textPlace:
		of("position", event.Text, "the change's place in the log; rows of a bootstrap have none")
	}
	timed := c.unwrapped == nil || c.unwrapped.has("__source_ts_ms")
	if timed {
		fields = append(fields, Field{Field: at, Note: "when the database made the change"})
	}
	note := "set by brine from the operation: true if the change is a delete"
	if c.unwrapped.tombstones() {
		timed, note = false, "set by brine: true if the record has no value" // and therefore no time of its change
	}
	if !timed {
		c.at = ""
	}
	return append(fields, Field{Field: event.Field{Name: c.gone, Type: event.Bool}, Note: note})
}

// orders reports whether a field only serves to order changes of the same time.
func (c *changes) orders(name string) bool {
	return c != nil && slices.Contains(c.place, name)
}

// positions returns the positions of the primary key's fields.
func (c *changes) positions(fields []Field) (out []int) {
	for _, name := range c.key {
		at := slices.IndexFunc(fields, func(f Field) bool {
			k := f.Keys()
			return (len(k) == 1 || f.Place == event.InKey) && k[len(k)-1] == name
		})
		if at < 0 {
			return nil
		}
		out = append(out, at)
	}
	return out
}

// namesOf returns the names of some fields.
func namesOf(fields []Field, at []int) (out []string) {
	for _, i := range at {
		out = append(out, fields[i].Name)
	}
	return out
}

// envelope returns the setting envelope, and its meaning.
func (c *changes) envelope(fields []Field) (setting string, e *event.Envelope) {
	e = &event.Envelope{Form: c.form}
	switch c.form {
	case event.Canal:
		return "envelope: { form: canal, ties: accept }    # its times are whole seconds: of two records in the same second the last " +
			"applied wins", e
	case event.CanalProtobuf:
		return "envelope: { form: canal_protobuf, ties: accept }    # its times are whole seconds; for MySQL, rather write database: mysql " +
			"and version: binlog(file, pos), see docs/formats.md", e
	case event.Maxwell:
		if c.log == textPlace {
			return "envelope: maxwell", e
		}
		return "envelope: { form: maxwell, ties: accept }  # its times are whole seconds, and those of a bootstrap when it read the row: " +
			"better let Maxwell write positions (output_binlog_position)", e
	}
	of, note := "form: debezium", ""
	switch {
	case c.unwrapped != nil:
		e.Unwrapped, e.MarkedDeletes, of = true, c.unwrapped.marks(), of+", unwrapped: true"
	case !c.whole:
		of += ", before: key"
	case c.log != noPlace:
		return "envelope: debezium          # each change in the sample includes the whole row before it", e
	}
	if e.Unwrapped || !c.whole {
		e.Keys = namesOf(fields, c.positions(fields))
		of += ", key: [" + strings.Join(e.Keys, ", ") + "]"
	}
	if c.log == noPlace {
		of += ", ties: accept"
		note = "  # the version of a snapshot's row is when it was read: it wins over changes that are published later"
		if c.unwrapped.tombstones() {
			note = "  # versions are the times of records: better add source.lsn, or source.file,source.pos, to add.headers of the SMT, as " +
				"docs/formats.md shows"
		}
	}
	return "envelope: { " + of + " }" + note, e
}
