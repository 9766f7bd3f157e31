package avro

import (
	"context"
	"errors"

	"brine/event"
	"brine/registry"
)

// Schemas finds the schemas that records name. A registry.Client is one.
type Schemas interface {
	// Schema returns the schema with an id. Its error is a *registry.Error or that of ctx.
	Schema(ctx context.Context, id registry.ID) (*registry.Schema, error)
}

// Registered returns the format of records that name their schemas in the framing f. Each is read by its own schema.
func Registered(f registry.Framing, s Schemas) event.Format { return registered{f, s} }

type registered struct {
	framing registry.Framing
	schemas Schemas
}

// NewReader implements event.Format.
func (f registered) NewReader(root *event.Node) event.Reader {
	return &registeredReader{frames: newFrames(f.framing, registry.PartOf(root)), schemas: f.schemas, root: root,
		plans: map[registry.ID]*idPlan{}, unknown: map[registry.ID]*event.Error{}}
}

// registeredReader keeps a plan for each recent schema. The plan is all it needs to read a record: a registry that is away, or has lost an
// id meanwhile, stops nothing that could be read before.
type registeredReader struct {
	*frames
	run
	schemas Schemas
	root    *event.Node
	recent  *idPlan // of the previous record
	plans   map[registry.ID]*idPlan
	unknown map[registry.ID]*event.Error // ids for which the registry had no schema when last asked
}

type idPlan struct {
	id   registry.ID
	name string // of the schema, for people
	plan rootPlan
	err  error // the schema cannot be used
	// breaks is why the schema is breaking; nil if it is not.
	breaks *event.Breaking
}

// The most plans, and unknown ids, that a reader keeps. Beyond that, all are dropped; making them again takes microseconds.
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
		return &event.Error{Reason: event.Undecodable, Detail: "the schema of " + framed.ID.String() + " was not fetched"}
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

// Own implements event.Recognizer.
func (r *registeredReader) Own(rec *event.Record) event.LeftOut {
	if framed, err := r.frame(rec); err == nil {
		if p := r.find(framed.ID); p != nil {
			return r.own(&p.plan, framed.Data)
		}
	}
	return ""
}

// find returns the plan for an id, or nil if there is none yet.
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
		if p.plan = planRoot(schema, r.root); p.plan.own == "" {
			p.breaks = schema.Breaks(r.root.Declared())
		}
		if p.breaks != nil {
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

// FromRegistry parses a registry's schema.
func FromRegistry(s *registry.Schema) (*Schema, error) {
	if s.Type != registry.Avro {
		return nil, errors.New("it is of type " + string(s.Type) + ", but the format is avro")
	}
	references := make([]string, len(s.References))
	for i := range s.References {
		references[i] = s.References[i].Text
	}
	return Parse(s.Text, references...)
}

// Framed returns the format of records that are framed as for a registry but all read by one schema, whichever id they name.
func Framed(f registry.Framing, s *Schema) event.Format { return framed{f, s} }

type framed struct {
	framing registry.Framing
	schema  *Schema
}

// NewReader implements event.Format.
func (f framed) NewReader(root *event.Node) event.Reader {
	return &framedReader{frames: newFrames(f.framing, registry.PartOf(root)), plan: planRoot(f.schema, root)}
}

type framedReader struct {
	*frames
	run
	plan rootPlan
}

// Own implements event.Recognizer.
func (r *framedReader) Own(rec *event.Record) event.LeftOut {
	framed, err := r.frame(rec)
	if err != nil {
		return ""
	}
	return r.own(&r.plan, framed.Data)
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
	part    registry.Part
	rec     *event.Record                    // the current one
	header  func(name string) ([]byte, bool) // last, made once because a method value allocates
}

func newFrames(f registry.Framing, part registry.Part) *frames {
	out := &frames{framing: f, part: part}
	out.header = out.last
	return out
}

func (f *frames) frame(rec *event.Record) (registry.Framed, error) {
	if len(rec.Headers) == 0 {
		return f.framing.Frame(f.part, rec.Value, nil)
	}
	f.rec = rec
	framed, err := f.framing.Frame(f.part, rec.Value, f.header)
	f.rec = nil
	return framed, err
}

// last returns the last header of a name.
func (f *frames) last(name string) ([]byte, bool) { return registry.LastHeader(f.rec, name) }
