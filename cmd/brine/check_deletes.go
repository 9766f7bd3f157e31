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

// deletes asks whether the pipeline's topic keeps records for longer than tables keep the delete markers, and indexes the marked documents, that hide
// what these wrote.
func (s *serverCheck) deletes(ctx context.Context, client *kafka.Client, p *config.Pipeline) error {
	purges := func(d config.Documents) bool { return s.cfg.Index(d.Index).PurgeDeletesAfter > 0 }
	if !slices.ContainsFunc(p.Rows, func(r config.Rows) bool { return r.HardDeletes }) && !slices.ContainsFunc(p.Documents, purges) {
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
	for i := range p.Documents {
		if x := s.cfg.Index(p.Documents[i].Index); x.PurgeDeletesAfter > 0 && x.PurgeDeletesAfter < kept {
			text, mend := keptText(kept, "remove it, so that deleted documents stay, marked")
			s.say(config.Error, codeOutlived, "indexes."+x.Name+".purge_deletes_after",
				fmt.Sprintf("topic %s keeps its records %s, and the index its deleted documents %s: an older record that is replayed after that would make a deleted document anew",
					p.Topic, text, config.DurationText(x.PurgeDeletesAfter)), mend)
		}
	}
	return nil
}

// refuseOutlived refuses to start a pipeline whose deletes are forgotten while its topic still has what they deleted. A pipeline that
// forgets none asks nothing.
func (s *service) refuseOutlived(ctx context.Context, p *config.Pipeline) error {
	c := serverCheck{cfg: s.cfg}
	if err := c.deletes(ctx, kafkaClient(&s.cfg.Kafka), p); err != nil {
		return kafkaError(err)
	}
	if err := c.found.Err(); err != nil {
		return usage(err)
	}
	return nil
}

// keptText words how long a topic keeps its records, and what to do about that.
func keptText(kept time.Duration, or string) (text, mend string) {
	if kept == noEnd {
		return "for ever", "let the topic's records end (retention.ms), or " + or
	}
	text = config.DurationText(kept)
	return text, "write purge_deletes_after: " + text + ", or more, or " + or
}

func (s *serverCheck) outlived(p *config.Pipeline, i int, f config.Family, kept time.Duration) {
	r := &p.Rows[i]
	text, mend := keptText(kept, "mark rows: hard_deletes: false")
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
