package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"golang.org/x/time/rate"

	"brine/config"
	"brine/event"
	"brine/ingest"
)

type deadlettersReplayCmd struct {
	letterFilter
	Rate   int  `help:"Most records per second; 0 for no limit."`
	DryRun bool `help:"Say how many letters would be replayed, and stop."`
	JSON   bool `help:"Print a JSON object per half of a pipeline."`
}

// Help is shown under the command's own help.
func (deadlettersReplayCmd) Help() string {
	return letterHelp + `

replay decodes the records again and writes them as the live pipeline does, beside it: to the half that rejected them, with the
version that is their own, so that nothing newer is overwritten. Fix the configuration or the store first. What is then written
is marked as replayed and not listed again; what is rejected once more stays. Interrupted in any way, the same command goes on.

Examples:
  brine deadletters replay -c brine.yaml --dry-run
  brine deadletters replay -c brine.yaml --pipeline scans --reason wrong_type --since 2013-01-31`
}

// letterReplay is the replay of the letters of one half.
type letterReplay struct {
	name     string
	pipeline *config.Pipeline
	group    string

	Letters  int
	Written  int
	Rejected map[event.Reason]int
	Last     string // of the rejected: where it was and why

	half    *half
	log     *ingest.DeadLetterLog
	pending []ingest.KeptLetter
	bytes   int
}

const (
	letterBatch      = 500 // letters that are written at once
	letterBatchBytes = 4 << 20
)

func (c *deadlettersReplayCmd) Run(e *env) error {
	if c.All {
		return usage(errors.New("--all: dead letters that have been replayed are not replayed again; brine replay reads records again by their offsets"))
	}
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	halves, err := c.plan(e, cfg)
	if err != nil || c.DryRun || len(halves) == 0 {
		return err
	}
	s := prepareService(onlyPipelines(cfg, pipelinesOf(halves)...), slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	defer s.close()
	for _, r := range halves {
		if err := r.open(e.ctx, s, cfg); err != nil {
			return err
		}
		defer r.log.Close()
	}
	err = c.replay(e, cfg, halves)
	for _, r := range halves {
		err = errors.Join(err, c.result(e, r))
	}
	return err
}

// plan counts the letters that are meant, by half.
func (c *deadlettersReplayCmd) plan(e *env, cfg *config.Config) ([]*letterReplay, error) {
	scan, err := newLetterScan(e, cfg, &c.letterFilter)
	if err != nil {
		return nil, err
	}
	var halves []*letterReplay
	unknown, n := map[string]int{}, 0
	for l, err := range scan.letters(e, letterPlace{}) {
		if err != nil {
			return nil, err
		}
		n++
		if l.pipeline == nil {
			unknown[l.Group]++
			continue
		}
		r := halfOf(halves, l)
		if r == nil {
			r = &letterReplay{name: l.name(), pipeline: l.pipeline, group: l.Group, Rejected: map[event.Reason]int{}}
			halves = append(halves, r)
		}
		r.Letters++
	}
	slices.SortFunc(halves, func(a, b *letterReplay) int { return cmp.Compare(a.name, b.name) })
	if !c.JSON || n == 0 {
		scan.ended(e.stderr, n)
	}
	for _, r := range halves {
		if c.DryRun && c.JSON {
			err = errors.Join(err, json.NewEncoder(e.stdout).Encode(map[string]any{"pipeline": r.name, "letters": r.Letters}))
		} else if c.DryRun {
			fmt.Fprintf(e.stdout, "%s: %s to replay\n", r.name, count(r.Letters, "letter"))
		}
	}
	for _, group := range sortedKeys(unknown) {
		fmt.Fprintf(e.stderr, "brine: %s of group %s, which this configuration does not have, are left out\n", count(unknown[group], "letter"), group)
	}
	return halves, err
}

func halfOf(halves []*letterReplay, l *foundLetter) *letterReplay {
	if i := slices.IndexFunc(halves, func(r *letterReplay) bool { return r.group == l.Group }); i >= 0 {
		return halves[i]
	}
	return nil
}

func pipelinesOf(halves []*letterReplay) (out []*config.Pipeline) {
	for _, r := range halves {
		if !slices.Contains(out, r.pipeline) {
			out = append(out, r.pipeline)
		}
	}
	return out
}

func (r *letterReplay) open(ctx context.Context, s *service, cfg *config.Config) (err error) {
	if r.half, err = s.openHalf(ctx, r.pipeline, r.group); err != nil {
		return err
	}
	r.log, err = ingest.OpenDeadLetters(ctx, cfg.Ingest(r.pipeline, r.group))
	return loopError(err)
}

// replay reads the letters once more, and writes them batch by batch.
func (c *deadlettersReplayCmd) replay(e *env, cfg *config.Config, halves []*letterReplay) error {
	scan, err := newLetterScan(e, cfg, &c.letterFilter)
	if err != nil {
		return err
	}
	var limit *rate.Limiter
	if c.Rate > 0 {
		limit = rate.NewLimiter(rate.Limit(c.Rate), letterBatch)
	}
	for l, err := range scan.letters(e, letterPlace{}) {
		if err != nil {
			return err
		}
		r := halfOf(halves, l)
		if l.pipeline == nil || r == nil { // rejected since the plan
			continue
		}
		r.pending, r.bytes = append(r.pending, l.Clone()), r.bytes+l.Record.Size()
		if len(r.pending) == letterBatch || r.bytes >= letterBatchBytes {
			if err := r.write(e.ctx, limit); err != nil {
				return err
			}
		}
	}
	for _, r := range halves {
		if err := r.write(e.ctx, limit); err != nil {
			return err
		}
	}
	return nil
}

func (r *letterReplay) write(ctx context.Context, limit *rate.Limiter) error {
	if len(r.pending) == 0 {
		return nil
	}
	if limit != nil {
		if err := limit.WaitN(ctx, len(r.pending)); err != nil {
			return err
		}
	}
	out, err := r.log.Replay(ctx, r.half.opts, r.pending)
	r.Written += out.Written
	for reason, n := range out.Rejected {
		r.Rejected[reason] += n
	}
	if l := out.Last; l != nil {
		r.Last = fmt.Sprintf("%d:%d, field %q: %s", l.Record.Partition, l.Record.Offset, l.Field, l.Detail)
	}
	r.pending, r.bytes = r.pending[:0], 0
	if err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	return nil
}

// result says what became of a half's letters. It fails when some are still rejected.
func (c *deadlettersReplayCmd) result(e *env, r *letterReplay) error {
	rejected := 0
	var reasons []string
	for _, n := range r.Rejected {
		rejected += n
	}
	for _, reason := range slices.Sorted(maps.Keys(r.Rejected)) {
		reasons = append(reasons, fmt.Sprintf("%s %s", reason, thousands(int64(r.Rejected[reason]))))
	}
	if c.JSON {
		if err := json.NewEncoder(e.stdout).Encode(map[string]any{"pipeline": r.name, "letters": r.Letters, "written": r.Written, "rejected": r.Rejected}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(e.stdout, "%s: %s of %s written and marked as replayed\n", r.name, thousands(int64(r.Written)), count(r.Letters, "record"))
	}
	if rejected == 0 {
		return nil
	}
	return &exitError{exitFailed, fmt.Errorf("%s: %s can still not be written: %s; the last is %s", r.name, count(rejected, "record"), strings.Join(reasons, ", "), r.Last),
		"fix what they fail for and replay again; brine deadletters show PARTITION:OFFSET shows one whole"}
}
