package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/config"
	"brine/event"
	"brine/explain"
	"brine/ingest"
	"brine/internal/fault"
	"brine/service/brokers"
	"brine/service/fixes"
	"brine/service/former"
)

// Explain reports what became of a record in the pipelines that read its topic. The service must have been opened for all of their halves.
func (s *Service) Explain(ctx context.Context, topic string, partition int, offset int64) (*explain.Report, error) {
	k := &s.Config().Kafka
	asks := brokers.Offsets{Client: brokers.Open(k)}
	defer asks.Close()
	o := explain.Options{Topic: topic, Partition: partition, Offset: offset, Client: s.Client(), Engine: s.engine, Offsets: asks,
		Kafka: ingest.Options{Kafka: k.Options(), RequestTimeout: k.RequestTimeout}}
	var halves []config.Half
	for _, p := range s.Config().Pipelines {
		if p.Reads(topic) {
			halves = append(halves, p.On(topic).Halves()...)
		}
	}
	notes, err := Former(ctx, s.Config(), s.log, halves...)
	if err != nil {
		return nil, err
	}
	for _, p := range s.Config().Pipelines {
		if p.Reads(topic) {
			o.Sources = append(o.Sources, s.explained(notes, p.On(topic), partition, offset)...)
		}
	}
	report, err := explain.Explain(ctx, o)
	if err == nil {
		report.Hide(s.Config().Mask(), func(name string) event.Schema { return s.Config().Pipeline(name).Schema() })
	}
	switch {
	case errors.Is(err, explain.ErrNoPartition):
		return nil, fault.New(fault.Missing, err, "")
	case errors.Is(err, explain.ErrOutside):
		return nil, fault.New(fault.Failed, err, "name an offset within it; brine deadletters ls also lists records that have left the log")
	}
	return report, IngestError(err)
}

// Seek looks for the records that a cell comes from. It reads the topics of the given halves, each of a single topic, which write the
// cell's table. o says what to look for and how much to read at most.
func (s *Service) Seek(ctx context.Context, cfg *config.Config, o explain.SeekOptions, halves []config.Half) (*explain.Sought, error) {
	k := &cfg.Kafka
	asks := brokers.Offsets{Client: brokers.Open(k)}
	defer asks.Close()
	o.Kafka, o.Offsets, o.Client = ingest.Options{Kafka: k.Options(), RequestTimeout: k.RequestTimeout}, asks, s.Client()
	for _, h := range halves {
		src := s.explainedBy(h.Pipeline, explain.Configured(""))
		explainHalf(&src, h)
		o.Sources = append(o.Sources, explain.SeekSource{Source: src, Topic: h.Pipeline.Topic})
	}
	sought, err := explain.Seek(ctx, o)
	return sought, IngestError(err)
}

// explained returns a pipeline as explain reads it, in the configuration that was in force when the record arrived. It returns two sources
// if the pipeline's halves were configured differently at that time.
func (s *Service) explained(notes *former.Notes, p *config.Pipeline, partition int, offset int64) (out []explain.Source) {
	var cfgs []*config.Config // parallel to out
	for _, h := range p.Halves() {
		now := h
		cfg, was, known := notes.Of(h).As(partition, offset)
		by := explain.Configured("")
		switch {
		case !known:
			by = explain.Unknown
		case cfg != nil:
			h, by = *was, explain.Earlier
		}
		i := slices.IndexFunc(out, func(src explain.Source) bool { return src.Configured == by })
		if i < 0 || cfgs[i] != cfg {
			i = len(out)
			src := s.explainedBy(h.Pipeline, by)
			src.Letters = s.Config().Ingest(p, p.RowsGroup())
			src.Fixed = func(half, let string) (*explain.Source, error) { return s.explainedFixed(p, half, let) }
			out, cfgs = append(out, src), append(cfgs, cfg)
		}
		for _, topic := range notes.Letters(now) { // each half has its own
			if !slices.Contains(out[i].Before, topic) {
				out[i].Before = append(out[i].Before, topic)
			}
		}
		explainHalf(&out[i], h)
	}
	return out
}

// explainedBy returns the explain source of a pipeline, without its halves.
func (s *Service) explainedBy(p *config.Pipeline, by explain.Configured) explain.Source {
	src := explain.Source{Pipeline: p.Name, Configured: by, Schema: p.Schema(), Letters: s.Config().Ingest(p, p.RowsGroup()),
		Through: through(p, s.Client),
		Where:   func(setting string) explain.Place { return explain.Place(p.WhereIs(setting)) }}
	if p.When != "" {
		src.When = "pipelines." + p.Name + ".when"
	}
	return src
}

// explainedFixed returns the explain source of one half of a pipeline for a record that a replay fixed.
func (s *Service) explainedFixed(p *config.Pipeline, half, let string) (*explain.Source, error) {
	fix, err := fixes.Again(p, let)
	if err != nil {
		return nil, err
	}
	src := s.explainedBy(p, explain.Configured(""))
	src.Schema = fix.Apply(src.Schema)
	for _, h := range p.Halves() {
		if h.Kind == half {
			explainHalf(&src, h)
		}
	}
	return &src, nil
}

func explainHalf(src *explain.Source, h config.Half) {
	src.Halves = append(src.Halves, explain.Group{Half: h.Kind, Name: h.Group()})
	if h.Kind == Rows {
		opts := h.Pipeline.Sink()
		src.Rows = &opts
	} else {
		opts := h.Pipeline.Indexer()
		src.Documents = &opts
	}
}

// Reading returns the names of the halves of the pipelines that read a topic. If pipeline is not empty, it returns only that pipeline's
// halves.
func Reading(cfg *config.Config, topic, pipeline string) (halves []string, err error) {
	var topics []string
	for _, p := range cfg.Pipelines {
		if !p.Reads(topic) {
			topics = append(topics, p.Name+" reads "+p.TopicText())
			continue
		}
		if pipeline != "" && pipeline != p.Name {
			continue
		}
		for _, h := range p.Halves() {
			halves = append(halves, h.Name())
		}
	}
	if len(halves) == 0 {
		who := "no pipeline"
		if pipeline != "" && cfg.Pipeline(pipeline) == nil {
			return nil, fault.New(fault.Usage, fmt.Errorf("--pipeline: there is no pipeline %s", pipeline), "")
		}
		if pipeline != "" {
			who = "--pipeline: not " + pipeline
		}
		slices.Sort(topics)
		return nil, fault.New(fault.Usage, fmt.Errorf("%s reads topic %s; %s", who, topic, strings.Join(topics, ", ")), "")
	}
	return halves, nil
}
