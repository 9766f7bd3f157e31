package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/config"
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
	name  string // pipeline.rows or pipeline.documents
	group string
	topic string

	earliest, ends []int64       // by partition
	committed      map[int]int64 // no entry: nothing
	members        []string      // who they are and what they have; brokers list one that was killed until its session ends
	session        time.Duration // how long that is
}

// groups asks the brokers about the groups that are meant.
func (f *offsetsFlags) groups(ctx context.Context, cfg *config.Config, client *kafka.Client) ([]*liveGroup, error) {
	if len(cfg.Pipelines) == 0 {
		if err := findPipelines(ctx, cfg, client); err != nil {
			return nil, err
		}
	}
	var out []*liveGroup
	if f.Pipeline != "" {
		if _, err := pipeline(cfg, f.Pipeline); err != nil {
			return nil, err
		}
	}
	for _, p := range cfg.Pipelines {
		if f.Pipeline != "" && f.Pipeline != p.Name {
			continue
		}
		if len(p.Rows) > 0 && f.Half != "documents" {
			out = append(out, &liveGroup{name: p.Name + ".rows", group: p.RowsGroup(), topic: p.Topic, session: cfg.Kafka.SessionTimeout})
		}
		if len(p.Documents) > 0 && f.Half != "rows" {
			out = append(out, &liveGroup{name: p.Name + ".documents", group: p.DocumentsGroup(), topic: p.Topic, session: cfg.Kafka.SessionTimeout})
		}
	}
	if len(out) == 0 {
		return nil, usage(fmt.Errorf("--half %s: no pipeline that is meant writes %s", f.Half, f.Half))
	}
	for _, g := range out {
		if err := g.ask(ctx, client); err != nil {
			return nil, kafkaError(fmt.Errorf("%s: %w", g.name, err))
		}
	}
	return out, nil
}

func (g *liveGroup) ask(ctx context.Context, client *kafka.Client) (err error) {
	if g.ends, err = endOffsets(ctx, client, g.topic); err != nil {
		return err
	}
	if g.earliest, err = startOffsets(ctx, client, g.topic, len(g.ends)); err != nil {
		return err
	}
	if g.committed, err = committedOffsets(ctx, client, g.group, g.topic, allOf(len(g.ends))); err != nil {
		return err
	}
	return g.askMembers(ctx, client)
}

func (g *liveGroup) askMembers(ctx context.Context, client *kafka.Client) error {
	resp, err := client.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: []string{g.group}})
	if err == nil && len(resp.Groups) == 1 && !errors.Is(resp.Groups[0].Error, kafka.GroupIdNotFound) {
		err = resp.Groups[0].Error
	}
	if err != nil {
		return fmt.Errorf("members of group %q: %w", g.group, err)
	}
	g.members = nil
	for _, group := range resp.Groups {
		for _, m := range group.Members {
			g.members = append(g.members, g.member(&m))
		}
	}
	slices.Sort(g.members)
	return nil
}

// member says who a member is and what it reads.
func (g *liveGroup) member(m *kafka.DescribeGroupsResponseMember) string {
	var partitions []int
	for _, t := range m.MemberAssignments.Topics {
		if t.Topic == g.topic {
			partitions = append(partitions, t.Partitions...)
		}
	}
	slices.Sort(partitions)
	return fmt.Sprintf("%s on %s (%s) with partitions %v", m.ClientID, m.ClientHost, m.MemberID, partitions)
}

// at is where the group goes on in a partition, and whether it has committed that; else it begins there, at the earliest record.
func (g *liveGroup) at(partition int) (offset int64, committed bool) {
	if offset, ok := g.committed[partition]; ok {
		return offset, true
	}
	return g.earliest[partition], false
}
