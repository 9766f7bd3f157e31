package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"brine/config"
	"brine/hbase"
	"brine/indexer"
	"brine/plan"
	"brine/rowkey"
)

// The codes of problems that only the servers show.
const (
	codeMissing  config.Code = "missing-on-server"
	codeDiffers  config.Code = "differs-on-server"
	codeSample   config.Code = "sampled-records"
	codeUntested config.Code = "untested-version"
)

// serverCheck compares a configuration with its servers.
type serverCheck struct {
	cfg   *config.Config
	file  string
	found config.Problems
}

func (s *serverCheck) say(severity config.Severity, code config.Code, setting, message, fix string) {
	s.found = append(s.found, config.Problem{Code: code, Severity: severity, File: s.file, Setting: setting, Message: message, Fix: fix})
}

// checkServers compares a configuration with its servers.
func checkServers(ctx context.Context, cfg *config.Config, file string) (config.Problems, error) {
	s := &serverCheck{cfg: cfg, file: file}
	for _, check := range []func(context.Context) error{s.hbase, s.search, s.kafka} {
		if err := check(ctx); err != nil {
			return nil, err
		}
	}
	return s.found, nil
}

func (s *serverCheck) hbase(ctx context.Context) error {
	opts := s.cfg.HBase()
	opts.Hooks.Untested = func(version string) {
		s.say(config.Warning, codeUntested, "hbase.connect", untested(version), "write to tables of its own first, and read them back with brine query")
	}
	cluster, err := openHBase(ctx, s.cfg, opts)
	if err != nil {
		return err
	}
	defer cluster.Close()
	steps, err := planTables(ctx, s.cfg, cluster.client)
	if err != nil {
		return err
	}
	for _, step := range steps {
		s.table(step)
	}
	return s.spread(ctx, cluster.client, steps)
}

func (s *serverCheck) table(step tableStep) {
	setting := "tables." + step.Table
	if step.Action == "create" {
		s.say(config.Error, codeMissing, setting, "the table does not exist", "create it: brine tables apply -c "+s.file)
	}
	for _, d := range step.Changes {
		severity := config.Warning
		if d.missingFamily() || d.Attribute == purgeDeletes {
			severity = config.Error
		}
		s.say(severity, codeDiffers, setting, d.String(), "alter the table with brine tables apply, or the configuration")
	}
}

// spread asks whether each table gives all of the servers something to write: a table that is there by its regions as they are.
func (s *serverCheck) spread(ctx context.Context, client *hbase.Client, steps []tableStep) error {
	status, err := client.ClusterStatus(ctx)
	if err != nil {
		return err
	}
	for _, step := range steps {
		s.found = append(s.found, serverFindings(s.cfg.Table(step.Table), s.file, len(status.Servers), step.Regions)...)
	}
	return nil
}

// serverFindings are those of a table's key that depend on how many servers there are.
func serverFindings(t *config.Table, file string, servers, regions int) config.Problems {
	var found config.Problems
	key := t.RowKeys().Newest()
	if key == nil {
		return nil
	}
	for _, f := range key.Lint(rowkey.LintOptions{Servers: servers, Regions: regions}) {
		if strings.HasPrefix(f.Rule, "few-") {
			found = append(found, config.Problem{Code: config.Code("key-" + f.Rule), Severity: config.Severity(f.Severity), File: file,
				Setting: "tables." + t.Name, Message: f.Msg, Fix: f.Fix})
		}
	}
	return found
}

func (s *serverCheck) search(ctx context.Context) error {
	indexes, err := withSearch(s.cfg, func(engine indexer.Engine) ([]indexStep, error) { return planIndexes(ctx, s.cfg, engine) })
	if err != nil {
		return err
	}
	for _, step := range indexes {
		setting := "indexes." + step.Index
		switch step.Action {
		case "create":
			s.say(config.Error, codeMissing, setting, "the index does not exist", "create it: brine tables apply -c "+s.file)
		case "extend":
			s.say(config.Error, codeDiffers, setting, "the index lacks "+strings.Join(step.Fields, ", "), "add what it lacks: brine tables apply -c "+s.file)
		}
		for _, c := range step.Settings {
			s.say(config.Warning, codeDiffers, setting, c.Name+" is "+c.Is+" in the index, the configuration says "+c.Becomes, "change the index with brine tables apply, or the configuration")
		}
	}
	return nil
}

func (s *serverCheck) kafka(ctx context.Context) error {
	client := kafkaClient(&s.cfg.Kafka)
	for _, p := range s.cfg.Pipelines {
		if err := s.records(ctx, p); err != nil {
			return err
		}
		s.deadLetters(ctx, p)
		if err := s.deletes(ctx, client, p); err != nil {
			return err
		}
	}
	return nil
}

// records foresees what would become of a topic's latest records.
func (s *serverCheck) records(ctx context.Context, p *config.Pipeline) error {
	setting := "pipelines." + p.Name
	records, err := latestRecords(ctx, &s.cfg.Kafka, p.Topic, checkRecords)
	if errors.Is(err, errNoTopic) {
		s.say(config.Error, codeMissing, setting+".topic", "topic "+p.Topic+" does not exist", "create it, or fix the name")
		return nil
	}
	if err != nil {
		return err
	}
	held := heldSample(records)
	all, err := foreseeSample(ctx, s.cfg, held, 0, p.Name)
	if err != nil {
		return err
	}
	for i := range all {
		for _, w := range all[i].warnings(held) {
			code := codeSample
			switch w.Rule {
			case "collision":
				w.Msg += all[i].firstCollided(held)
			case plan.TieRule:
				code = config.VersionTies
			}
			s.say(config.Warning, code, setting, w.Msg, w.Fix)
		}
	}
	return nil
}

// shownText is how many columns of an event are shown: most differ within them.
const shownText = 200

// firstCollided words the first two events that share a row.
func (f *foresight) firstCollided(source sampleSource) string {
	if len(f.Collided) == 0 {
		return ""
	}
	pair := f.Collided[0]
	text := func(i int) string {
		return source.place(pair.Events[i].At) + ": " + clip(strings.ReplaceAll(pair.Events[i].Text, "\n", " "), shownText)
	}
	return fmt.Sprintf("; row %s is of %s, and of %s", pair.Row, text(0), text(1))
}
