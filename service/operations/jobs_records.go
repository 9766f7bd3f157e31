package operations

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"brine/config"
	"brine/explain"
	"brine/internal/when"
	"brine/mask"
	"brine/rowkey"
	"brine/serve/client"
	"brine/service"
	"brine/service/brokers"
	"brine/service/jobs"
)

// Records read in search of a cell's source: the default and the maximum.
const (
	readForCell     = 5_000_000
	mostReadForCell = 100_000_000
)

// seek looks for the record that a cell comes from.
func (o *Operations) seek(of *client.SeekJob) (jobs.Work, error) {
	cfg := o.cfg()
	t, err := o.table(of.Table)
	if err != nil {
		return nil, err
	}
	row, err := rowkey.ParseBinary(of.Row)
	if err != nil {
		return nil, misused("row: %v", err)
	}
	version, err := o.version(cfg.Versions(t), of.Version)
	switch {
	case err != nil:
		return nil, err
	case len(row) == 0:
		return nil, misused("row: give its key as HBase's shell prints it")
	case of.Most < 0 || of.Most > mostReadForCell:
		return nil, misused("most: %d is not from 0 to %d", of.Most, mostReadForCell)
	}
	var halves []config.Half
	for _, p := range cfg.Pipelines {
		for _, h := range p.Halves() {
			if h.Kind == service.Rows && p.Writes(of.Table) {
				halves = append(halves, h)
			}
		}
	}
	if len(halves) == 0 {
		return nil, misused("table: no pipeline writes %s", of.Table)
	}
	cell := explain.SoughtCell{Table: of.Table, Row: row, Column: of.Column, Version: version}
	return func(ctx context.Context, out *jobs.Output) error {
		halves, err := brokers.EachHalf(ctx, o.brokers, halves, "")
		if err != nil {
			return err
		}
		var read, all atomic.Int64
		showProgress(out, "offsets", func() (done, left int64) { done = read.Load(); return done, max(0, all.Load()-done) })
		sought, err := o.service.Seek(ctx, cfg, explain.SeekOptions{Cell: cell, At: versionTime(cfg.Versions(t), version),
			Most: cmp.Or(of.Most, readForCell), Read: func(done, total int64) { read.Store(done); all.Store(total) }}, halves)
		if err != nil {
			return err
		}
		for _, r := range sought.Records {
			r.Key = mask.If(r.Key != "" && cfg.Mask().Any(r.Pipeline), r.Key)
			out.Result("record", r)
		}
		for _, r := range sought.Ranges {
			out.Result("range", r)
		}
		out.Result("outcome", map[string]string{"outcome": sought.Outcome})
		out.Found(sought.Says())
		return nil
	}, nil
}

// version parses a cell's timestamp.
func (o *Operations) version(kind config.VersionKind, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil && kind == config.Milliseconds {
		var at time.Time
		at, err = when.Time(text, o.now())
		n = at.UnixMilli()
	}
	if err != nil || n < 0 {
		return 0, misused("version: %q is not a version of the table", text)
	}
	return n, nil
}

// versionTime returns the time that a version stands for, or the zero time if it is not a time.
func versionTime(kind config.VersionKind, version int64) time.Time {
	switch kind {
	case config.Milliseconds:
		return time.UnixMilli(version)
	case config.Sequence:
		return time.UnixMilli(version / 1000)
	}
	return time.Time{}
}

// explain does the work of brine explain, with a result for each thing that the record becomes.
func (o *Operations) explain(of *client.ExplainJob) (jobs.Work, error) {
	if of.Topic == "" {
		return nil, misused("topic: give one")
	}
	if of.Partition < 0 || of.Offset < 0 {
		return nil, misused("partition and offset must be at least 0")
	}
	if _, err := service.Reading(o.cfg(), of.Topic, of.Pipeline); err != nil {
		return nil, err
	}
	return func(ctx context.Context, out *jobs.Output) error {
		report, err := o.service.Explain(ctx, of.Topic, of.Partition, of.Offset)
		if err != nil {
			return err
		}
		pipelines := report.Pipelines
		report.Pipelines = nil
		out.Result("record", report)
		for i := range pipelines {
			p := &pipelines[i]
			if of.Pipeline != "" && p.Pipeline != of.Pipeline {
				continue
			}
			type pipeline struct {
				Pipeline string `json:"pipeline"`
			}
			name := pipeline{p.Pipeline}
			for _, h := range p.Halves {
				out.Result("outcome", struct {
					pipeline
					explain.Half
				}{name, h})
			}
			events := p.Events
			for j := range p.Letters {
				if f := p.Letters[j].Fixed; f != nil {
					events = slices.Concat(events, f.Events)
				}
				p.Letters[j].Fixed = nil // its rows and documents are results of their own
			}
			for _, e := range events {
				for _, r := range e.Rows {
					out.Result("row", struct {
						pipeline
						explain.Row
					}{name, r})
				}
				for _, d := range e.Documents {
					out.Result("document", struct {
						pipeline
						explain.Document
					}{name, d})
				}
			}
			for _, l := range p.Letters {
				out.Result(jobs.DeadLetter, struct {
					pipeline
					explain.Letter
				}{name, l})
			}
		}
		return nil
	}, nil
}
