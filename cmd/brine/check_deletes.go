package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/config"
)

const codeOutlived config.Code = "deletes-outlived"

// purgeDeletes is how long HBase keeps delete markers: where hard deletes need it, it must be so.
const purgeDeletes = "hbase.hstore.time.to.purge.deletes"

// noEnd is longer than any topic or family says.
const noEnd = time.Duration(1<<63 - 1)

// deletes asks whether the pipeline's topic keeps records for longer than tables keep the delete markers that hide what these wrote.
func (s *serverCheck) deletes(ctx context.Context, client *kafka.Client, p *config.Pipeline) error {
	if !slices.ContainsFunc(p.Rows, func(r config.Rows) bool { return r.HardDeletes }) {
		return nil
	}
	kept, err := retention(ctx, client, p.Topic)
	if err != nil {
		return err
	}
	for i := range p.Rows {
		if !p.Rows[i].HardDeletes {
			continue
		}
		for _, f := range s.cfg.Table(p.Rows[i].Table).Families {
			if f.PurgeDeletesAfter > 0 && f.PurgeDeletesAfter < kept {
				s.outlived(p, i, f, kept)
			}
		}
	}
	return nil
}

func (s *serverCheck) outlived(p *config.Pipeline, i int, f config.Family, kept time.Duration) {
	r := &p.Rows[i]
	text, mend := "for ever", "let the topic's records end (retention.ms), or mark rows: hard_deletes: false"
	if kept < noEnd {
		text, mend = config.DurationText(kept), "write purge_deletes_after: "+config.DurationText(kept)+", or more, or mark rows: hard_deletes: false"
	}
	s.say(config.Error, codeOutlived, fmt.Sprintf("pipelines.%s.rows[%d].hard_deletes", p.Name, i),
		fmt.Sprintf("topic %s keeps its records %s, and family %s of %s its delete markers %s: an older record that is replayed after that would show a deleted row again",
			p.Topic, text, f.Name, r.Table, config.DurationText(f.PurgeDeletesAfter)), mend)
}

// retention is how long a topic keeps its records; 0 if it does not exist.
func retention(ctx context.Context, client *kafka.Client, topic string) (time.Duration, error) {
	r, err := client.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{Resources: []kafka.DescribeConfigRequestResource{
		{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic, ConfigNames: []string{"retention.ms", "cleanup.policy"}}}})
	if err != nil {
		return 0, fmt.Errorf("asking for the settings of topic %s: %w", topic, err)
	}
	kept := noEnd
	for _, resource := range r.Resources {
		if errors.Is(resource.Error, kafka.UnknownTopicOrPartition) {
			return 0, nil // that is told by itself
		}
		if resource.Error != nil {
			return 0, fmt.Errorf("asking for the settings of topic %s: %w", topic, resource.Error)
		}
		for _, entry := range resource.ConfigEntries {
			switch {
			case entry.ConfigName == "cleanup.policy" && !strings.Contains(entry.ConfigValue, "delete"):
				return noEnd, nil
			case entry.ConfigName == "retention.ms":
				ms, err := strconv.ParseInt(entry.ConfigValue, 10, 64)
				if err == nil && ms >= 0 && ms < int64(noEnd/time.Millisecond) {
					kept = time.Duration(ms) * time.Millisecond
				}
			}
		}
	}
	return kept, nil
}
