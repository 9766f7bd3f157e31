package propose

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"brine/event"
	"brine/event/avro"
	brinecsv "brine/event/csv"
	"brine/event/protobuf"
	"brine/internal/term"
	"brine/registry"
)

// encoding is how the records of a sample are encoded, and what brine.yaml needs for it.
type encoding struct {
	name     string        // the pipeline's format
	format   event.Format  // nil: one JSON object per record
	fields   []event.Field // from a schema; nil: the values determine them
	whole    []Field       // the key and the value as they are; nil: fields are in the value
	texts    bool          // values are texts whatever they mean
	objects  func(value []byte, each func([]byte))
	lines    []string // for the pipeline
	sections []string // for the file
	changes  *changes // of a database's log; nil: records are not changes of rows
	client   *registry.Client
	framing  registry.Framing // with a client
}

func (e *encoding) close() {
	if e.client != nil {
		e.client.Close()
	}
}

// itself passes a record that is one object.
func itself(value []byte, each func([]byte)) { each(value) }

// encoding determines how the records are encoded.
func (o *Options) encoding(ctx context.Context, raw []event.Record) (*encoding, error) {
	e := &encoding{name: "json", texts: o.Texts, objects: itself}
	var err error
	if o.Container == "" {
		err = o.container(raw)
	}
	switch {
	case err != nil:
		return e, err
	case o.Texts && len(o.Columns) > 0:
		return e, fmt.Errorf("%w: --columns names the values of a topic's CSV records, but the first row of %s names its columns; omit it",
			ErrSample, o.Source)
	case o.Texts:
		return e, nil
	case o.Container != "":
		err = e.byContainer(o, raw)
	case o.Schema != "":
		err = e.byFile(o)
	case o.Registry != nil:
		err = e.byRegistry(ctx, o, raw)
	case share(raw, func(v []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(v, " \t\r\n"), []byte("{")) }):
	case share(raw, func(v []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(v, " \t\r\n"), []byte("[")) }):
		e.name, e.format, e.objects = "json_array", event.JSONFormat{Array: true}, elements
	case share(raw, func(v []byte) bool { _, ok := packetRows(v); return ok }):
		e.ofPackets(raw)
	default:
		if e.byRows(o, raw); e.name == "json" {
			e.asTexts(o, raw)
		}
	}
	if err == nil && len(o.Columns) > 0 && e.name != "csv" {
		err = fmt.Errorf("%w: --columns names %s of each CSV row, but the records of %s are not such rows; omit it, or correct the names",
			ErrSample, term.Count(len(o.Columns), "value"), o.Source)
	}
	if err == nil {
		err = e.findChanges(ctx, o, raw)
	}
	return e, err
}

// share reports whether most records are of a kind.
func share(raw []event.Record, of func(value []byte) bool) bool {
	n, all := 0, 0
	for i := range raw {
		if len(raw[i].Value) == 0 {
			continue
		}
		if all++; of(raw[i].Value) {
			n++
		}
	}
	return 2*n > all
}

// elements passes the elements of an array.
func elements(value []byte, each func([]byte)) {
	var all []json.RawMessage
	if json.Unmarshal(value, &all) != nil {
		each(value) // which is counted as bad
		return
	}
	for _, one := range all {
		each(one)
	}
}

// byFile takes the fields of a schema file.
func (e *encoding) byFile(o *Options) error {
	path := o.SchemaAs
	if path == "" {
		path = o.Schema
	}
	e.lines = append(e.lines, "schema: "+quote(path))
	if filepath.Ext(o.Schema) != ".proto" {
		text, err := os.ReadFile(o.Schema)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrSample, err)
		}
		s, err := avro.Parse(string(text))
		if err != nil {
			return fmt.Errorf("%w: %s is not an Avro schema: %w", ErrSample, o.Schema, err)
		}
		e.name, e.format, e.fields = "avro", avro.Bare(s), s.Fields()
		return nil
	}
	s, err := protobuf.CompileFile(o.Schema)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSample, err)
	}
	names := s.Messages()
	m := s.Message(o.Message)
	if o.Message == "" && len(names) == 1 {
		m = s.Message(names[0])
	}
	if m == nil {
		return fmt.Errorf("%w: %s has the messages %s; select the one that records hold with --message", ErrSample, o.Schema,
			strings.Join(names, ", "))
	}
	if e.name, e.format, e.fields = "protobuf", m, m.Fields(); o.Message != "" {
		e.lines = append(e.lines, "message: "+o.Message)
	}
	return nil
}

