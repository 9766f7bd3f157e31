package schema

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"brine/config"
	"brine/event"
	"brine/forecast"
	"brine/ingest"
	"brine/internal/fault"
	"brine/internal/term"
	"brine/plan"
	"brine/registry"
)

// The codes of problems that only the servers reveal.
const (
	codeMissing  config.Code = "missing-on-server"
	codeDiffers  config.Code = "differs-on-server"
	codeSample   config.Code = "sampled-records"
	codeUntested config.Code = "untested-version"
	codeOutlived config.Code = "deletes-outlived"
	codeSchema   config.Code = "newest-schema"
)

// Topics queries the brokers. If a topic does not exist, the chain of the error contains ingest.ErrNoTopic.
type Topics interface {
	// Each returns a copy of the pipeline for each topic that it reads now. If no topic matches its pattern, the error has the kind
	// fault.Missing.
	Each(ctx context.Context, p *config.Pipeline) ([]*config.Pipeline, error)
	// Latest returns about n of a topic's latest records.
	Latest(ctx context.Context, topic string, n int) ([]event.Record, error)
	// Settings returns settings of a topic by name.
	Settings(ctx context.Context, topic string, names ...string) (map[string]string, error)
	// DeadLetterRoom returns the size of the largest record that the pipeline's dead-letter topic takes, and of the largest that it should
	// take.
	DeadLetterRoom(ctx context.Context, p *config.Pipeline) (takes, should int, err error)
}

// Registry queries the schema registry.
type Registry interface {
	// Check checks that the registry answers and accepts the credentials.
	Check(ctx context.Context) error
	// Newest returns the newest schema of a subject, or nil if there is no such subject.
	Newest(ctx context.Context, subject string) (*registry.Schema, error)
}

// Servers are all servers that a configuration names.
type Servers struct {
	Stores
	Topics   Topics
	Registry Registry // nil: the configuration names none
	Untested string   // warning about a cluster of a release with which brine is not tested; empty: none
}

// Check compares a configuration, which was read from file, with its servers, and forecasts the outcome of each topic's latest records. It
// changes nothing.
func Check(ctx context.Context, cfg *config.Config, file string, servers Servers) (config.Problems, error) {
	c := &checker{cfg: cfg, file: file, servers: servers}
	if servers.Untested != "" {
		c.say(config.Warning, codeUntested, "hbase.connect", servers.Untested,
			"first write to separate tables, and read them back with brine query")
	}
	if servers.Registry != nil {
		if err := servers.Registry.Check(ctx); err != nil {
			return nil, err
		}
	}
	changes, err := Plan(ctx, cfg, servers.Stores)
	if err != nil {
		return nil, err
	}
	if err := c.tables(ctx, changes.Tables); err != nil {
		return nil, err
	}
	for _, s := range changes.Indexes {
		c.index(s)
	}
	for _, p := range cfg.Pipelines {
		if err := c.topics(ctx, p); err != nil {
			return nil, err
		}
	}
	if len(cfg.Pipelines) > 0 {
		message, fix, err := ControlForgets(ctx, cfg, servers.Topics)
		if err != nil && !errors.Is(err, ingest.ErrDenied) { // without the right to ask, there may be nothing wrong
			return nil, err
		}
		if message != "" {
			c.say(config.Error, codeDiffers, "kafka.control_topic", message, fix)
		}
	}
	return c.found, nil
}

// ControlForgets returns what is wrong with a control topic that deletes old records, and the fix; empty if there is nothing wrong, or no
// such topic yet.
func ControlForgets(ctx context.Context, cfg *config.Config, topics Topics) (message, fix string, err error) {
	const name = "cleanup.policy"
	topic := cfg.Kafka.Control()
	settings, err := topics.Settings(ctx, topic, name)
	if errors.Is(err, ingest.ErrNoTopic) {
		return "", "", nil
	}
	policy := settings[name]
	if err != nil || !strings.Contains(policy, "delete") {
		return "", "", err
	}
	return fmt.Sprintf("topic %s has %s=%s, so the brokers delete pauses, limits and the offsets at which reloaded filters begin",
			topic, name, policy),
		"set cleanup.policy=compact for the topic", nil
}

// checker collects the differences on the servers.
type checker struct {
	cfg     *config.Config
	file    string
	servers Servers
	found   config.Problems
}

func (c *checker) say(severity config.Severity, code config.Code, setting, message, fix string) {
	c.found = append(c.found, config.Problem{Code: code, Severity: severity, File: c.file, Setting: setting, Message: message, Fix: fix})
}

// tables checks tables, and whether each spreads its writes over all servers. For a table that exists, it uses the present regions.
func (c *checker) tables(ctx context.Context, steps []TableStep) error {
	for _, s := range steps {
		setting := "tables." + s.Table
		if s.Action == Create {
			c.say(config.Error, codeMissing, setting, "the table does not exist", "create it: brine tables apply -c "+c.file)
		}
		for _, d := range s.Changes {
			severity := config.Warning
			if d.MissingFamily() || d.Attribute == purgeDeletes {
				severity = config.Error
			}
			c.say(severity, codeDiffers, setting, d.String(), "alter the table with brine tables apply, or the configuration")
		}
	}
	status, err := c.servers.Cluster.ClusterStatus(ctx)
	if err != nil {
		return err
	}
	for _, s := range steps {
		c.found = append(c.found, CheckKey(c.cfg.Table(s.Table), c.file, len(status.Servers), s.Regions)...)
	}
	return nil
}

