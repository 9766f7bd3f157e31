package brokers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"brine/config"
	"brine/ingest"
	"brine/ingest/deadletter"
	"brine/internal/fault"
	"brine/mask"
	"brine/registry"
)

// DeadLetters is a scan of the dead letters of pipelines, and knows which half has rejected a record.
type DeadLetters struct {
	deadletter.Scan
	Several    bool // a pipeline reads several topics
	cfg        *config.Config
	undeclared bool // no configuration declares the pipelines: what dead letters say of theirs is all that is known

	schemas map[string]registry.ID // by what Schema has called them
	silent  bool                   // the registry has not answered in time
}

// NewDeadLetters returns a scan of the dead letters of a pipeline (empty: of all) and of one kind of its halves (empty: of both) that a
// filter takes. A configuration that has no pipelines gets those whose dead letters the brokers hold.
func NewDeadLetters(ctx context.Context, cfg *config.Config, pipeline, kind string, filter deadletter.Filter) (*DeadLetters, error) {
	d := &DeadLetters{Scan: deadletter.Scan{Filter: filter}, cfg: cfg, undeclared: len(cfg.Pipelines) == 0}
	if d.undeclared {
		if err := findDeadLetters(ctx, cfg); err != nil {
			return nil, err
		}
	}
	for _, p := range cfg.Pipelines {
		if !d.undeclared && pipeline != "" && pipeline != p.Name {
			continue
		}
		if err := d.add(ctx, p); err != nil {
			return nil, err
		}
	}
	d.Filter.Groups = func(group string) bool {
		h, ok := d.Half(group)
		return (pipeline == "" || ok && h.Pipeline.Name == pipeline) && (kind == "" || h.Kind == kind)
	}
	return d, nil
}

// add adds the topics of a pipeline's dead letters. Where topics come and go, those count whose dead letters are there.
func (d *DeadLetters) add(ctx context.Context, p *config.Pipeline) error {
	d.Several = d.Several || p.Several()
	sources := p.Named()
	if p.TopicPattern != "" {
		client := Open(&d.cfg.Kafka)
		defer client.Close()
		names, err := client.TopicNames(ctx)
		if err != nil {
			return Error(err)
		}
		for _, name := range names {
			if source := strings.TrimSuffix(name, deadSuffix); p.Reads(source) {
				sources = append(sources, source)
			}
		}
	}
	for _, source := range sources {
		o := d.cfg.Ingest(p.On(source), p.RowsGroup()).DeadLetterTopicOptions()
		if !slices.ContainsFunc(d.Topics, func(other deadletter.Options) bool { return other.Topic == o.Topic }) {
			d.Topics = append(d.Topics, o)
		}
	}
	return nil
}

// Half returns the half of a group; ok is false when the configuration has none such.
func (d *DeadLetters) Half(group string) (h config.Half, ok bool) {
	for _, p := range d.cfg.Pipelines {
		for _, kind := range []string{"rows", "documents"} { // those too that the pipeline has no more
			if h := (config.Half{Pipeline: p, Kind: kind}); h.Group() == group {
				return h, true
			}
		}
	}
	if name, kind, ok := d.cfg.Kafka.PipelineOf(group); ok && d.undeclared {
		return config.Half{Pipeline: &config.Pipeline{Name: name}, Kind: kind}, true
	}
	return config.Half{}, false
}

// Name is pipeline.half, or the group when the configuration has none such.
func (d *DeadLetters) Name(group string) string {
	if h, ok := d.Half(group); ok {
		return h.Name()
	}
	return group
}

// Mask says what the configuration masks.
func (d *DeadLetters) Mask() *mask.Rules { return d.cfg.Mask() }

// Schema is the id of the schema that a dead letter's record was written with; empty: its framing has none, or none that can be read.
func (d *DeadLetters) Schema(l *deadletter.Letter) string {
	h, ok := d.Half(l.Group)
	if !ok {
		return ""
	}
	id, ok := h.Pipeline.WrittenWith(l.Record)
	if !ok {
		return ""
	}
	name := id.String()
	if d.schemas == nil {
		d.schemas = map[string]registry.ID{}
	}
	if len(d.schemas) < deadletter.MaxKinds {
		d.schemas[name] = id
	}
	return name
}

// SchemaName adds to an id of Schema the subject that it is registered for, if the registry, or the cache of its answers, says so soon.
func (d *DeadLetters) SchemaName(ctx context.Context, schema string) string {
	id, ok := d.schemas[schema]
	if !ok || d.silent {
		return schema
	}
	ctx, stop := context.WithTimeout(ctx, nameWithin)
	defer stop()
	found, err := d.cfg.RegisteredSchema(ctx, id)
	if err != nil {
		d.silent = ctx.Err() != nil // it would be as silent for the next
		return schema
	}
	return found.String()
}

// nameWithin is how long a registry has to name a schema: names only make an answer easier to read.
const nameWithin = 5 * time.Second

// deadSuffix ends the names of topics of dead letters, where the configuration does not say otherwise.
const deadSuffix = ingest.DeadLetterSuffix

// findDeadLetters adds the topics whose dead letters the brokers hold to a configuration that has no pipelines.
func findDeadLetters(ctx context.Context, cfg *config.Config) error {
	client := Open(&cfg.Kafka)
	defer client.Close()
	names, err := client.TopicNames(ctx)
	if err != nil {
		return Error(err)
	}
	for _, name := range names {
		if topic, ok := strings.CutSuffix(name, deadSuffix); ok {
			cfg.Found("", topic, "")
		}
	}
	if len(cfg.Pipelines) == 0 {
		return fault.New(fault.Missing, errors.New("the brokers have no topic of dead letters, whose names end in "+deadSuffix),
			"those of other names are known to the configuration only: -c FILE")
	}
	return nil
}
