package protobuf

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"brine/event"
	"brine/registry"
)

// Schemas finds the schemas that records name. A registry.Client is one.
type Schemas interface {
	// Schema returns the schema with an id. Its error is a *registry.Error or that of ctx.
	Schema(ctx context.Context, id registry.ID) (*registry.Schema, error)
}

// Registered returns the format of records that name their schemas, and the messages in them, in the framing f. Each is read by its own.
func Registered(f registry.Framing, s Schemas) event.Format {
	return &registered{source: s, framing: f, schemas: map[registry.ID]compiled{}}
}

// How many schemas a format keeps compiled, and for how many messages a reader keeps a plan. Beyond that, all are dropped; those in use are
// made again.
const (
	maxSchemas = 1024
	maxPlans   = 256
)

type registered struct {
	source  Schemas
	framing registry.Framing

	mu      sync.Mutex
	schemas map[registry.ID]compiled // guarded by mu
}

// compiled is a schema, or why it cannot be used.
type compiled struct {
	schema *Schema
	name   string // for people
	fault  string
}

// NewReader implements event.Format.
func (f *registered) NewReader(root *event.Node) event.Reader {
	r := &registeredReader{format: f, part: registry.PartOf(root), root: root, plans: map[registry.ID]map[string]*planned{}}
	r.header = r.lastHeader
	return r
}

// schema returns a compiled schema, from memory or from the registry.
func (f *registered) schema(ctx context.Context, id registry.ID) (compiled, error) {
	f.mu.Lock()
	c, ok := f.schemas[id]
	f.mu.Unlock()
	if ok {
		return c, nil
	}
	s, err := f.source.Schema(ctx, id)
	if err != nil {
		return compiled{}, err
	}
	f.mu.Lock() // so that none is compiled twice
	defer f.mu.Unlock()
	if c, ok := f.schemas[id]; ok {
		return c, nil
	}
	if c.schema, err = FromRegistry(s); err != nil {
		c = compiled{fault: "the schema of " + s.String() + " cannot be used: " + err.Error()}
	}
	c.name = s.String()
	if len(f.schemas) >= maxSchemas {
		clear(f.schemas)
	}
	f.schemas[id] = c
	return c, nil
}

// FromRegistry compiles a registry's schema.
func FromRegistry(s *registry.Schema) (*Schema, error) {
	if s.Type != registry.Protobuf {
		return nil, &SchemaError{Msg: "it is of type " + string(s.Type), Fix: "declare the format " + formatOf(s.Type)}
	}
	const name = "schema.proto"
	whole, imports := len(s.Descriptor) > 0, map[string][]byte{}
	for _, r := range s.References {
		whole, imports[r.Name] = whole && len(r.Descriptor) > 0, r.Descriptor
	}
	if whole {
		if out, err := LoadDescriptors(name, s.Descriptor, imports); err == nil {
			return out, nil
		}
	}
	return CompileText(name, s.Text, s.Files())
}

func formatOf(t registry.Type) string {
	switch t {
	case registry.Avro:
		return "avro"
	case registry.JSONSchema:
		return "json"
	}
	return "the one of its records"
}

// registeredReader reads records of many schemas.
type registeredReader struct {
	format *registered
	part   registry.Part
	root   *event.Node
	plans  map[registry.ID]map[string]*planned // by the bytes that select the message of the schema
	count  int                                 // number of plans
	path   [maxNested]int

	rec    *event.Record // the current record
	header func(name string) ([]byte, bool)

	// How the previous record in Confluent's framing began, up to its message, and its plan: most records begin like the one before. No
	// frame is the beginning of another, so these bytes alone say which it is.
	prefix []byte
	recent *planned

	// What Resolve learned of a missing schema, until the next record.
	unknown registry.ID
	reject  *event.Error
}

// maxNested is room for the message indexes of any schema that compiles.
const maxNested = 64

// planned is a message of a schema that records have used.
type planned struct {
	reader *reader
	name   string       // of the schema, for people
	reject *event.Error // why there is none: the message or the schema does not exist
	named  bool         // the data begins with the message's name
	breaks *event.Breaking
}

// lastHeader returns the last header of a name.
func (r *registeredReader) lastHeader(name string) ([]byte, bool) {
	return registry.LastHeader(r.rec, name)
}

// framed is a record without what names its schema and message.
type framed struct {
	id      registry.ID
	path    []int  // of the message, if the frame has a path
	name    []byte // of the message, if the frame may have a name
	which   []byte // the bytes of either
	data    []byte // of the message
	refData []byte // including the bytes of the name, if they turn out not to be one
}

