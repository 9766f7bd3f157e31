package propose

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/event"
	"brine/forecast"
	"brine/registry"
)

// Options describe the sample for which a configuration is proposed.
type Options struct {
	Topic   string
	Brokers []string
	HBase   string // hbase.connect
	Source  string // description of the sample, for people
	Records int    // most records of the sample to read
	// Open opens the sample. For a CSV file, it gets the fields of the columns, which are nil at first.
	Open func(fields []event.Field) (forecast.Sample, error)
	// Texts means that all values are texts whatever they mean, until fields declare them, as in CSV.
	Texts bool
	// Schema is the schema file, .proto or .avsc, of all records, and SchemaAs its path as it is written; Message names the message if the
	// file has several.
	Schema, SchemaAs, Message string
	// Container is the schema in the header of the Avro object container file whose values Open yields; empty: the sample is no such file.
	// SchemaAs is then the path at which brine.yaml is to find the schema, unless there is a registry.
	Container string
	// Registry configures the schema registry whose ids the records name; nil: they name none. RegistryUser is the user that the configuration
	// will have; empty: credentials come from the environment, if there are any.
	Registry     *registry.Options
	RegistryUser string
	Columns      []string // of CSV records; columns without a name are c1, c2, …
	// Keyed means that the records have their own keys and times, as records in a topic have.
	Keyed bool
}

// Proposal is a configuration, and the alternatives to it.
type Proposal struct {
	Records  int       `json:"records"`           // in the sample
	Bad      int       `json:"bad"`               // records that are not JSON objects
	Empty    int       `json:"empty,omitempty"`   // records without a value
	Entity   string    `json:"entity,omitempty"`  // the field that identifies what a record is about
	Single   bool      `json:"single,omitempty"`  // the sample's records do not differ, so that it proves little
	Partial  bool      `json:"partial,omitempty"` // changes lack fields that others of their entity have
	Keys     []Key     `json:"keys"`              // the first is used
	Versions []Version `json:"versions"`          // the first is used
	Fields   []Field   `json:"-"`

	opts       Options
	encoding   *encoding
	tombstones *tombstones // nil: a record without a value means nothing
}

// ErrSample is returned if nothing can be proposed for a sample.
var ErrSample = errors.New("no configuration can be proposed from this sample")

// Of returns the proposal for a sample.
func Of(ctx context.Context, o Options) (*Proposal, error) {
	raw, err := o.read(ctx, nil)
	if err != nil {
		return nil, err
	}
	e, err := o.encoding(ctx, raw)
	if e != nil {
		defer e.close()
	}
	if err != nil {
		return nil, err
	}
	p := &Proposal{Records: len(raw), opts: o, encoding: e}
	columns, err := p.declare(raw)
	if err != nil {
		return nil, err
	}
	if p.findTombstones(ctx, raw); p.tombstones != nil {
		columns = nil
	}
	events, err := p.decode(ctx, raw)
	if err == nil && p.times(events) {
		events, err = p.decode(ctx, raw)
	}
	if err != nil {
		return nil, err
	}
	if columns == nil {
		columns = columnsOf(p.Fields, events)
	}
	return p, p.weigh(newSample(p.Fields, columns, events))
}

// declare makes the fields from a schema, or from the values, which the columns describe.
func (p *Proposal) declare(raw []event.Record) ([]*column, error) {
	e := p.encoding
	if e.whole != nil {
		p.Fields = e.whole
		return nil, nil
	}
	if e.fields != nil {
		p.Fields = e.declare()
		if e.changes != nil {
			p.Fields = e.changes.extend(p.Fields)
		}
		return nil, nil
	}
	profile := newProfile()
	for i := range raw {
		if raw[i].Value != nil {
			e.objects(raw[i].Value, profile.add)
		}
	}
	if p.Bad = profile.bad; profile.records == profile.bad {
		return nil, fmt.Errorf("%w: %s holds %d records, and none of them is a JSON object%s", ErrSample, p.opts.Source, len(raw),
			p.opts.seen(raw))
	}
	p.Fields = profile.infer(e.texts)
	if e.changes != nil {
		p.Fields = e.changes.extend(p.Fields)
	}
	if e.name != "json" || e.format != nil || e.changes != nil {
		return nil, nil
	}
	return profile.fields(), nil
}