// byRegistry takes the fields of the schema that the first record names.
func (e *encoding) byRegistry(ctx context.Context, o *Options, raw []event.Record) (err error) {
	asked := *o.Registry
	asked.UnknownAfter = -1
	if e.client, err = registry.New(asked); err != nil {
		return fmt.Errorf("%w: %w", ErrSample, err)
	}
	at := slices.IndexFunc(raw, func(r event.Record) bool { return len(r.Value) > 0 })
	if at < 0 {
		return fmt.Errorf("%w: %s holds no record with a value", ErrSample, o.Source)
	}
	e.framing = o.framing(&raw[at])
	framed, wrong := e.framing.Of(&raw[at], registry.Value)
	if wrong != nil {
		return fmt.Errorf("%w: %s", ErrSample, wrong.Detail)
	}
	s, err := e.client.Schema(ctx, framed.ID)
	if err != nil {
		return err
	}
	e.nameRegistry(o)
	switch s.Type {
	case registry.JSONSchema:
		e.sections, e.lines = nil, []string{fmt.Sprintf("framing: %-18s # each object is preceded by the id of its schema", e.framing)}
		e.format = registry.Unframed(e.framing, event.JSONFormat{})
		e.objects = func(value []byte, each func([]byte)) { each(e.unframed(value)) }
	case registry.Protobuf:
		return e.byMessage(s, &framed, &raw[at])
	default:
		var references []string
		for _, r := range s.References {
			references = append(references, r.Text)
		}
		parsed, err := avro.Parse(s.Text, references...)
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrSample, s, err)
		}
		e.name, e.format, e.fields = "avro", avro.Registered(e.framing, e.client), parsed.Fields()
	}
	return nil
}

// nameRegistry adds the section of the registry.
func (e *encoding) nameRegistry(o *Options) {
	e.sections = []string{"registry:", "  url: " + quote(strings.Join(o.Registry.URLs, ","))}
	if o.RegistryUser != "" {
		e.sections = append(e.sections, "  user: "+quote(o.RegistryUser)+"    # set its password as BRINE_REGISTRY_PASSWORD in the environment")
	}
	switch e.framing {
	case "", registry.Confluent:
	case registry.Apicurio8:
		e.sections = append(e.sections, "  framing: apicurio8    # with contentIds; if publishers set apicurio.registry.use-id: globalId, write "+
			"apicurio8_global")
	default:
		e.sections = append(e.sections, "  framing: "+string(e.framing))
	}
}

// byContainer takes the fields of the schema that a container holds. What precedes each value in the topic, the container does not show.
func (e *encoding) byContainer(o *Options, raw []event.Record) error {
	switch {
	case o.Schema != "":
		return fmt.Errorf("%w: --schema names a schema of all records, but %s holds that of its own; omit it", ErrSample, o.Source)
	case len(raw) == 0:
		return fmt.Errorf("%w: %s holds a schema, but no values; take a file with some, which show keys and versions", ErrSample, o.Source)
	}
	s, err := avro.Parse(o.Container)
	if err != nil {
		return fmt.Errorf("%w: the schema in %s: %w", ErrSample, o.Source, err)
	}
	e.name, e.format, e.fields = "avro", avro.Bare(s), s.Fields()
	if o.Registry != nil {
		e.framing = o.Registry.Framing
		e.nameRegistry(o)
		return nil
	}
	e.lines = []string{"schema: " + quote(o.SchemaAs) + "    # that of the sample; brine init writes it beside this file, except with -o -"}
	return nil
}

// unframed returns a value without the id before it.
func (e *encoding) unframed(value []byte) []byte {
	framed, wrong := e.framing.Of(&event.Record{Value: value}, registry.Value)
	if wrong != nil {
		return value
	}
	return framed.Data
}

// framing returns how a record names its schema, if the environment does not say so. Four bytes of zeros are no id of Confluent's; eight
// begin with them.
func (o *Options) framing(rec *event.Record) registry.Framing {
	if f := o.Registry.Framing; f != "" && f != registry.Confluent {
		return f
	}
	if framed, err := registry.Apicurio.Of(rec, registry.Value); err == nil && framed.InHeader {
		return registry.Apicurio
	}
	if framed, err := registry.Confluent.Of(rec, registry.Value); err == nil && !framed.InHeader && framed.ID.Kind == registry.Number &&
		framed.ID.Number == 0 {
		return registry.Apicurio8
	}
	return registry.Confluent
}