func (r *registeredReader) frame(rec *event.Record) (out framed, err error) {
	r.rec = rec
	f, err := r.format.framing.Frame(r.part, rec.Value, r.header)
	if err != nil {
		return out, err
	}
	out.id, out.data, out.refData = f.ID, f.Data, f.Data
	if r.format.framing == registry.Confluent {
		before := f.Data
		if f.InHeader {
			before = f.Indexes
		}
		var rest []byte
		if out.path, rest, err = registry.MessageIndexes(before, r.path[:0]); err != nil {
			return out, err
		}
		out.which = before[:len(before)-len(rest)]
		if !f.InHeader {
			out.data = rest
		}
		return out, nil
	}
	if name, rest, ok := registry.MessageName(f.Data); ok {
		out.name, out.data = name, rest
	} else if name, ok := registry.MessageHeader(r.part, r.header); ok {
		out.name = name
	}
	out.which = out.name
	return out, nil
}

// find returns the plan of a record and the bytes of its message. Without a plan it returns the frame in f.
func (r *registeredReader) find(rec *event.Record, f *framed) (*planned, []byte, error) {
	plain := len(rec.Headers) == 0 // a header may name the schema
	if plain && r.recent != nil && bytes.HasPrefix(rec.Value, r.prefix) {
		return r.recent, rec.Value[len(r.prefix):], nil
	}
	var err error
	if *f, err = r.frame(rec); err != nil {
		return nil, nil, err
	}
	k := r.plans[f.id][string(f.which)]
	if k == nil {
		return nil, nil, nil
	}
	if plain && f.path != nil {
		r.prefix, r.recent = append(r.prefix[:0], rec.Value[:len(rec.Value)-len(f.data)]...), k
	}
	return k, k.in(f), nil
}

// Resolve implements event.Resolver.
func (r *registeredReader) Resolve(ctx context.Context, rec *event.Record) error {
	r.reject = nil
	var f framed
	if k, _, err := r.find(rec, &f); k != nil || err != nil {
		return nil //nolint:nilerr // Read rejects it
	}
	c, err := r.format.schema(ctx, f.id)
	if err = registry.Judge(err); err != nil {
		if reject, ok := errors.AsType[*event.Error](err); ok {
			r.unknown, r.reject = f.id, reject
			return nil
		}
		return err
	}
	r.plan(&f, c)
	return nil
}

// plan makes the plan of a message.
func (r *registeredReader) plan(f *framed, c compiled) {
	k := &planned{}
	var m *Message
	switch {
	case c.schema == nil:
		k.reject = &event.Error{Reason: event.Undecodable, Detail: c.fault}
		k.breaks = &event.Breaking{Detail: c.fault}
	case f.path != nil:
		m = c.schema.MessageAt(f.path)
	default:
		// Bytes that look like a name by chance match no message: the record is then the first message, as it is.
		if m = c.schema.Message(string(f.name)); m != nil && len(f.name) > 0 {
			k.named = true
		} else {
			m = c.schema.MessageAt([]int{0})
		}
	}
	if m != nil {
		k.reader, k.name = m.reader(r.root), c.name
		if k.reader.own == "" {
			k.breaks = m.Breaks(r.root.Declared())
		}
		if k.breaks != nil {
			k.breaks.Detail += "; it is the schema of " + c.name
		}
	} else if k.reject == nil {
		k.reject = &event.Error{Reason: event.Undecodable, Detail: "the schema of " + f.id.String() + " has no message where the record points"}
	}
	if r.count++; r.count > maxPlans {
		clear(r.plans)
		r.count = 1
	}
	if r.plans[f.id] == nil {
		r.plans[f.id] = map[string]*planned{}
	}
	r.plans[f.id][string(f.which)] = k
}

// in returns the bytes of the message in a record.
func (k *planned) in(f *framed) []byte {
	if !k.named && f.path == nil {
		return f.refData
	}
	return f.data
}

// Own implements event.Recognizer.
func (r *registeredReader) Own(rec *event.Record) event.LeftOut {
	var f framed
	if k, data, _ := r.find(rec, &f); k != nil && k.reader != nil {
		return k.reader.ownIn(data)
	}
	return ""
}

// Read implements event.Reader.
func (r *registeredReader) Read(rec *event.Record, b *event.Builder) *event.Error {
	var f framed
	k, data, err := r.find(rec, &f)
	switch {
	case err != nil:
		return (&event.Error{Reason: event.Undecodable, Detail: err.Error()}).Short()
	case k == nil && r.reject != nil && r.unknown == f.id:
		return r.reject
	case k == nil:
		return &event.Error{Reason: event.Undecodable, Detail: "the schema of " + f.id.String() + " was not fetched"}
	}
	if err := b.Breaks(k.breaks); err != nil {
		return err
	}
	if k.reject != nil {
		return k.reject
	}
	if err := k.reader.body(data, b); err != nil {
		named := *err
		named.Detail += "; it was written with the schema of " + k.name
		return &named
	}
	return nil
}
