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

// DeadLetters is a scan of the dead letters of pipelines that knows which half rejected each record.
type DeadLetters struct {
	deadletter.Scan
	Several    bool // whether a pipeline reads several topics
	cfg        *config.Config
	undeclared bool // whether the pipelines are known only from their dead letters, not from a configuration

	schemas map[string]registry.ID // by the name that Schema returned
	silent  bool                   // whether the registry timed out
}

// NewDeadLetters returns a scan of the dead letters of a pipeline (empty: all) and of one kind of its halves (empty: both) that match a
// filter. A configuration without pipelines gets those whose dead letters the brokers hold.
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

// add adds the dead-letter topics of a pipeline. If the pipeline reads a topic pattern, the topics are those that have a dead-letter topic.
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

// Half returns the half of a group. ok is false if the configuration has no such group.
func (d *DeadLetters) Half(group string) (h config.Half, ok bool) {
	for _, p := range d.cfg.Pipelines {
		for _, kind := range []string{"rows", "documents"} { // including a half that the pipeline no longer has
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

// Name returns pipeline.half, or the group if the configuration has no such group.
func (d *DeadLetters) Name(group string) string {
	if h, ok := d.Half(group); ok {
		return h.Name()
	}
	return group
}

// Mask returns the masking rules of the configuration.
func (d *DeadLetters) Mask() *mask.Rules { return d.cfg.Mask() }

// Schema returns the id of the schema that a dead letter's record was written with, or "" if its framing has no readable id.
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

// SchemaName adds to an id from Schema the subject that it is registered for, if the registry or its cache answers in time.
func (d *DeadLetters) SchemaName(ctx context.Context, schema string) string {
	id, ok := d.schemas[schema]
	if !ok || d.silent {
		return schema
	}
	ctx, stop := context.WithTimeout(ctx, nameWithin)
	defer stop()
	found, err := d.cfg.RegisteredSchema(ctx, id)
	if err != nil {
		d.silent = ctx.Err() != nil // it would not answer the next one either
		return schema
	}
	return found.String()
}

// nameWithin is the timeout of the registry for a name, which only makes an answer easier to read.
const nameWithin = 5 * time.Second

// deadSuffix is the default suffix of the names of dead-letter topics.
const deadSuffix = ingest.DeadLetterSuffix

// findDeadLetters adds the dead-letter topics that the brokers hold to a configuration without pipelines.
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
		return fault.New(fault.Missing, errors.New("the brokers have no dead-letter topic, that is, none whose name ends in "+deadSuffix),
			"other names are known only from the configuration: -c FILE")
	}
	return nil
}