// weigh finds versions and keys.
func (p *Proposal) weigh(s *sample) error {
	e, entity := p.encoding, s.entity()
	s.whole, p.Single = e.fields != nil, s.single()
	if c := e.changes; c != nil {
		key := c.positions(p.Fields)
		if key == nil && entity >= 0 {
			key = []int{entity}
		}
		if key != nil {
			p.Versions = c.versions(s, key[0])
			p.Entity, p.Keys = strings.Join(namesOf(p.Fields, key), ", "), s.changeKeys(key, c.whole)
		}
	} else if t := p.tombstones; t != nil {
		key := t.ofKeys(s)
		p.Versions = []Version{s.byRecords(key[0])}
		p.Entity, p.Keys = strings.Join(t.key, ", "), s.changeKeys(key, false)
	} else if entity >= 0 {
		p.Versions = s.versions(entity)
		version := p.Versions[0].Field
		p.Entity, p.Partial = p.Fields[entity].Name, s.partial(entity)
		p.Keys = s.keys(entity, s.owner(entity), s.birth(entity, s.field(version)), version)
	}
	switch {
	case p.Entity == "":
		return fmt.Errorf("%w: no field of %s identifies what a record is about: none is in all records with values of its own; write the "+
			"key yourself, see docs/rowkeys.md", ErrSample, p.opts.Source)
	case len(p.Keys) == 0:
		return fmt.Errorf("%w: no key with field %s works for all records of %s", ErrSample, p.Entity, p.opts.Source)
	}
	return nil
}

// errEnough stops the reading of a sample.
var errEnough = errors.New("enough")

// read returns copies of the sample's records.
func (o *Options) read(ctx context.Context, fields []event.Field) ([]event.Record, error) {
	from, err := o.Open(fields)
	if err != nil {
		return nil, err
	}
	var out []event.Record
	err = forecast.Each(ctx, from, func(rec *event.Record) error {
		if len(out) == o.Records {
			return errEnough
		}
		out = append(out, rec.Clone())
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	return out, nil
}

// schema returns how the records are read.
func (p *Proposal) schema() event.Schema {
	e := p.encoding
	out := event.Schema{Version: -1, Format: e.format}
	for _, f := range p.Fields {
		out.Fields = append(out.Fields, f.Field)
	}
	if t := p.tombstones; t != nil {
		out.Tombstones, out.Images.Deleted = true, t.gone
		out.KeyFormat = t.format
	}
	if e.changes == nil {
		return out
	}
	_, envelope := e.changes.envelope(p.Fields)
	out.Images.Deleted = e.changes.gone
	return envelope.Wrap(out)
}

// decode decodes the records by the fields. It leaves out records that cannot be read, and those that contain nothing.
func (p *Proposal) decode(ctx context.Context, raw []event.Record) ([]event.Event, error) {
	schema := p.schema()
	if p.opts.Texts {
		var err error
		if raw, err = p.opts.read(ctx, schema.Fields); err != nil {
			return nil, err
		}
	}
	if err := schema.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSample, err)
	}
	d, batch, bad, why := event.NewDecoder(schema), &event.Batch{}, 0, error(nil)
	for i := range raw {
		if err := d.Resolve(ctx, &raw[i]); err != nil {
			return nil, err
		}
		if err := d.Decode(&raw[i], batch); err != nil && len(raw[i].Value) > 0 {
			bad, why = bad+1, err
		}
	}
	if p.encoding.fields != nil {
		p.Bad = bad
	}
	events := slices.DeleteFunc(batch.Events, func(ev event.Event) bool { return ev.LeftOut != "" })
	if len(events) == 0 && why != nil {
		return nil, fmt.Errorf("%w: no record of %s can be read as %s: %w", ErrSample, p.opts.Source, p.encoding.name, why)
	}
	return events, nil
}

// name returns a word as the pipeline's name: the last part of the topic's name.
func name(topic string) string {
	word := topic[strings.LastIndexAny(topic, ".")+1:]
	word = strings.Trim(legal(word), "_")
	if word == "" {
		return "records"
	}
	return word
}
