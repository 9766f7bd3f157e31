package config

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"brine/event"
	"brine/event/avro"
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

// checkFormat checks how the pipeline's records are encoded, and creates the format that reads them.
func (l *loader) checkFormat(c *Config, p *Pipeline, setting string) {
	l.checkUsesOfFormat(p, setting)
	switch p.Format {
	case formatJSON, formatArray:
		if p.format = nil; p.Format == formatArray || p.framed() {
			p.format = event.JSONFormat{Array: p.Format == formatArray}
		}
		if p.framed() {
			p.format = registry.Unframed(registry.Framing(p.Framing), p.format)
		}
	case formatCSV:
		l.checkCSV(p, setting)
	case formatRaw:
		p.format = event.Raw{}
		l.checkValueFields(p, nil, setting)
	case formatProtobuf:
		l.checkProtobuf(c, p, setting)
		return
	case formatAvro:
		if p.Message != "" {
			l.fault(setting+".message", Unused, "does nothing for records of format avro", "remove it")
		}
		l.checkAvro(c, p, setting)
		return
	}
	if p.SchemaFile != "" {
		l.fault(setting+".schema", Unused, "does nothing for records of format "+p.Format, "remove it, or write format: avro or protobuf")
	}
	if p.Message != "" {
		l.fault(setting+".message", Unused, "does nothing for records of format "+p.Format, "remove it, or write format: protobuf")
	}
}

// checkKeyFormat creates the format that reads the pipeline's keys.
func (l *loader) checkKeyFormat(c *Config, p *Pipeline, setting string) {
	switch p.KeyFormat {
	case formatJSON:
		p.ofKeys = event.JSONFormat{}
	case formatAvro:
		p.ofKeys = avro.Registered(registry.Framing(c.Schemas.Framing), &schemas{config: c})
	case formatProtobuf:
		p.ofKeys = protobuf.Registered(registry.Framing(c.Schemas.Framing), &schemas{config: c})
	}
	if p.decodesKeys() && c.Schemas.URL == "" {
		l.fault(setting+".key_format", Missing, p.KeyFormat+" cannot be read without a schema",
			"write registry: { url: … } if the keys are framed for a schema registry")
	}
}

// framed reports whether a header that is skipped precedes each of the pipeline's records.
func (p *Pipeline) framed() bool { return p.Framing != "" && p.Framing != frameNone }

// checkUsesOfFormat checks settings that apply only to some formats.
func (l *loader) checkUsesOfFormat(p *Pipeline, setting string) {
	framed := []string{formatJSON, formatArray, formatAvro}
	if p.framed() && !slices.Contains(framed, p.Format) {
		l.fault(setting+".framing", Unused, "does nothing for records of format "+p.Format, "remove it")
	}
	if l.has(setting+".breaking_schema") && (p.SchemaFile != "" || p.Format != formatAvro && p.Format != formatProtobuf) {
		l.fault(setting+".breaking_schema", Unused, "does nothing if records do not name their schemas", "remove it")
	}
	if p.Format != formatCSV && len(p.CSV.Columns) > 0 {
		l.fault(setting+".csv", Unused, "does nothing for records of format "+p.Format, "remove it, or write format: csv")
	}
	if p.Envelope.Form != "" && (p.Format == formatCSV || p.Format == formatRaw || p.Format == formatArray) {
		l.fault(setting+".envelope", EnvelopeCode, "wraps rows in records that are one JSON object, but the format is "+p.Format,
			"remove one of the two")
	}
	if p.Format == formatJSON && !p.framed() {
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
	p.format = csv.Format{Columns: p.CSV.Columns, Separator: p.CSV.Separator[0]}
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

func (l *loader) checkProtobuf(c *Config, p *Pipeline, setting string) {
	if p.SchemaFile == "" {
		if p.Message != "" {
			l.fault(setting+".message", Unused, "needs a schema file, but each record names its own message",
				"remove it, or write schema: FILE.proto")
		}
		if c.Schemas.URL == "" {
			l.fault(setting+".format", Missing, "protobuf cannot be read without a schema",
				"write schema: FILE.proto, or registry: { url: … } if the records are framed for a schema registry")
		}
		p.format = protobuf.Registered(registry.Framing(c.Schemas.Framing), &schemas{config: c})
		return
	}
	p.schemaAt = l.beside(p.SchemaFile)
	s, err := protobuf.CompileFile(p.schemaAt)
	if err != nil {
		what, fix := advise(err, "check whether protoc compiles it")
		l.fault(setting+".schema", Unreadable, what, fix)
		return
	}
	p.schemaSum = s.Sum
	m := l.message(s, p, setting)
	if m == nil {
		return
	}
	if p.format = m; p.Envelope.Form == "" { // otherwise fields are those of the row within
		l.checkAgainst(m, p, setting)
	}
}

// beside returns a path relative to the folder of the configuration.
func (l *loader) beside(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(l.file), path)
}

// message finds the message type of the records.
func (l *loader) message(s *protobuf.Schema, p *Pipeline, setting string) *protobuf.Message {
	names := s.Messages()
	switch m := s.Message(p.Message); {
	case len(names) == 0:
		l.fault(setting+".schema", UnknownField, p.SchemaFile+" declares no message", "name the file that declares the records' message")
	case p.Message == "" && len(names) == 1:
		return s.Message(names[0])
	case p.Message == "":
		l.fault(setting+".schema", Missing, p.SchemaFile+" declares several messages", "write message: with one of "+some(names))
	case m == nil:
		l.fault(setting+".message", UnknownField, p.SchemaFile+" has no message "+p.Message,
			didYouMean(p.Message, shortNames(names), "it has "+some(names)))
	default:
		return m
	}
	return nil
}

// checkAgainst checks the declared fields against those of the message.
func (l *loader) checkAgainst(m *protobuf.Message, p *Pipeline, setting string) {
	var fields []event.Field
	for _, f := range p.Schema().Fields {
		if f.Type != 0 && !f.Made && f.Name != p.Images.Deleted { // else it is reported already, or not of the record
			fields = append(fields, f)
		}
	}
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

// WrittenWith returns the id of the schema that a record of the pipeline names. ok is false if it names none that can be read.
func (p *Pipeline) WrittenWith(rec *event.Record) (id registry.ID, ok bool) {
	framing := registry.Framing(p.Framing)
	switch {
	case p.framed():
	case p.config != nil && p.SchemaFile == "" && (p.Format == formatAvro || p.Format == formatProtobuf):
		framing = registry.Framing(p.config.Schemas.Framing)
	default:
		return id, false
	}
	framed, err := framing.Of(rec, registry.Value)
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
