// Package replays runs the replay of a pipeline that brine replay or an HTTP client asks for: it parses the request, plans it, and reports
// how it ended. The replays of single halves belong to package service.
//
// Errors name what was asked for by the command's flags.
package replays

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"brine/config"
	"brine/ingest"
	"brine/internal/fault"
	"brine/internal/term"
	"brine/internal/when"
	"brine/rowkey"
	"brine/service"
	"brine/service/brokers"
	"brine/service/former"
	"brine/verify"
)

// Asked is a request for a replay. The zero value of a field means that it is not given; From is required.
type Asked struct {
	Topic       string   // only this topic of the pipeline
	Half        string   // rows or documents; empty: both
	From, To    string   // empty To: latest
	Partitions  []int    // nil: those of the offsets, or else all
	Keys        []string // only records with these keys
	Into        []string // TABLE or OWN=OTHER
	Rate        int      // records per second; 0: the pipeline's own limit
	Name        string   // name under which progress is stored; empty: derived from the range
	Again       bool
	SkipMissing bool
	Diff        int // only compare this many records; 0: no diff
	// AsConfigured writes all records as configured now, including those that arrived under another configuration.
	AsConfigured bool
}

// Set is the replays of the selected halves, one per topic.
type Set struct {
	Replays []*service.Replay // set by Plan

	asked    Asked
	cfg      *config.Config
	pipeline *config.Pipeline
	halves   []config.Half
	span     ingest.Span
	into     map[string]string // other tables, by the pipeline's own
	keys     [][]byte
}

// New parses the request, without contacting any server. With Into, it renames the tables of cfg.
func New(cfg *config.Config, p *config.Pipeline, asked Asked, now time.Time) (*Set, error) {
	s := &Set{asked: asked, cfg: cfg, pipeline: p}
	if err := s.redirect(); err != nil {
		return nil, fault.Misused(err)
	}
	var err error
	if s.span, err = Span(asked.From, cmp.Or(asked.To, "latest"), asked.Partitions, now); err != nil {
		return nil, err
	}
	for _, text := range asked.Keys {
		key, err := rowkey.ParseBinary(text)
		if err != nil {
			return nil, fault.Misused(fmt.Errorf("--key: %w", err))
		}
		s.keys = append(s.keys, key)
	}
	s.halves = slices.DeleteFunc(p.Halves(), func(h config.Half) bool { return s.asked.Half != "" && s.asked.Half != h.Kind })
	if len(s.halves) == 0 {
		return nil, fault.Misused(fmt.Errorf("--half %s: pipeline %s writes no %s", s.asked.Half, p.Name, s.asked.Half))
	}
	return s, nil
}

// Plan asks the brokers what the replays would read, and calls planned for each.
func (s *Set) Plan(ctx context.Context, planned func(*service.Replay)) error {
	halves, err := (brokers.Topics{Config: s.cfg}).EachHalf(ctx, s.halves, s.asked.Topic)
	if err != nil {
		return err
	}
	if s.asked.Diff > 0 || s.span.Partitions != nil {
		if err := brokers.OfOneTopic(halves, "--diff, --from, --to, --partitions"); err != nil {
			return err
		}
	}
	notes, err := s.former(ctx, halves)
	if err != nil {
		return err
	}
	for _, h := range halves {
		r, err := service.PlanReplay(ctx, h.Name(), s.options(s.cfg.Ingest(h.Pipeline, h.Group())), notes.Of(h))
		if err != nil {
			return err
		}
		planned(r)
		s.Replays = append(s.Replays, r)
	}
	return nil
}

// former returns the configurations under which records arrived, with the tables of --into.
func (s *Set) former(ctx context.Context, halves []config.Half) (*former.Notes, error) {
	if s.asked.AsConfigured {
		return nil, nil
	}
	notes, err := service.Former(ctx, s.cfg, slog.New(slog.DiscardHandler), halves...)
	notes.Renamed(s.into)
	return notes, err
}

// unknown returns an error if part of a replay's range was written by an unknown configuration.
func unknown(r *service.Replay) error {
	n := int64(0)
	for _, p := range r.Plan.Partitions {
		n += r.Former.Unknown(p.Partition, p.Next, p.To)
	}
	if n == 0 {
		return nil
	}
	return fault.New(fault.Failed, fmt.Errorf("%s: %s offsets of the range were written by a configuration that is no longer known, or "+
		"that had other keys, tables or indexes", r.Name, term.Thousands(n)), "--as-configured writes all of it with this configuration")
}

