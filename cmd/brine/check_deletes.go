package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/config"
)

const codeOutlived config.Code = "deletes-outlived"

// purgeDeletes is how long HBase keeps delete markers: where hard deletes need it, it must be so.
const purgeDeletes = "hbase.hstore.time.to.purge.deletes"

// noEnd is longer than any table or index keeps what is deleted.
const noEnd = 100 * 365 * 24 * time.Hour

// slack is for the time between two looks of a broker for what is over, and for clocks that differ.
const slack = time.Hour

// deletes asks whether tables forget delete markers, and indexes marked documents, while older changes than these can still be read from the
// pipeline's topic.
func (s *serverCheck) deletes(ctx context.Context, client *kafka.Client, p *config.Pipeline) error {
	purges := func(d config.Documents) bool { return s.cfg.Index(d.Index).PurgeDeletesAfter > 0 }
	if !slices.ContainsFunc(p.Rows, func(r config.Rows) bool { return r.HardDeletes }) && !slices.ContainsFunc(p.Documents, purges) {
		return nil
	}
	kept, err := keepingOf(ctx, client, p.Topic)
	if err != nil || kept.missing {
		return err // that a topic is missing is told by itself
	}
	for i := range p.Rows {
		if !p.Rows[i].HardDeletes {
			continue
		}
		table := s.cfg.Table(p.Rows[i].Table)
		for _, f := range table.Families {
			what := fmt.Sprintf("family %s of %s keeps its delete markers %s, and an older record that is read after that would show a deleted row again", f.Name, table.Name, config.DurationText(f.PurgeDeletesAfter))
			s.outlived(p, &kept, f.PurgeDeletesAfter, fmt.Sprintf("pipelines.%s.rows[%d].hard_deletes", p.Name, i), what, "mark rows: hard_deletes: false")
		}
	}
	for i := range p.Documents {
		x := s.cfg.Index(p.Documents[i].Index)
		what := fmt.Sprintf("the index keeps its deleted documents %s, and an older record that is read after that would make one again", config.DurationText(x.PurgeDeletesAfter))
		s.outlived(p, &kept, x.PurgeDeletesAfter, "indexes."+x.Name+".purge_deletes_after", what, "remove it, so that deleted documents stay, marked")
	}
	return nil
}

// outlived reports what keeps deletes for less long than older changes can be read; or is what to do instead of keeping them longer.
func (s *serverCheck) outlived(p *config.Pipeline, kept *keeping, purge time.Duration, setting, what, or string) {
	last := kept.readable(p.AllowedLateness)
	switch {
	case purge == 0 || kept.appended && purge >= last:
	case last == noEnd:
		s.say(config.Error, codeOutlived, setting, fmt.Sprintf("topic %s keeps its records for ever, or compacts them; %s", p.Topic, what), "let the topic's records end (retention.ms, cleanup.policy=delete), or "+or)
	case !kept.appended:
		s.say(config.Error, codeOutlived, setting, fmt.Sprintf("topic %s has the producers' timestamps, which do not say how long a record can be read; %s", p.Topic, what),
			"set message.timestamp.type=LogAppendTime for the topic, or "+or)
	default:
		s.say(config.Error, codeOutlived, setting, fmt.Sprintf("a record of topic %s can be read until %s after its version (retention.ms %s, segment.ms %s, allowed_lateness %s, and an hour for clocks); %s", p.Topic,
			config.DurationText(last), config.DurationText(kept.retention), config.DurationText(kept.segment), config.DurationText(p.AllowedLateness), what),
			"write purge_deletes_after: "+config.DurationText(last)+", or more, or "+or)
	}
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

// keeping is how a topic keeps its records.
type keeping struct {
	missing   bool // there is no such topic
	appended  bool // a record's timestamp is when the broker got it
	retention time.Duration
	segment   time.Duration // a segment of the log goes as a whole, retention after its last record
}

// readable is how long after a version a change that is older can still be read from a topic whose timestamps are the brokers'. Such a
// change is appended late after the version at most, begins a segment at worst, and goes with that.
func (k *keeping) readable(late time.Duration) time.Duration {
	if k.retention == noEnd || k.segment == noEnd {
		return noEnd
	}
	return k.retention + k.segment + late + slack
}

// keepingOf asks how a topic keeps its records.
func keepingOf(ctx context.Context, client *kafka.Client, topic string) (kept keeping, err error) {
	r, err := client.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{Resources: []kafka.DescribeConfigRequestResource{{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic,
		ConfigNames: []string{"retention.ms", "segment.ms", "cleanup.policy", "message.timestamp.type"}}}})
	if err != nil {
		return kept, fmt.Errorf("asking for the settings of topic %s: %w", topic, err)
	}
	values := map[string]string{}
	for _, resource := range r.Resources {
		if errors.Is(resource.Error, kafka.UnknownTopicOrPartition) {
			return keeping{missing: true}, nil
		}
		if resource.Error != nil {
			return kept, fmt.Errorf("asking for the settings of topic %s: %w", topic, resource.Error)
		}
		for _, entry := range resource.ConfigEntries {
			values[entry.ConfigName] = entry.ConfigValue
		}
	}
	kept = keeping{appended: values["message.timestamp.type"] == "LogAppendTime", retention: noEnd, segment: lastingMS(values["segment.ms"])}
	if values["cleanup.policy"] == "delete" { // a compaction joins segments, which then last for longer
		kept.retention = lastingMS(values["retention.ms"])
	}
	return kept, nil
}

// lastingMS is a duration of a topic's settings; −1, or one that is not told, is for ever.
func lastingMS(text string) time.Duration {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms < 0 || ms >= noEnd.Milliseconds() {
		return noEnd
	}
	return time.Duration(ms) * time.Millisecond
}
