package config

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"

	"brine/event"
	"brine/event/protobuf"
	"brine/registry"
)

const formatProtobuf = "protobuf"

// checkFormat checks how the pipeline's records are encoded, and makes the format that reads them.
func (l *loader) checkFormat(c *Config, p *Pipeline, setting string) {
	if p.Framing != "" && p.Framing != frameNone && p.Format != formatAvro {
		l.fault(setting+".framing", Unused, "does nothing for records of format "+p.Format, "remove it, or write format: avro")
	}
	switch p.Format {
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

func (l *loader) checkProtobuf(c *Config, p *Pipeline, setting string) {
	if p.SchemaFile == "" {
		if p.Message != "" {
			l.fault(setting+".message", Unused, "is of a file, and each record names its own message", "remove it, or write schema: FILE.proto")
		}
		if c.Schemas.URL == "" {
			l.fault(setting+".format", Missing, "protobuf cannot be read without a schema",
				"write schema: FILE.proto, or registry: { url: … } if the records are framed for a schema registry")
		}
		p.format = protobuf.Registered(registry.Framing(c.Schemas.Framing), &schemas{config: c})
		return
	}
	s, err := protobuf.CompileFile(l.beside(p.SchemaFile))
	if err != nil {
		what, fix := advise(err, "see whether protoc compiles it")
		l.fault(setting+".schema", Unreadable, what, fix)
		return
	}
	m := l.message(s, p, setting)
	if m == nil {
		return
	}
	if p.format = m; p.Envelope.Form == "" { // else fields are those of the row within
		l.checkAgainst(m, p, setting)
	}
}

// beside is a path as written, from the folder of the configuration.
func (l *loader) beside(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(l.file), path)
}

// message finds the message that the records are.
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

// checkAgainst holds the declared fields to those of the message.
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

// shortNames are the last parts of names.
func shortNames(names []string) (out []string) {
	for _, name := range names {
		out = append(out, name[strings.LastIndexByte(name, '.')+1:])
	}
	return out
}

// some are the first names of a list.
func some(names []string) string {
	const most = 12
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return oneOf(names)
}

// schemas asks the configuration's registry. All pipelines share one client, which is made when the first record asks for a schema.
type schemas struct{ config *Config }

// sharedRegistry is the client of a configuration's registry.
type sharedRegistry struct {
	once   sync.Once
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
		r.client, r.err = registry.New(o)
	})
	if r.err != nil {
		return nil, &event.Unresolved{Verdict: event.Halt, Reason: event.Unavailable, Err: r.err}
	}
	return r.client.Schema(ctx, id)
}

// Close lets go of what the configuration's formats have opened.
func (c *Config) Close() {
	r := c.shared
	r.once.Do(func() { r.err = errors.New("the configuration was closed") })
	if r.client != nil {
		r.client.Close()
	}
}
