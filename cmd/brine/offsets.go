package main

import (
	"context"

	"brine/config"
	"brine/ingest/offsets"
	"brine/service/brokers"
	"brine/service/verifications"
)

type offsetsCmd struct {
	Show offsetsShowCmd `cmd:"" help:"Show the pipelines' offsets in their topics."`
	Set  offsetsSetCmd  `cmd:"" help:"Move a pipeline to other offsets of its topic."`
}

// offsetsFlags select consumer groups and the brokers that hold their offsets.
type offsetsFlags struct {
	halvesFlags
	brokersFlag
}

// open connects to the brokers and runs work with the selected groups.
func (f *offsetsFlags) open(e *env, work func(*config.Config, *offsets.Client, []*brokers.Group) error) error {
	cfg, err := f.config(e, f.configFlag)
	if err != nil {
		return err
	}
	client := brokers.Open(&cfg.Kafka)
	defer client.Close()
	groups, err := f.groups(e.ctx, cfg, client)
	if err != nil {
		return err
	}
	return work(cfg, client, groups)
}

// halvesFlags select halves of pipelines.
type halvesFlags struct {
	configFlag
	timeoutFlag
	Pipeline string `placeholder:"NAME" help:"Only this pipeline (default: all)."`
	Topic    string `placeholder:"TOPIC" help:"Only this topic, of those that the pipeline reads."`
	Half     string `enum:"rows,documents,both" default:"both" help:"Half of the pipeline: rows, documents or both (default)."`
}

// groups looks up the selected groups.
func (f *halvesFlags) groups(ctx context.Context, cfg *config.Config, client *offsets.Client) ([]*brokers.Group, error) {
	if len(cfg.Pipelines) == 0 {
		if err := brokers.FindPipelines(ctx, client, cfg); err != nil {
			return nil, err
		}
	}
	if f.Pipeline != "" {
		if _, err := pipeline(cfg, f.Pipeline); err != nil {
			return nil, err
		}
	}
	halves, err := verifications.Halves(cfg, f.Pipeline, kindOf(f.Half))
	if err != nil {
		return nil, err
	}
	return brokers.Groups(ctx, client, cfg, halves, f.Topic)
}
