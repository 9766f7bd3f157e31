package config

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"brine/event"
	"brine/event/csv"
	"brine/event/protobuf"
	"brine/registry"
)

// The formats of brine.yaml that no other package defines; formatAvro is defined elsewhere.
const (
	formatJSON     = "json"
	formatArray    = "json_array"
	formatProtobuf = "protobuf"
	formatCSV      = "csv"
	formatRaw      = "raw"
)

// encoding is how a part of the records, their values or their keys, is encoded.
type encoding struct {
	part                           registry.Part
	format, file, message, framing string // the settings, named below
	prefix                         string // of their names

	reads  event.Format      // nil: JSON objects, or a key as a text
	path   string            // of the schema's file
	sum    [sha256.Size]byte // of the file and its imports
	fields []event.Field     // declared in this part, by what the file is compared with
}

// encoded returns how a part of the pipeline's records is encoded, as far as settings say.
func (p *Pipeline) encoded(part registry.Part) encoding {
	if part == registry.Key {
		return encoding{part: part, format: p.KeyFormat, file: p.KeySchema, message: p.KeyMessage, framing: p.KeyFraming, prefix: "key_"}
	}
	return encoding{part: part, format: p.Format, file: p.SchemaFile, message: p.Message, framing: p.Framing}
}

// bySchema reports whether a format is read by a schema, which decodes a whole key too.
func bySchema(format string) bool { return format == formatAvro || format == formatProtobuf }

// framed reports whether a header that is skipped precedes each value, or key.
func (e *encoding) framed() bool { return e.framing != "" && e.framing != frameNone }

// registered reports whether each value, or key, names its own schema.
func (e *encoding) registered() bool {
	return e.file == "" && bySchema(e.format)
}

// Registered reports whether each value, or each key, of the pipeline's records names its own schema.
func (p *Pipeline) Registered(part registry.Part) bool {
	e := p.encoded(part)
	return e.registered()
}

// checkFormats checks how the pipeline's records are encoded, and creates the formats that read them.
func (l *loader) checkFormats(c *Config, p *Pipeline, setting string) {
	p.values, p.keys = p.encoded(registry.Value), p.encoded(registry.Key)
	l.checkUsesOfFormat(p, setting)
	for _, f := range p.Schema().Fields {
		switch {
		case f.Type == 0 || f.Name == p.Images.Deleted: // reported already, or not of the record
		case f.OfValue():
			p.values.fields = append(p.values.fields, f)
		case f.OfKey():
			p.keys.fields = append(p.keys.fields, f)
		}
	}
	if p.Envelope.Form != "" {
		p.values.fields = nil // they are those of the row within
	}
	for _, e := range []*encoding{&p.values, &p.keys} {
		l.checkEncoding(c, p, e, setting)
	}
}

// checkEncoding creates the format that reads a part of the records.
func (l *loader) checkEncoding(c *Config, p *Pipeline, e *encoding, setting string) {
	of := setting + "." + e.prefix
	switch e.format {
	case formatJSON, formatArray:
		if array := e.format == formatArray; array || e.framed() || e.part == registry.Key {
			e.reads = event.JSONFormat{Array: array}
		}
		if e.framed() {
			e.reads = registry.Unframed(registry.Framing(e.framing), e.reads)
		}
	case formatCSV:
		l.checkCSV(p, setting)
	case formatRaw:
		e.reads = event.Raw{}
		l.checkValueFields(p, nil, setting)
	case formatProtobuf:
		l.checkProtobuf(c, e, setting)
		return
	case formatAvro:
		if e.message != "" {
			l.fault(of+"message", Unused, "does nothing for "+e.records()+" of format avro", "remove it")
		}
		l.checkAvro(c, e, setting)
		return
	}
	if e.file != "" {
		l.fault(of+"schema", Unused, "does nothing for "+e.records()+" of format "+e.format,
			"remove it, or write "+e.prefix+"format: avro or protobuf")
	}
	if e.message != "" {
		l.fault(of+"message", Unused, "does nothing for "+e.records()+" of format "+e.format, "remove it, or write "+e.prefix+"format: protobuf")
	}
}

// records names the part, for people.
func (e *encoding) records() string {
	if e.part == registry.Key {
		return "keys"
	}
	return "records"
}

// readRegistered creates the format of records that name their schemas.
func (l *loader) readRegistered(c *Config, e *encoding, setting, file string, reads func(registry.Framing, *schemas) event.Format) {
	if c.Schemas.URL == "" {
		l.fault(setting+"."+e.prefix+"format", Missing, e.format+" cannot be read without a schema",
			"write "+e.prefix+"schema: "+file+", or registry: { url: … } if the "+e.records()+" are framed for a schema registry")
	}
	e.reads = reads(registry.Framing(c.Schemas.Framing), &schemas{config: c})
}