func (c *checker) index(s IndexStep) {
	setting := "indexes." + s.Index
	switch s.Action {
	case Create:
		c.say(config.Error, codeMissing, setting, "the index does not exist", "create it: brine tables apply -c "+c.file)
	case Extend:
		c.say(config.Error, codeDiffers, setting, "the index lacks "+strings.Join(s.Fields, ", "),
			"add the missing fields: brine tables apply -c "+c.file)
	}
	for _, x := range s.Settings {
		c.say(config.Warning, codeDiffers, setting, x.Name+" is "+x.Is+" in the index, but the configuration says "+x.Becomes,
			"change the index with brine tables apply, or the configuration")
	}
}

// topics checks each topic that a pipeline reads now.
func (c *checker) topics(ctx context.Context, p *config.Pipeline) error {
	parts, err := c.servers.Topics.Each(ctx, p)
	if missing, ok := errors.AsType[*fault.Error](err); ok && missing.Kind == fault.Missing {
		c.say(config.Warning, codeMissing, "pipelines."+p.Name+".topic_pattern", "no topic matches it yet", "create one, or correct the pattern")
		return nil
	}
	for _, part := range parts {
		err = errors.Join(err, c.topic(ctx, part))
	}
	return err
}

// topic checks a pipeline's topic: its latest records, where its dead letters go, and whether deletes outlive its records.
func (c *checker) topic(ctx context.Context, p *config.Pipeline) error {
	leftOut, err := c.newest(ctx, p, registry.Value)
	if err == nil && !leftOut {
		_, err = c.newest(ctx, p, registry.Key)
	}
	if err != nil {
		return err
	}
	if err := c.records(ctx, p); err != nil {
		return err
	}
	c.deadLetters(ctx, p)
	found, err := checkDeletes(ctx, c.cfg, c.file, p, c.servers.Topics)
	c.found = append(c.found, found...)
	return err
}

// newest compares a pipeline's fields with the newest schema of its topic's values, or keys, if each names its schema. leftOut reports that
// by this schema the records are left out.
func (c *checker) newest(ctx context.Context, p *config.Pipeline, part registry.Part) (leftOut bool, err error) {
	if c.servers.Registry == nil || !p.Registered(part) {
		return false, nil
	}
	setting, subject, format := "pipelines."+p.Name, p.Topic+"-"+part.String(), ".format"
	if part == registry.Key {
		format = ".key_format"
	}
	s, err := c.servers.Registry.Newest(ctx, subject)
	switch {
	case err != nil:
		return false, err
	case s == nil:
		c.say(config.Warning, codeMissing, setting, "the schema registry has no subject "+subject+
			", so the fields are not compared with a schema",
			"register the schema; or ignore this, if the records use other subjects")
		return false, nil
	}
	differences, leftOut := p.CompareSchema(part, s)
	for _, d := range differences {
		severity := config.Warning
		if d.Breaks {
			severity = config.Error
		}
		at := setting + format
		if d.Field != "" {
			at = setting + ".fields." + d.Field
		}
		c.say(severity, codeSchema, at, d.What+"; according to "+s.String()+", the newest schema of the topic", d.Fix)
	}
	return leftOut, nil
}

// latestRecords is the number of a topic's latest records on which a forecast is based.
const latestRecords = 2000

// records forecasts the outcome of a topic's latest records.
func (c *checker) records(ctx context.Context, p *config.Pipeline) error {
	setting := "pipelines." + p.Name
	records, err := c.servers.Topics.Latest(ctx, p.Topic, latestRecords)
	if errors.Is(err, ingest.ErrNoTopic) {
		c.say(config.Error, codeMissing, setting+".topic", "topic "+p.Topic+" does not exist", "create it, or fix the name")
		return nil
	}
	if err != nil {
		return err
	}
	targets, err := c.cfg.Forecast(p.Name)
	if err != nil {
		return fault.Misused(err)
	}
	reports, err := forecast.Run(ctx, forecast.OfRecords(records), targets, 0)
	if err != nil {
		return err
	}
	for i := range reports {
		for _, w := range reports[i].Warnings() {
			c.warn(setting, &reports[i], w)
		}
	}
	return nil
}

func (c *checker) warn(setting string, r *forecast.Report, w plan.Advice) {
	code := codeSample
	switch w.Rule {
	case forecast.CollisionRule:
		if pair := r.FirstCollision(); pair != "" {
			w.Msg += "; " + pair
		}
	case plan.TieRule:
		code = config.VersionTies
	}
	c.say(config.Warning, code, setting, w.Msg, w.Fix)
}

// deadLetters checks whether the dead-letter topic takes everything that the pipeline's topic may hold. If it does not exist, it is created
// with the right settings when the first dead letter is written. If the brokers do not report the topics' settings, the question stays
// open.
func (c *checker) deadLetters(ctx context.Context, p *config.Pipeline) {
	takes, should, err := c.servers.Topics.DeadLetterRoom(ctx, p)
	if err != nil || takes >= should {
		return
	}
	topic := p.DeadLetterTopic()
	c.say(config.Warning, codeDiffers, "pipelines."+p.Name+".dead_letters",
		fmt.Sprintf("topic %s accepts records of at most %s bytes, but a dead letter of the largest record that %s accepts has up to %s: "+
			"its partition would wait",
			topic, term.Thousands(int64(takes)), p.Topic, term.Thousands(int64(should))),
		fmt.Sprintf("kafka-configs.sh --alter --entity-type topics --entity-name %s --add-config max.message.bytes=%d", topic, should))
}
