package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/config"
	"brine/ingest"
	"brine/internal/fault"
)

// purgeDeletes is how long HBase keeps delete markers. It must be set if hard deletes need it.
const purgeDeletes = "hbase.hstore.time.to.purge.deletes"

// noEnd is longer than any table or index keeps what is deleted.
const noEnd = 100 * 365 * 24 * time.Hour

// slack allows for the time between two cleanups of a broker, and for clocks that differ.
const slack = time.Hour

// CheckDeletes returns an error if the tables or indexes of a pipeline forget deletes while its topic still has what they deleted, so that
// a record that is read late would restore it. If the pipeline forgets no deletes, CheckDeletes makes no requests.
func CheckDeletes(ctx context.Context, cfg *config.Config, p *config.Pipeline, topics Topics) error {
	found, err := checkDeletes(ctx, cfg, "", p, topics)
	if err != nil {
		return err
	}
	if err := found.Err(); err != nil {
		return fault.Misused(err)
	}
	return nil
}

func checkDeletesOfEach(ctx context.Context, cfg *config.Config, file string, p *config.Pipeline,
	topics Topics) (all config.Problems, err error) {
	parts, err := topics.Each(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		found, err := checkDeletes(ctx, cfg, file, part, topics)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func checkDeletes(ctx context.Context, cfg *config.Config, file string, p *config.Pipeline, topics Topics) (config.Problems, error) {
	purges := func(d config.Documents) bool { return cfg.Index(d.Index).PurgeDeletesAfter > 0 }
	if !slices.ContainsFunc(p.Rows, func(r config.Rows) bool { return r.HardDeletes }) && !slices.ContainsFunc(p.Documents, purges) {
		return nil, nil
	}
	if p.Several() {
		return checkDeletesOfEach(ctx, cfg, file, p, topics)
	}
	kept, err := retentionOf(ctx, topics, p.Topic)
	if errors.Is(err, ingest.ErrNoTopic) {
		return nil, nil // the check of the topic itself reports it
	}
	if err != nil {
		return nil, fmt.Errorf("reading the settings of topic %s: %w", p.Topic, err)
	}
	d := deletes{checker: checker{cfg: cfg, file: file}, pipeline: p, kept: kept}
	for i := range p.Rows {
		d.rows(i)
	}
	for i := range p.Documents {
		x := cfg.Index(p.Documents[i].Index)
		what := fmt.Sprintf("the index keeps its deleted documents %s, and an older record read after that would recreate one",
			config.DurationText(x.PurgeDeletesAfter))
		d.check(x.PurgeDeletesAfter, "indexes."+x.Name+".purge_deletes_after", what,
			"remove it, so that deleted documents stay and are only marked")
	}
	return d.found, nil
}

// deletes checks how long the deletes of one pipeline are kept.
type deletes struct {
	checker
	pipeline *config.Pipeline
	kept     retention
}

func (d *deletes) rows(i int) {
	r := d.pipeline.Rows[i]
	if !r.HardDeletes {
		return
	}
	table := d.cfg.Table(r.Table)
	for _, f := range table.Families {
		what := fmt.Sprintf("family %s of %s keeps its delete markers %s, and an older record read after that would bring a deleted "+
			"row back",
			f.Name, table.Name, config.DurationText(f.PurgeDeletesAfter))
		d.check(f.PurgeDeletesAfter, fmt.Sprintf("pipelines.%s.rows[%d].hard_deletes", d.pipeline.Name, i), what,
			"only mark rows as deleted: hard_deletes: false")
	}
}

// check reports deletes that are kept for less time than older changes can be read. instead is the alternative to keeping them longer. A
// purge of 0 keeps them forever.
func (d *deletes) check(purge time.Duration, setting, what, instead string) {
	p, k := d.pipeline, &d.kept
	last := k.readable(p.AllowedLateness)
	switch {
	case purge == 0 || k.appendTime && purge >= last:
	case last == noEnd:
		d.say(config.Error, codeOutlived, setting, fmt.Sprintf("topic %s keeps its records forever, or compacts them; %s", p.Topic, what),
			"let the topic's records expire (retention.ms, cleanup.policy=delete), or "+instead)
	case !k.appendTime:
		d.say(config.Error, codeOutlived, setting,
			fmt.Sprintf("topic %s has the producers' timestamps, which do not say how long a record can be read; %s", p.Topic, what),
			"set message.timestamp.type=LogAppendTime for the topic, or "+instead)
	default:
		d.say(config.Error, codeOutlived, setting, fmt.Sprintf("a record of topic %s can be read until %s after its version"+
			" (retention.ms %s, segment.ms %s, allowed_lateness %s, and an hour for clocks); %s", p.Topic, config.DurationText(last),
			config.DurationText(k.kept), config.DurationText(k.segment), config.DurationText(p.AllowedLateness), what),
			"write purge_deletes_after: "+config.DurationText(last)+", or more, or "+instead)
	}
}

// retention is how long a topic keeps its records.
type retention struct {
	appendTime bool // a record's timestamp is the time when the broker received it
	kept       time.Duration
	segment    time.Duration // a segment of the log is deleted as a whole, once its last record expires
}

// readable returns how long after a version an older change can still be read from a topic with append times. In the worst case, such a
// change is appended as late as is allowed, is the first of its segment, and is deleted with the last of it.
func (k *retention) readable(late time.Duration) time.Duration {
	if k.kept == noEnd || k.segment == noEnd {
		return noEnd
	}
	return k.kept + k.segment + late + slack
}

func retentionOf(ctx context.Context, topics Topics, topic string) (retention, error) {
	values, err := topics.Settings(ctx, topic, "retention.ms", "segment.ms", "cleanup.policy", "message.timestamp.type")
	if err != nil {
		return retention{}, err
	}
	k := retention{appendTime: values["message.timestamp.type"] == "LogAppendTime", kept: noEnd, segment: milliseconds(values["segment.ms"])}
	if values["cleanup.policy"] == "delete" { // compaction merges segments, which then last longer
		k.kept = milliseconds(values["retention.ms"])
	}
	return k, nil
}

// Expiry is when a topic deletes records.
type Expiry struct {
	Time   time.Duration // the minimum age, by their timestamps; 0: it deletes none for their age
	BySize bool          // it also deletes the oldest, however young they are
}

// ExpiryOf returns when a topic deletes records.
func ExpiryOf(ctx context.Context, topics Topics, topic string) (x Expiry, err error) {
	values, err := topics.Settings(ctx, topic, "retention.ms", "retention.bytes", "cleanup.policy")
	if err != nil || !strings.Contains(values["cleanup.policy"], "delete") {
		return x, err
	}
	if long := milliseconds(values["retention.ms"]); long != noEnd {
		x.Time = long
	}
	bytes, err := strconv.ParseInt(values["retention.bytes"], 10, 64)
	x.BySize = err == nil && bytes >= 0
	return x, nil
}

// milliseconds parses a duration in a topic's settings; −1, or none, means forever.
func milliseconds(text string) time.Duration {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms < 0 || ms >= noEnd.Milliseconds() {
		return noEnd
	}
	return time.Duration(ms) * time.Millisecond
}