func (e *encoding) byMessage(s *registry.Schema, framed *registry.Framed, rec *event.Record) error {
	compiled, err := protobuf.FromRegistry(s)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrSample, s, err)
	}
	m := e.message(compiled, framed, rec, registry.Value)
	if m == nil {
		return fmt.Errorf("%w: %s has no message where the first record points", ErrSample, s)
	}
	e.name, e.format, e.fields = "protobuf", protobuf.Registered(e.framing, e.client), m.Fields()
	return nil
}

// message returns the message of the schema that a record names, or nil.
func (e *encoding) message(s *protobuf.Schema, framed *registry.Framed, rec *event.Record, part registry.Part) *protobuf.Message {
	if e.framing == registry.Confluent {
		path, _, err := framed.Message(nil)
		if err != nil {
			return nil
		}
		return s.MessageAt(path)
	}
	name, _, ok := registry.MessageName(framed.Data)
	if !ok {
		name, _ = registry.MessageHeader(part, func(name string) ([]byte, bool) { return registry.LastHeader(rec, name) })
	}
	if m := s.Message(string(name)); m != nil && len(name) > 0 {
		return m
	}
	return s.MessageAt([]int{0})
}

// asTexts takes records whole if their keys and values are texts.
func (e *encoding) asTexts(o *Options, raw []event.Record) {
	if !o.Keyed || slices.ContainsFunc(raw, func(r event.Record) bool { return !isText(r.Value) }) {
		return
	}
	key := fieldsOfKeys(raw)
	if len(key) != 1 || key[0].Place != event.WholeKey {
		return
	}
	e.name, e.format = "raw", event.Raw{}
	e.whole = append(key, Field{Field: event.Field{Name: "value", Type: event.Text, Place: event.WholeValue}})
}

// isText reports whether a value is text for people.
func isText(value []byte) bool {
	return utf8.Valid(value) && bytes.IndexFunc(value, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }) < 0
}

// byRows tries to read records as rows of CSV, with the separator for which most have the same number of values, at least two.
func (e *encoding) byRows(o *Options, raw []event.Record) {
	for _, separator := range []byte(event.Separators) {
		counts, most := map[int]int{}, 0
		for i := range raw {
			if row := rowOf(raw[i].Value, separator); row != nil {
				counts[len(row)]++
			}
		}
		for n, times := range counts {
			if n > 1 && (most == 0 || times > counts[most] || times == counts[most] && n > most) {
				most = n
			}
		}
		if 2*counts[most] <= len(raw) || len(o.Columns) > 0 && len(o.Columns) != most {
			continue
		}
		columns := o.Columns
		for i := len(columns); i < most; i++ {
			columns = append(columns, fmt.Sprintf("c%d", i+1))
		}
		e.name, e.format, e.texts = "csv", brinecsv.Format{Columns: columns, Separator: separator}, true
		setting := "columns: [" + strings.Join(quoted(columns), ", ") + "]"
		if separator != ',' {
			setting += fmt.Sprintf(", separator: %q", string(rune(separator)))
		}
		e.lines = []string{"csv: { " + setting + " }"}
		e.objects = func(value []byte, each func([]byte)) { each(objectOf(columns, rowOf(value, separator))) }
		return
	}
}

// rowOf parses a row, or returns nil if value is not one.
func rowOf(value []byte, separator byte) []string {
	r := csv.NewReader(bytes.NewReader(value))
	r.Comma = rune(separator)
	row, err := r.Read()
	if err != nil {
		return nil
	}
	return row
}

// objectOf returns a row as a JSON object of texts, without empty values.
func objectOf(columns, row []string) []byte {
	if len(row) != len(columns) {
		return nil
	}
	object := map[string]string{}
	for i, name := range columns {
		if row[i] != "" {
			object[name] = row[i]
		}
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil
	}
	return text
}

// declare names the fields of a schema.
func (e *encoding) declare() (out []Field) {
	var paths [][]string
	for _, f := range e.fields {
		paths = append(paths, f.Path)
	}
	for i, name := range names(paths) {
		f := e.fields[i]
		if f.Name = name; len(f.Path) == 1 && f.Path[0] == name {
			f.Path = nil
		}
		out = append(out, Field{Field: f})
	}
	return out
}

// columnsOf returns what a sample shows about fields by their values alone.
func columnsOf(fields []Field, events []event.Event) []*column {
	out := make([]*column, len(fields))
	for f := range fields {
		c := &column{path: fields[f].Keys()}
		for i := range events {
			v := events[i].Values[f]
			if v.Null() {
				continue
			}
			c.seen++
			if v.Type == event.Text {
				c.longest = max(c.longest, len(v.Text()))
				c.barred = c.barred || bytes.IndexByte(v.Text(), '|') >= 0
			}
		}
		out[f] = c
	}
	return out
}
