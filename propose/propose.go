package propose

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"brine/event"
	"brine/forecast"
)

// Options says of what a configuration is proposed.
type Options struct {
	Topic   string
	Brokers []string
	HBase   string // hbase.connect
	Source  string // what the sample is, for people
	Records int    // of the sample that are read, at most
	// Open opens the sample; of a file of CSV with the fields of its columns, nil at first.
	Open func(fields []event.Field) (forecast.Sample, error)
	// Texts: all values are texts whatever they mean, until fields say what; so it is with CSV.
	Texts bool
	// Keyed: the records have keys and times of their own, as those of a topic have.
	Keyed bool
}

// Proposal is a configuration, and what there is to choose from.
type Proposal struct {
	Records  int       `json:"records"`           // of the sample
	Bad      int       `json:"bad"`               // that are no JSON objects
	Entity   string    `json:"entity,omitempty"`  // the field that says what a record is about
	Partial  bool      `json:"partial,omitempty"` // changes lack fields of which others of their entity have
	Keys     []Key     `json:"keys"`              // the first is taken
	Versions []Version `json:"versions"`          // the first is taken
	Fields   []Field   `json:"-"`

	opts Options
}

// ErrSample is the error of a sample of which nothing can be proposed.
var ErrSample = errors.New("nothing can be proposed of this sample")

// Of makes a proposal.
func Of(ctx context.Context, o Options) (*Proposal, error) {
	raw, err := o.read(ctx, nil)
	if err != nil {
		return nil, err
	}
	profile := newProfile()
	for i := range raw {
		profile.add(raw[i].Value)
	}
	if profile.records == profile.bad {
		return nil, fmt.Errorf("%w: %s holds %d records, and none of them is a JSON object", ErrSample, o.Source, profile.records)
	}
	p := &Proposal{Records: profile.records, Bad: profile.bad, Fields: profile.infer(o.Texts), opts: o}
	events, err := p.decode(ctx, raw)
	if err != nil {
		return nil, err
	}
	s := newSample(p.Fields, profile.fields(), events)
	entity := s.entity()
	if entity < 0 {
		return nil, fmt.Errorf("%w: no field of %s names what a record is about: none is in all records with values of its own; write the key "+
			"yourself, see docs/rowkeys.md", ErrSample, o.Source)
	}
	p.Versions = s.versions(entity)
	version := p.Versions[0].Field
	p.Entity, p.Partial = p.Fields[entity].Name, s.partial(entity)
	p.Keys = s.keys(entity, s.owner(entity), s.birth(entity, s.field(version)), version)
	if len(p.Keys) == 0 {
		return nil, fmt.Errorf("%w: no key of field %s holds for all records of %s", ErrSample, p.Entity, o.Source)
	}
	return p, nil
}

// errEnough ends the reading of a sample.
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

// decode reads the records by the fields; those that are no JSON objects are left out.
func (p *Proposal) decode(ctx context.Context, raw []event.Record) ([]event.Event, error) {
	schema := event.Schema{Version: -1}
	for _, f := range p.Fields {
		schema.Fields = append(schema.Fields, f.Field)
	}
	if p.opts.Texts {
		var err error
		if raw, err = p.opts.read(ctx, schema.Fields); err != nil {
			return nil, err
		}
	}
	if err := schema.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSample, err)
	}
	d, batch := event.NewDecoder(schema), &event.Batch{}
	for i := range raw {
		_ = d.Decode(&raw[i], batch) // what is no object is counted as bad already
	}
	return batch.Events, nil
}

// name is a word for a pipeline: what a topic's name ends with.
func name(topic string) string {
	word := topic[strings.LastIndexAny(topic, ".")+1:]
	word = strings.Trim(legal(word), "_")
	if word == "" {
		return "records"
	}
	return word
}
