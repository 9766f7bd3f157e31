package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"brine/event"
	"brine/event/avro"
	"brine/event/protobuf"
	"brine/registry"
)

const formatAvro = "avro"

// frameNone is the framing none: the schema is a file, and nothing precedes the value in a record.
const frameNone = "none"

func (l *loader) checkAvro(c *Config, e *encoding, setting string) {
	of := setting + "." + e.prefix
	if e.file == "" {
		if e.framed() {
			l.fault(of+"framing", Unused, "applies only to "+e.records()+" whose schema is a file",
				"write "+e.prefix+"schema: FILE.avsc, or move it to registry.framing")
			return
		}
		l.readRegistered(c, e, setting, "FILE.avsc", func(f registry.Framing, s *schemas) event.Format { return avro.Registered(f, s) })
		return
	}
	e.path = l.beside(e.file)
	text, err := os.ReadFile(e.path)
	if err != nil {
		l.fault(of+"schema", Unreadable, e.path+" cannot be read: "+reason(err), "write the path of an .avsc file, from where "+
			filepath.Base(l.file)+" lies")
		return
	}
	e.sum = sha256.Sum256(text)
	schema, err := avro.Parse(string(text))
	if err != nil {
		l.fault(of+"schema", Unreadable, e.path+lineOf(err, text)+" is not an Avro schema: "+err.Error(), "fix the file: brine reads what "+
			"Avro's own tools accept, with all types in one file")
		return
	}
	if e.reads = avro.Bare(schema); e.framed() {
		e.reads = avro.Framed(registry.Framing(e.framing), schema)
	}
	l.compareAvro(schema, e.fields, setting+".fields")
}

// lineOf returns the line of a JSON syntax error, as :7, or "" for other errors.
func lineOf(err error, text []byte) string {
	var broken *json.SyntaxError
	var tree any
	if !errors.As(err, &broken) && !errors.As(json.Unmarshal(text, &tree), &broken) {
		return ""
	}
	return ":" + strconv.Itoa(1+bytes.Count(text[:min(len(text), int(broken.Offset))], []byte("\n")))
}

// compareAvro compares declared fields with those of the schema's file. A missing field may come with a later schema.
func (l *loader) compareAvro(schema *avro.Schema, fields []event.Field, setting string) {
	for _, f := range fields {
		at := join(setting, f.Name)
		switch there, err := schema.Fits(f); {
		case err != nil:
			what, fix := advise(err, "")
			l.fault(at, FieldTypes, what, fix)
		case !there:
			l.warn(at, UnknownField, "the schema has nothing at "+f.Where()+", so the field is always null", "fix its path, or remove the field")
		}
	}
}

// SchemaDifference is a difference between a schema of the registry and the pipeline's declarations.
type SchemaDifference struct {
	Field  string // name; empty: the schema as a whole
	Breaks bool   // no record with the schema can be read into the field, or become anything
	What   string
	Fix    string
}

// CompareSchema compares the fields declared in a part of the records with a schema that it is to be written with. Of a Protobuf file with
// several messages it uses the first that has all fields, else the first. leftOut reports that by their schema the records are Debezium's
// own: they are left out, so they need no fields.
func (p *Pipeline) CompareSchema(part registry.Part, s *registry.Schema) (found []SchemaDifference, leftOut bool) {
	e, schema := p.encoded(part), p.Schema()
	fields, own := schema.Declared(), func(of event.Shape) bool { return schema.OwnRecord(of) != "" }
	if part == registry.Key {
		fields, own = schema.DeclaredInKeys(), func(event.Shape) bool { return false }
	}
	if e.format == formatAvro {
		parsed, err := avro.FromRegistry(s)
		switch {
		case err != nil:
			return unusable(err), false
		case own(parsed.Shape()):
			return nil, true
		}
		return compareFields(fields, func(f event.Field) (bool, string, string) {
			there, err := parsed.Fits(f)
			if unfit, ok := errors.AsType[*avro.Misfit](err); ok {
				return there, unfit.Found, unfit.Fix
			}
			return there, "", ""
		}), false
	}
	compiled, err := protobuf.FromRegistry(s)
	if err != nil {
		return unusable(err), false
	}
	for i, name := range compiled.Messages() {
		m := compiled.Message(name)
		if own(m.Shape()) {
			return nil, true
		}
		differences := compareFields(fields, func(f event.Field) (bool, string, string) {
			unfit := m.Check([]event.Field{f})
			if len(unfit) == 0 {
				return true, "", ""
			}
			return unfit[0].Key == "", "it " + unfit[0].Msg, unfit[0].Fix
		})
		if len(differences) == 0 {
			return nil, false
		}
		if i == 0 {
			found = differences
		}
	}
	return found, false
}

func unusable(err error) []SchemaDifference {
	return []SchemaDifference{{Breaks: true, What: "no record can be read: " + err.Error(),
		Fix: "correct the pipeline's format, or the schema at the registry"}}
}

// compareFields asks for each field whether the schema has it, and what does not fit.
func compareFields(fields []event.Declared, of func(event.Field) (there bool, unfit, fix string)) (out []SchemaDifference) {
	for i := range fields {
		f := &fields[i]
		switch there, unfit, fix := of(f.Field); {
		case there && unfit != "":
			out = append(out, SchemaDifference{f.Name, true, unfit, fix})
		case there:
		case f.Needed:
			out = append(out, SchemaDifference{f.Name, true, "the schema has nothing at " + f.Where() +
				", and without it no record can be processed", "fix its path"})
		default:
			out = append(out, SchemaDifference{f.Name, false, "the schema has nothing at " + f.Where() +
				", so the field is null in all its records", "fix its path, or remove the field"})
		}
	}
	return out
}
