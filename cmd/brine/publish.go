package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"brine/config"
	"brine/ingest"
	"brine/ingest/offsets"
	"brine/internal/term"
	"brine/publish"
)

type publishCmd struct {
	configFlag
	brokersFlag
	Files      []string `arg:"" name:"file" type:"existingfile" help:"JSON lines, or CSV whose first row names the fields; also .gz."`
	Topic      string   `required:"" help:"Topic to publish to; it is created if it is missing."`
	Key        string   `required:"" placeholder:"FIELD" help:"Field whose value becomes the record's key: records of one key stay in order."`
	Time       string   `placeholder:"FIELD" help:"Field whose value becomes the record's time (default: when it is published). Topics delete what is older than their retention."`
	Format     string   `enum:"json,csv,auto" default:"auto" help:"json, csv, or auto (default): by the files' names."`
	Encoding   string   `default:"utf-8" placeholder:"NAME" help:"What the files' text is written in: utf-8 (default), latin1, windows-1252, gb18030, utf-16le or another name that browsers know."`
	SkipBad    bool     `help:"Skip lines that no record can be made of, and say which at the end; the command then exits with 1."`
	Partitions int      `default:"8" help:"Partitions of a topic that is created."`
	Rate       int      `help:"Most records per second; 0 for no limit."`
	Name       string   `placeholder:"NAME" help:"Progress is kept under this name (default: made of the topic and the files' names)."`
	Again      bool     `help:"Publish everything again, though it has been done or begun."`
	Alone      bool     `help:"Nothing else is published to this topic: without transactions, and progress is how many records the partitions hold."`
}

// Help is shown under the command's own help.
func (publishCmd) Help() string {
	return `Each record is published exactly once, for readers of committed records (brine is one), however often the command is killed and
begun again with the same files: records and progress are committed together, in short transactions. A killed one holds up such
readers until the command is begun again, or for 40 s at most. While brokers are away, or elect a leader or a coordinator, the command
says so and waits, until for 5 minutes no record could be published.

Blank lines of JSON lines are passed over. A column of a CSV file has the type that the pipeline which reads the topic declares of the
field of its name; others are text. An empty cell is an absent field, and no empty text. Text that is not of the encoding is refused.

Examples:
  brine publish -c examples/scans.yaml --topic courier.scans --key waybill data/scans.jsonl.gz
  brine publish --brokers localhost:9092 --topic courier.scans --key waybill data/scans.jsonl.gz
  brine publish -c examples/scans.yaml --topic courier.scans --key waybill --time at --rate 5000 2012.csv 2013.csv`
}

func (c *publishCmd) Run(e *env) error {
	cfg, err := c.config(e, c.configFlag)
	if err != nil {
		return err
	}
	if c.Alone && (c.Again || c.Name != "") {
		return usage(errors.New("--alone: progress is how many records the topic holds; it has no --name, and cannot be begun --again"))
	}
	source, err := c.source(cfg)
	if err != nil {
		return usage(err)
	}
	if err := c.create(e, cfg); err != nil {
		return kafkaError(err)
	}
	began, sent, said := time.Now(), int64(0), time.Now()
	report := func(n int64) {
		if sent += n; time.Since(said) > 2*time.Second {
			said = time.Now()
			p := term.Progress{Done: sent, Elapsed: time.Since(began)}
			fmt.Fprintf(e.stderr, "%s records, %s\n", term.Thousands(sent), term.Rate(p.PerSecond()))
		}
	}
	before, n, err := c.publish(e, cfg, source, report)
	switch {
	case err != nil && e.ctx.Err() != nil:
		return &exitError{exitFailed, fmt.Errorf("stopped after %s records", term.Thousands(before+n)), "the same command goes on from there"}
	case errors.Is(err, publish.ErrOtherRecords):
		return usage(fmt.Errorf("%w: %s of them, and the files do not begin with those; choose another --name, or publish all of these --again",
			err, term.Thousands(before)))
	case errors.Is(err, publish.ErrOptions):
		return usage(err)
	case err != nil:
		return err
	}
	fmt.Fprintf(e.stdout, "%s records published to %s in %.1f s\n", term.Thousands(n), c.Topic, time.Since(began).Seconds())
	if before > 0 {
		fmt.Fprintf(e.stdout, "%s were there already; --again publishes them again\n", term.Thousands(before))
	}
	return reportSkipped(e.stderr, &source.Skipped)
}