func (s *Set) options(half ingest.Options) ingest.ReplayOptions {
	o := ingest.ReplayOptions{Options: half, From: s.span.From, To: s.span.To, Partitions: s.span.Partitions, Keys: s.keys,
		Into: strings.Join(s.asked.Into, ","), Again: s.asked.Again}
	o.Name = cmp.Or(s.asked.Name, o.RangeName())
	if s.asked.AsConfigured && s.asked.Name == "" {
		o.Name += "_as_configured"
	}
	o.OutOfRange = ingest.FromEarliest // what leaves the topic meanwhile is counted and reported
	if s.asked.Rate > 0 {
		o.RecordsPerSecond = float64(s.asked.Rate)
		o.MaxBatchRecords = max(1, min(o.MaxBatchRecords, s.asked.Rate/10)) // prevents bursts at a low rate
	}
	return o
}

// Left returns the replays that have something left to do. It returns an error if part of a range is missing, unless that was allowed.
func (s *Set) Left() ([]*service.Replay, error) {
	for _, r := range s.Replays {
		if len(r.Plan.Missing()) > 0 && !s.asked.SkipMissing {
			return nil, fault.New(fault.Failed, fmt.Errorf("%s: part of the range is missing, as the plan says; nothing was replayed", r.Name),
				"--skip-missing replays what is left")
		}
		if err := unknown(r); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(slices.Clone(s.Replays), func(r *service.Replay) bool { return r.Plan.Left() == 0 }), nil
}

// Run runs opened replays until all is settled or ctx is done, and returns an error for people, or nil, for each.
func (s *Set) Run(ctx context.Context, replays []*service.Replay) []error {
	errs := service.RunReplays(ctx, replays)
	for i, r := range replays {
		errs[i] = s.outcome(ctx, r, errs[i])
	}
	return errs
}

// outcome returns the error of a replay for people.
func (s *Set) outcome(ctx context.Context, r *service.Replay, err error) error {
	switch gone := r.Gone(); {
	case err != nil && ctx.Err() != nil:
		left := r.Plan.Left()
		for _, p := range r.Progress().Partitions {
			left -= p.Done
		}
		return fault.New(fault.Failed, fmt.Errorf("%s: stopped with %s offsets left", r.Name, term.Thousands(left)), s.resume(r))
	case err != nil:
		return fmt.Errorf("%s: %w", r.Name, service.IngestError(err))
	case gone > 0 && !s.asked.SkipMissing:
		return fmt.Errorf("%s: %s offsets left the topic before they were replayed; the rest is done", r.Name, term.Thousands(gone))
	}
	return nil
}

// resume returns how to continue. It replaces relative times, which would mean another time by then.
func (s *Set) resume(r *service.Replay) string {
	var fixed []string
	for _, end := range []struct {
		flag, text string
		at         ingest.Position
	}{{"--from", s.asked.From, r.Options.From}, {"--to", s.asked.To, r.Options.To}} {
		if when.Ago(strings.TrimSpace(end.text)) {
			fixed = append(fixed, end.flag+" "+end.at.String())
		}
	}
	if len(fixed) == 0 {
		return "the same command continues from there"
	}
	return "the same command with " + strings.Join(fixed, " ") + " continues from there"
}

// Diff is the JSON line of what a replay would change.
type Diff struct {
	Pipeline string `json:"pipeline"` // pipeline.rows
	verify.DiffReport
}

// DiffOf returns the replay whose sample is compared, or an error that says why there is none.
func (s *Set) DiffOf() (*service.Replay, error) {
	i := slices.IndexFunc(s.Replays, func(r *service.Replay) bool { return r.Options.Group == s.pipeline.RowsGroup() })
	if i < 0 {
		return nil, fault.Misused(errors.New("--diff compares rows, but this replay writes only documents"))
	}
	if _, looksUp := s.pipeline.Lookup(); looksUp {
		return nil, fault.Misused(fmt.Errorf("--diff: pipeline %s looks up keys (key_from), which works only when writing; "+
			"replay --into another table and compare", s.pipeline.Name))
	}
	return s.Replays[i], nil
}

// Diff compares a sample of the range with the tables, and masks the result. It writes nothing.
func (s *Set) Diff(ctx context.Context, rows verify.Reader, r *service.Replay) (*Diff, error) {
	if err := unknown(r); err != nil {
		return nil, err
	}
	opts := s.pipeline.Sink()
	source := verify.Source{Rows: &opts}
	service.VerifyFormer(&source, r.Former, nil)
	d, err := verify.Diff(ctx, rows, verify.DiffOptions{Ingest: r.Options.Options, Plan: r.Plan, Keys: r.Options.Keys,
		Rows: opts, Records: s.asked.Diff, Eras: source.Eras, Former: source.Former})
	if err != nil {
		return nil, fmt.Errorf("--diff: %w", err)
	}
	d.Hide(s.cfg.Mask())
	return &Diff{r.Name, *d}, nil
}
