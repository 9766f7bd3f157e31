package avro

import (
	"context"
	"errors"

	"brine/event"
	"brine/registry"
)

// Schemas finds the schemas that records name. A registry.Client does.
type Schemas interface {
	// Schema returns the schema of an id. Its error is a *registry.Error or that of ctx.
	Schema(ctx context.Context, id registry.ID) (*registry.Schema, error)
}

// Registered is the format of records that name their schemas, as f frames them: each is read by its own.
func Registered(f registry.Framing, s Schemas) event.Format { return registered{f, s} }

type registered struct {
	framing registry.Framing
	schemas Schemas
}

// NewReader implements event.Format.
func (f registered) NewReader(root *event.Node) event.Reader {
	return &registeredReader{frames: newFrames(f.framing), schemas: f.schemas, root: root, plans: map[registry.ID]*idPlan{},
		unknown: map[registry.ID]*event.Error{}}
}

// registeredReader keeps a plan for each schema that it has met lately. It needs no more than the plan to read a record: a registry that is
// away, or that has forgotten an id meanwhile, stops nothing that was read before.
type registeredReader struct {
	*frames
	run
	schemas Schemas
	root    *event.Node
	recent  *idPlan // of the record before
	plans   map[registry.ID]*idPlan
	unknown map[registry.ID]*event.Error // ids that the registry has no schema of, and said so when it was asked last
}

type idPlan struct {
	id   registry.ID
	name string // of the schema, for people
	plan step
	err  error // the schema cannot be used
	// breaks is why it is a breaking schema; nil: it is none.
	breaks *event.Breaking
}

// Most plans, and unknown ids, that a reader keeps. When there are more, all go: they are made again in microseconds.
const (
	maxPlans   = 256
	maxUnknown = 1000
)

// Resolve implements event.Resolver.
func (r *registeredReader) Resolve(ctx context.Context, rec *event.Record) error {
	if len(rec.Value) == 0 {
		return nil
	}
	framed, err := r.frame(rec)
	if err != nil || r.find(framed.ID) != nil {
		return nil //nolint:nilerr // Read rejects it
	}
	schema, err := r.schemas.Schema(ctx, framed.ID)
	if err == nil {
		r.learn(schema)
		return nil
	}
	err = registry.Judge(err)
	if reject, ok := errors.AsType[*event.Error](err); ok {
		if len(r.unknown) >= maxUnknown {
			clear(r.unknown)
		}
		r.unknown[framed.ID] = reject
		return nil
	}
	return err
}

// Read implements event.Reader.
func (r *registeredReader) Read(rec *event.Record, b *event.Builder) *event.Error {
	framed, err := r.frame(rec)
	if err != nil {
		return &event.Error{Reason: event.Undecodable, Detail: err.Error()}
	}
	p := r.find(framed.ID)
	if p == nil {
		if err := r.unknown[framed.ID]; err != nil {
			return err
		}
		return &event.Error{Reason: event.Undecodable, Detail: "the schema of " + framed.ID.String() + " was not asked for"}
	}
	if err := b.Breaks(p.breaks); err != nil {
		return err
	}
	if p.err != nil {
		return &event.Error{Reason: event.Undecodable, Detail: "the schema of " + p.name + " cannot be used: " + p.err.Error()}
	}
	if err := r.value(&p.plan, framed.Data, b); err != nil {
		err.Detail += "; it was written with the schema of " + p.name
		return err
	}
	return nil
}

// find returns the plan of an id, nil if there is none yet.
func (r *registeredReader) find(id registry.ID) *idPlan {
	if r.recent != nil && r.recent.id == id {
		return r.recent
	}
	if p := r.plans[id]; p != nil {
		r.recent = p
		return p
	}
	return nil
}

// learn makes the plan of a schema.
func (r *registeredReader) learn(s *registry.Schema) *idPlan {
	p := &idPlan{id: s.ID, name: s.String()}
	switch schema, err := FromRegistry(s); {
	case err != nil:
		p.err = err
		p.breaks = &event.Breaking{Detail: "the schema of " + p.name + " cannot be used: " + err.Error()}
	default:
		p.plan = planRoot(schema, r.root)
		if p.breaks = schema.Breaks(r.root.Declared()); p.breaks != nil {
			p.breaks.Detail += "; it is the schema of " + p.name
		}
	}
	if len(r.plans) >= maxPlans {
		clear(r.plans)
	}
	delete(r.unknown, s.ID)
	r.plans[s.ID], r.recent = p, p
	return p
}

// FromRegistry parses what a registry has of a schema.
func FromRegistry(s *registry.Schema) (*Schema, error) {
	if s.Type != registry.Avro {
		return nil, errors.New("it is of type " + string(s.Type) + ", and the pipeline's format is avro")
	}
	references := make([]string, len(s.References))
	for i := range s.References {
		references[i] = s.References[i].Text
	}
	return Parse(s.Text, references...)
}

// Framed is the format of records that are framed as for a registry, and are all read by one schema, whatever id they name.
func Framed(f registry.Framing, s *Schema) event.Format { return framed{f, s} }

type framed struct {
	framing registry.Framing
	schema  *Schema
}

// NewReader implements event.Format.
func (f framed) NewReader(root *event.Node) event.Reader {
	return &framedReader{frames: newFrames(f.framing), plan: planRoot(f.schema, root)}
}

type framedReader struct {
	*frames
	run
	plan step
}

// Read implements event.Reader.
func (r *framedReader) Read(rec *event.Record, b *event.Builder) *event.Error {
	framed, err := r.frame(rec)
	if err != nil {
		return &event.Error{Reason: event.Undecodable, Detail: err.Error()}
	}
	return r.value(&r.plan, framed.Data, b)
}

// frames takes records out of their frames.
type frames struct {
	framing registry.Framing
	rec     *event.Record                    // the one at hand
	header  func(name string) ([]byte, bool) // last, which is made once since a method value is allocated
}

func newFrames(f registry.Framing) *frames {
	out := &frames{framing: f}
	out.header = out.last
	return out
}

func (f *frames) frame(rec *event.Record) (registry.Framed, error) {
	if len(rec.Headers) == 0 {
		return f.framing.Frame(registry.Value, rec.Value, nil)
	}
	f.rec = rec
	framed, err := f.framing.Frame(registry.Value, rec.Value, f.header)
	f.rec = nil
	return framed, err
}

// last returns the last header of a name.
func (f *frames) last(name string) ([]byte, bool) {
	for i := len(f.rec.Headers) - 1; i >= 0; i-- {
		if f.rec.Headers[i].Key == name {
			return f.rec.Headers[i].Value, true
		}
	}
	return nil, false
}
