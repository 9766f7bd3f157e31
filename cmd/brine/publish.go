package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"brine/config"
	"brine/internal/term"
	"brine/publish"
	"brine/service/brokers"
)

type publishCmd struct {
	configFlag
	brokersFlag
	Files      []string `arg:"" name:"file" type:"existingfile" help:"Files of JSON lines, or of CSV whose first row names the fields; also .gz."`
	Topic      string   `required:"" help:"Topic to publish to; created if it does not exist."`
	Key        string   `required:"" placeholder:"FIELD" help:"Field to use as the record's key: records with the same key stay in order."`
	Time       string   `placeholder:"FIELD" help:"Field to use as the record's timestamp (default: the time of publishing). Topics delete records older than their retention."`
	Format     string   `enum:"json,csv,auto" default:"auto" help:"Format: json, csv or auto (default), which goes by the files' names."`
	Encoding   string   `default:"utf-8" placeholder:"NAME" help:"Encoding of the files: utf-8 (default), latin1, windows-1252, gb18030, utf-16le or another name of the WHATWG Encoding Standard."`
	SkipBad    bool     `help:"Skip lines that are not valid records, and list them at the end; the exit code is then 1."`
	Partitions int      `default:"8" help:"Number of partitions, if the topic is created (default 8)."`
	Rate       int      `help:"Maximum records per second (default: no limit)."`
	Name       string   `placeholder:"NAME" help:"Name to keep progress under (default: derived from the topic and the files' names)."`
	Again      bool     `help:"Publish everything again, even if some or all of it has been published."`
	Alone      bool     `help:"Assume that nothing else publishes to this topic: use no transactions, and resume from the number of records in the partitions."`
}

// Help returns the detailed help of the command.
func (publishCmd) Help() string {
	return `Each record is published exactly once, for readers of committed records (brine is one), however often the command is killed and
started again with the same files: records and progress are committed together, in short transactions. A killed transaction holds up
such readers until the command is started again, or for 40 s at most. While brokers are down, or elect a leader or a coordinator, the
command says so and waits; it gives up when no record could be published for 5 minutes.

Blank lines in JSON lines are skipped. A column of a CSV file has the type that the pipeline reading the topic declares for the field
of the same name; other columns are text. Commas, semicolons, tabs or | separate values, whichever the first row has most often. An
empty cell means an absent field, not empty text. Text that is not valid in the encoding is refused.

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
		return usage(errors.New("--alone: progress is the number of records in the topic, so it cannot be combined with --name or --again"))
	}
	source, err := c.source(cfg)
	if err != nil {
		return usage(err)
	}
	k := &cfg.Kafka
	job := publish.Job{
		Options: publish.Options{Kafka: k.Options(), RequestTimeout: k.RequestTimeout},
		Topic:   c.Topic, Partitions: c.Partitions, Group: k.Group, Name: c.Name, Rate: c.Rate, Again: c.Again, Alone: c.Alone,
		Log: e.stderr,
	}
	if err := job.Create(e.ctx); err != nil {
		return brokers.Error(err)
	}
	began, sent, said := time.Now(), int64(0), time.Now()
	job.Sent = func(n int64) {
		if sent += n; time.Since(said) > 2*time.Second {
			said = time.Now()
			p := term.Progress{Done: sent, Elapsed: time.Since(began)}
			fmt.Fprintf(e.stderr, "%s, %s\n", term.Count(int(sent), "record"), term.Rate(p.PerSecond()))
		}
	}
	before, n, err := job.Publish(e.ctx, source)
	switch {
	case err != nil && e.ctx.Err() != nil:
		return &exitError{exitFailed, fmt.Errorf("stopped after %s", term.Count(int(before+n), "record")),
			"the same command continues from there"}
	case errors.Is(err, publish.ErrOtherRecords):
		return usage(fmt.Errorf("%w: %s of them, but the files do not begin with those; choose another --name, or publish all of these --again",
			err, term.Thousands(before)))
	case errors.Is(err, publish.ErrOptions):
		return usage(err)
	case err != nil:
		return err
	}
	fmt.Fprintf(e.stdout, "%s published to %s in %.1f s\n", term.Count(int(n), "record"), c.Topic, time.Since(began).Seconds())
	if before > 0 {
		fmt.Fprintf(e.stdout, "%s had already been published; --again publishes them again\n", term.Thousands(before))
	}
	return reportSkipped(e.stderr, &source.Skipped)
}

// source returns a source that reads the files as the topic's pipeline does, if it has one.
func (c *publishCmd) source(cfg *config.Config) (s *publish.Source, err error) {
	s = &publish.Source{Files: c.Files, Key: c.Key, Time: c.Time, SkipBad: c.SkipBad}
	if s.Encoding, err = publish.ParseEncoding(c.Encoding); err != nil {
		return nil, fmt.Errorf("--encoding: %w", err)
	}
	if c.Format != "auto" {
		s.Format = c.Format
	}
	if i := slices.IndexFunc(cfg.Pipelines, func(p *config.Pipeline) bool { return p.Reads(c.Topic) }); i >= 0 {
		if p := cfg.Pipelines[i]; p.Format != "json" {
			return nil, fmt.Errorf("--topic: pipeline %s reads records of format %s, but publish writes JSON objects", p.Name, p.Format)
		}
		s.Fields = cfg.Pipelines[i].Schema().Recorded()
	}
	return s, nil
}

// reportSkipped prints the skipped lines. It then returns exit code 1, because the topic lacks a part of the files.
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