// create makes the topic if it is missing. Brokers that cannot be reached at all are not waited for: their address may be wrong.
func (c *publishCmd) create(e *env, cfg *config.Config) error {
	for p := (publish.Patience{Limit: publish.MaxWait, Log: e.stderr}); ; {
		err := createTopic(e.ctx, &cfg.Kafka, c.Topic, c.Partitions)
		if !offsets.Answered(err) {
			return err
		}
		if err := p.Wait(e.ctx, err); err != nil {
			return err
		}
	}
}

func createTopic(ctx context.Context, k *config.Kafka, topic string, partitions int) error {
	client := lookUps(k)
	defer client.Close()
	return client.CreateTopic(ctx, topic, partitions)
}

// source reads the files as the pipeline of the topic does, if there is one.
func (c *publishCmd) source(cfg *config.Config) (s *publish.Source, err error) {
	s = &publish.Source{Files: c.Files, Key: c.Key, Time: c.Time, SkipBad: c.SkipBad}
	if s.Encoding, err = publish.ParseEncoding(c.Encoding); err != nil {
		return nil, fmt.Errorf("--encoding: %w", err)
	}
	if c.Format != "auto" {
		s.Format = c.Format
	}
	if i := slices.IndexFunc(cfg.Pipelines, func(p *config.Pipeline) bool { return p.Topic == c.Topic }); i >= 0 {
		s.Fields = cfg.Pipelines[i].Schema().Fields
	}
	return s, nil
}

// publish begins the publishing, and begins it again where it stopped while that may help.
func (c *publishCmd) publish(e *env, cfg *config.Config, source *publish.Source, sent func(int64)) (before, n int64, err error) {
	p := publish.Patience{Limit: publish.MaxWait, Log: e.stderr}
	moved := func(n int64) {
		p.Moved()
		sent(n)
	}
	return p.Attempts(e.ctx, c.Again, func(again bool) (int64, int64, error) {
		if !c.Alone {
			return c.transactions(cfg, moved).Publish(e.ctx, c.options(cfg), source.Records(), again)
		}
		client := lookUps(&cfg.Kafka)
		defer client.Close()
		put, err := c.appender(client, cfg, moved).Publish(e.ctx, source.Records())
		n += int64(put)
		return 0, n, err
	})
}

func (c *publishCmd) appender(client *offsets.Client, cfg *config.Config, sent func(int64)) *publish.Appender {
	a := appender(client, cfg.Kafka.Options(), cfg.Kafka.RequestTimeout, c.Topic)
	a.Sent = func(n int) { sent(int64(n)) }
	if c.Rate > 0 {
		limit := rate.NewLimiter(rate.Limit(c.Rate), max(c.Rate/10, publish.AppendBatch))
		a.Pause = func(ctx context.Context) error { return limit.WaitN(ctx, publish.AppendBatch) }
	}
	return a
}

// appender puts records at the end of a topic.
func appender(client *offsets.Client, k ingest.Kafka, timeout time.Duration, topic string) *publish.Appender {
	return &publish.Appender{Kafka: k, RequestTimeout: timeout, Topic: topic,
		Ends: func(ctx context.Context) ([]int64, error) { return client.Ends(ctx, topic) }}
}

func (c *publishCmd) transactions(cfg *config.Config, sent func(int64)) *publish.Transactions {
	t := &publish.Transactions{Topic: c.Topic, Name: cfg.Kafka.Group + ".publish." + c.name(), Sent: sent}
	if c.Rate > 0 {
		t.Limit = rate.NewLimiter(rate.Limit(c.Rate), max(1, c.Rate/100))
	}
	return t
}

func (*publishCmd) options(cfg *config.Config) publish.Options {
	k := &cfg.Kafka
	return publish.Options{Kafka: k.Options(), Credentials: publish.Credentials(k.SASL), RequestTimeout: k.RequestTimeout}
}

// name is what progress is kept under.
func (c *publishCmd) name() string {
	if c.Name != "" {
		return c.Name
	}
	text := c.Topic
	for _, file := range c.Files {
		text += "_" + filepath.Base(file)
	}
	return offsets.PlainName(strings.TrimSuffix(text, ".gz"))
}

// reportSkipped says which lines were skipped; that is exit code 1, since not all of the files is in the topic.
func reportSkipped(stderr io.Writer, s *publish.Skipped) error {
	if s.N == 0 {
		return nil
	}
	fmt.Fprintf(stderr, "%s skipped:\n", term.Count(s.N, "bad line"))
	for _, line := range s.First {
		fmt.Fprintf(stderr, "  %v\n", line)
	}
	if more := s.N - len(s.First); more > 0 {
		fmt.Fprintf(stderr, "  and %s more\n", term.Thousands(int64(more)))
	}
	return errReported{exitFailed}
}
