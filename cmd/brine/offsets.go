package main

import (
	"context"
	"fmt"
	"time"

	"brine/config"
	"brine/ingest/offsets"
)

type offsetsCmd struct {
	Show offsetsShowCmd `cmd:"" help:"Show where the pipelines are in their topics."`
	Set  offsetsSetCmd  `cmd:"" help:"Have a pipeline go on elsewhere in its topic."`
}

// offsetsFlags say whose offsets are meant.
type offsetsFlags struct {
	configFlag
	timeoutFlag
	Pipeline string `placeholder:"NAME" help:"Only this pipeline."`
	Half     string `enum:"rows,documents,both" default:"both" help:"Only what writes the rows, or the documents: rows, documents or both (default)."`
}

// liveGroup is the group of one half of a pipeline, as the brokers know it.
type liveGroup struct {
	*offsets.Group
	name    string        // pipeline.rows or pipeline.documents
	session time.Duration // for how long brokers list a member that was killed
}

// groups looks up the groups that are meant.
func (f *offsetsFlags) groups(ctx context.Context, cfg *config.Config, client *offsets.Client) ([]*liveGroup, error) {
	if len(cfg.Pipelines) == 0 {
		if err := findPipelines(ctx, cfg, client); err != nil {
			return nil, err
		}
	}
	if f.Pipeline != "" {
		if _, err := pipeline(cfg, f.Pipeline); err != nil {
			return nil, err
		}
	}
	var out []*liveGroup
	add := func(p *config.Pipeline, half, group string) {
		out = append(out, &liveGroup{&offsets.Group{Group: group, Topic: p.Topic}, p.Name + "." + half, cfg.Kafka.SessionTimeout})
	}
	for _, p := range cfg.Pipelines {
		if f.Pipeline != "" && f.Pipeline != p.Name {
			continue
		}
		if len(p.Rows) > 0 && f.Half != "documents" {
			add(p, "rows", p.RowsGroup())
		}
		if len(p.Documents) > 0 && f.Half != "rows" {
			add(p, "documents", p.DocumentsGroup())
		}
	}
	if len(out) == 0 {
		return nil, usage(fmt.Errorf("--half %s: no pipeline that is meant writes %s", f.Half, f.Half))
	}
	for _, g := range out {
		if err := g.lookUp(ctx, client); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// lookUp asks the brokers where the group is now.
func (g *liveGroup) lookUp(ctx context.Context, client *offsets.Client) error {
	found, err := client.Group(ctx, g.Group.Group, g.Topic)
	if err != nil {
		return kafkaError(fmt.Errorf("%s: %w", g.name, err))
	}
	g.Group = found
	return nil
}