// checkUsesOfFormat checks settings that apply only to some formats.
func (l *loader) checkUsesOfFormat(p *Pipeline, setting string) {
	framed := []string{formatJSON, formatArray, formatAvro}
	for _, e := range []*encoding{&p.values, &p.keys} {
		if e.framed() && !slices.Contains(framed, e.format) {
			l.fault(setting+"."+e.prefix+"framing", Unused, "does nothing for "+e.records()+" of format "+e.format, "remove it")
		}
	}
	if l.has(setting+".breaking_schema") && !p.values.registered() && !p.keys.registered() {
		l.fault(setting+".breaking_schema", Unused, "does nothing if records do not name their schemas", "remove it")
	}
	if p.Format != formatCSV && len(p.CSV.Columns) > 0 {
		l.fault(setting+".csv", Unused, "does nothing for records of format "+p.Format, "remove it, or write format: csv")
	}
	if p.Envelope.Form != "" && (p.Format == formatCSV || p.Format == formatRaw || p.Format == formatArray) {
		l.fault(setting+".envelope", EnvelopeCode, "wraps rows in records that are one JSON object, but the format is "+p.Format,
			"remove one of the two")
	}
	if p.Format == formatJSON && !p.values.framed() {
		return
	}
	for i := range p.Rows {
		for j := range p.Rows[i].Set {
			if column := &p.Rows[i].Set[j]; column.Field == wholeRecord {
				l.faultName(join(fmt.Sprintf("%s.rows[%d].set", setting, i), column.Name), Members,
					"turns the members of a record into columns, which needs one JSON object, but the format is "+p.Format, "name the fields one by one")
			}
		}
	}
}

// checkCSV creates the format of CSV rows.
func (l *loader) checkCSV(p *Pipeline, setting string) {
	if len(p.CSV.Columns) == 0 {
		l.fault(setting+".format", Missing, "csv records have no header row that names their columns",
			"write csv: { columns: [id, at, status] } with the names of all columns, in order")
		return
	}
	for i, name := range p.CSV.Columns {
		if slices.Contains(p.CSV.Columns[:i], name) {
			l.fault(fmt.Sprintf("%s.csv.columns[%d]", setting, i), Duplicate, "names column "+name+" again", "give each column a different name")
		}
	}
	if s := p.CSV.Separator; len(s) != 1 || s[0] >= 0x80 || strings.ContainsAny(s, "\"\r\n") {
		l.fault(setting+".csv.separator", Type, quote(s)+" cannot separate values", "write one character, such as \",\", \";\" or \"\\t\"")
		return
	}
	p.values.reads = csv.Format{Columns: p.CSV.Columns, Separator: p.CSV.Separator[0]}
	l.checkValueFields(p, p.CSV.Columns, setting)
}

// checkValueFields checks that the fields read from the value exist in it. Values have the given columns; nil means no fields at all.
func (l *loader) checkValueFields(p *Pipeline, columns []string, setting string) {
	for _, f := range p.Schema().Fields {
		at := join(setting+".fields", f.Name)
		switch keys := f.Keys(); {
		case !f.OfValue() || f.Name == p.Images.Deleted:
		case columns == nil:
			l.faultName(at, FieldPath, "is read from the value, but a raw value has no fields",
				"give it a path: $value, $key, $header.NAME, $topic or $timestamp")
		case len(keys) > 1:
			l.faultName(at, FieldPath, "is inside column "+keys[0]+", but a column is a single value", "name just the column")
		case !slices.Contains(columns, keys[0]):
			l.faultName(at, FieldPath, "is read from column "+keys[0]+", which does not exist",
				didYouMean(keys[0], columns, "csv.columns has "+some(columns)))
		}
	}
}

func (l *loader) checkProtobuf(c *Config, e *encoding, setting string) {
	of := setting + "." + e.prefix
	if e.file == "" {
		if e.message != "" {
			l.fault(of+"message", Unused, "needs a schema file, but each record names its own message",
				"remove it, or write "+e.prefix+"schema: FILE.proto")
		}
		l.readRegistered(c, e, setting, "FILE.proto", func(f registry.Framing, s *schemas) event.Format { return protobuf.Registered(f, s) })
		return
	}
	e.path = l.beside(e.file)
	s, err := protobuf.CompileFile(e.path)
	if err != nil {
		what, fix := advise(err, "check whether protoc compiles it")
		l.fault(of+"schema", Unreadable, what, fix)
		return
	}
	e.sum = s.Sum
	if m := l.message(s, e, of); m != nil {
		e.reads = m
		l.checkAgainst(m, e.fields, setting)
	}
}

