package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"brine/config"
	"brine/event"
	"brine/forecast"
	"brine/service/brokers"
)

// openSample opens the sample that --sample names: topic:NAME, topic:NAME@N or a file of records. It also returns the pipelines that take
// the sample: the named ones or, for a topic, those that read it. None means all.
func openSample(ctx context.Context, cfg *config.Config, name, encoding string, pipelines []string) (forecast.Sample, []string, error) {
	for _, p := range pipelines {
		if cfg.Pipeline(p) == nil {
			return nil, nil, usage(fmt.Errorf("--pipeline: there is no pipeline %s", p))
		}
	}
	if topic, ok := strings.CutPrefix(name, "topic:"); ok {
		if encoding != "" && encoding != "utf-8" {
			return nil, nil, usage(fmt.Errorf("--encoding %s: for a topic, the pipeline's format says how records are encoded; remove the flag",
				encoding))
		}
		return topicSample(ctx, cfg, topic, pipelines)
	}
	var fields []event.Field
	if forecast.IsCSV(name) {
		if len(pipelines) > 1 || len(pipelines) == 0 && len(cfg.Pipelines) > 1 {
			return nil, nil, usage(errors.New("--sample: a pipeline's fields define the columns of a CSV file; choose one with " +
				"--pipeline"))
		}
		p, err := pipeline(cfg, strings.Join(pipelines, ""))
		if err != nil {
			return nil, nil, err
		}
		fields = p.Schema().Recorded()
	}
	sample, err := forecast.OpenFile(name, encoding, fields)
	return sample, pipelines, sampleError(err)
}

func topicSample(ctx context.Context, cfg *config.Config, text string, pipelines []string) (forecast.Sample, []string, error) {
	topic, n, err := forecast.ParseTopic(text)
	if err != nil {
		return nil, nil, sampleError(err)
	}
	if len(pipelines) == 0 {
		for _, p := range cfg.Pipelines {
			if p.Reads(topic) {
				pipelines = append(pipelines, p.Name)
			}
		}
	}
	if len(pipelines) == 0 {
		return nil, nil, usage(fmt.Errorf("--sample: no pipeline reads topic %s", topic))
	}
	sample, err := brokers.Topics{Config: cfg}.Sample(ctx, topic, n)
	return sample, pipelines, err
}

// sampleError adds the name of the flag to an error of the sample itself.
func sampleError(err error) error {
	if wrong, ok := errors.AsType[*forecast.SampleError](err); ok {
		return usage(fmt.Errorf("--sample: %w", wrong))
	}
	return err
}
