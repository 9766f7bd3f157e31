package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"brine/event/avro"
	"brine/registry"
)

const formatAvro = "avro"

// frameNone is a framing that is none: the schema is a file, and records hold nothing before their value.
const frameNone = "none"

func (l *loader) checkAvro(c *Config, p *Pipeline, setting string) {
	if p.SchemaFile == "" {
		switch {
		case p.Framing != frameNone:
			l.fault(setting+".framing", Unused, "is that of records whose schema is a file",
				"write schema: FILE.avsc, or write it as registry.framing")
		case c.Schemas.URL == "":
			l.fault(setting+".format", Missing, "avro cannot be read without a schema",
				"write schema: FILE.avsc, or registry: { url: … } if the records are framed for a schema registry")
		}
		p.format = avro.Registered(registry.Framing(c.Schemas.Framing), &schemas{config: c})
		return
	}
	file := l.beside(p.SchemaFile)
	p.schemaAt = file
	text, err := os.ReadFile(file)
	if err != nil {
		l.fault(setting+".schema", Unreadable, file+" cannot be read: "+reason(err), "write the path of an .avsc file, from where "+
			filepath.Base(l.file)+" lies")
		return
	}
	p.schemaSum = sha256.Sum256(text)
	schema, err := avro.Parse(string(text))
	if err != nil {
		l.fault(setting+".schema", Unreadable, file+lineOf(err, text)+" is no Avro schema: "+err.Error(), "fix the file: brine reads what "+
			"Avro's own tools take, with all types in one file")
		return
	}
	if p.format = avro.Bare(schema); p.Framing != frameNone {
		p.format = avro.Framed(registry.Framing(p.Framing), schema)
	}
	if p.Envelope.Form == "" { // else fields are those of the row within
		l.compareAvro(schema, p, setting+".fields")
	}
}

// lineOf is where JSON breaks off, as :7; empty for other errors.
func lineOf(err error, text []byte) string {
	var broken *json.SyntaxError
	var tree any
	if !errors.As(err, &broken) && !errors.As(json.Unmarshal(text, &tree), &broken) {
		return ""
	}
	return ":" + strconv.Itoa(1+bytes.Count(text[:min(len(text), int(broken.Offset))], []byte("\n")))
}

// compareAvro compares the declared fields with those of the schema's file. What is absent may come with a later schema.
func (l *loader) compareAvro(schema *avro.Schema, p *Pipeline, setting string) {
	for _, f := range p.Schema().Fields {
		if f.Type == 0 || f.Made || f.Name == p.Images.Deleted || strings.HasPrefix(f.Keys()[0], "$") { // reported already, or not of the value
			continue
		}
		at := join(setting, f.Name)
		switch there, err := schema.Fits(f); {
		case err != nil:
			what, fix := advise(err, "")
			l.fault(at, FieldTypes, what, fix)
		case !there:
			l.warn(at, UnknownField, "the schema has nothing at "+strings.Join(f.Keys(), ".")+", so the field is always null",
				"fix its path, or remove the field")
		}
	}
}