// beside returns a path relative to the folder of the configuration.
func (l *loader) beside(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(l.file), path)
}

// message finds the message type of the records. The settings begin with of.
func (l *loader) message(s *protobuf.Schema, e *encoding, of string) *protobuf.Message {
	names := s.Messages()
	switch m := s.Message(e.message); {
	case len(names) == 0:
		l.fault(of+"schema", UnknownField, e.file+" declares no message", "name the file that declares the "+e.records()+"' message")
	case e.message == "" && len(names) == 1:
		return s.Message(names[0])
	case e.message == "":
		l.fault(of+"schema", Missing, e.file+" declares several messages", "write "+e.prefix+"message: with one of "+some(names))
	case m == nil:
		l.fault(of+"message", UnknownField, e.file+" has no message "+e.message,
			didYouMean(e.message, shortNames(names), "it has "+some(names)))
	default:
		return m
	}
	return nil
}

// checkAgainst checks declared fields against those of the message.
func (l *loader) checkAgainst(m *protobuf.Message, fields []event.Field, setting string) {
	fields = slices.DeleteFunc(slices.Clone(fields), func(f event.Field) bool { return len(f.Keys()) == 0 }) // reported already
	for _, unfit := range m.Check(fields) {
		fix := unfit.Fix
		if unfit.Key != "" {
			fix = didYouMean(unfit.Key, unfit.Names, fix)
		}
		l.fault(join(setting+".fields", fields[unfit.Field].Name), FieldTypes, unfit.Msg, fix)
	}
}

// shortNames returns the last parts of dotted names.
func shortNames(names []string) (out []string) {
	for _, name := range names {
		out = append(out, name[strings.LastIndexByte(name, '.')+1:])
	}
	return out
}

// some returns the first names of a list as text.
func some(names []string) string {
	const most = 12
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return oneOf(names)
}

// schemas gets schemas from the configuration's registry. All pipelines share one client, which is created when the first record needs a
// schema.
type schemas struct{ config *Config }

// sharedRegistry is the shared client of a configuration's registry.
type sharedRegistry struct {
	once   sync.Once
	hooks  registry.Hooks
	client *registry.Client
	err    error
}

// Schema implements protobuf.Schemas.
func (s *schemas) Schema(ctx context.Context, id registry.ID) (*registry.Schema, error) {
	r := s.config.shared
	r.once.Do(func() {
		o, ok := s.config.Registry()
		if !ok {
			r.err = errors.New("BUG: config: records are framed for a registry that is not configured")
			return
		}
		o.Hooks = r.hooks
		r.client, r.err = registry.New(o)
	})
	if r.err != nil {
		return nil, &event.Unresolved{Verdict: event.Halt, Reason: event.Unavailable, Err: r.err}
	}
	return r.client.Schema(ctx, id)
}

// WatchRegistry sets the hooks for requests to the registry. It must be called before the first record is read.
func (c *Config) WatchRegistry(hooks registry.Hooks) {
	if c.shared != nil {
		c.shared.hooks = hooks
	}
}

// WrittenWith returns the id of the schema that a record of the pipeline names: that of its value or, without one, of its key. ok is false
// if it names none that can be read.
func (p *Pipeline) WrittenWith(rec *event.Record) (id registry.ID, ok bool) {
	part := registry.Value
	if rec.Value == nil {
		part = registry.Key
	}
	e := p.encoded(part)
	framing := registry.Framing(e.framing)
	switch {
	case e.framed():
	case p.config != nil && e.registered():
		framing = registry.Framing(p.config.Schemas.Framing)
	default:
		return id, false
	}
	framed, err := framing.Of(rec, part)
	return framed.ID, err == nil
}

// RegisteredSchema returns the schema with an id, from the configuration's registry or the cache.
func (c *Config) RegisteredSchema(ctx context.Context, id registry.ID) (*registry.Schema, error) {
	if c.shared == nil || c.Schemas.URL == "" {
		return nil, errors.New("the configuration has no registry")
	}
	return (&schemas{config: c}).Schema(ctx, id)
}

// Close releases what the configuration's formats have opened.
func (c *Config) Close() {
	r := c.shared
	if r == nil { // a configuration of brokers alone
		return
	}
	r.once.Do(func() { r.err = errors.New("the configuration was closed") })
	if r.client != nil {
		r.client.Close()
	}
}
