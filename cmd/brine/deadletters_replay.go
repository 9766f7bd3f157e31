package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"brine/config"
	"brine/event"
	"brine/ingest/deadletter"
	"brine/internal/term"
	"brine/service"
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
	pipeline *config.Pipeline
	target   deadletter.Target

	letters  int
	written  int
	rejected map[event.Reason]int
	last     *deadletter.Letter // of the rejected
}

func (c *deadlettersReplayCmd) Run(e *env) error {
	if c.All {
		return usage(errors.New("--all: dead letters that have been replayed are not replayed again; brine replay reads records again by " +
			"their offsets"))
	}
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	scan, halves, err := c.plan(e, cfg)
	if err != nil || c.DryRun || len(halves) == 0 {
		return err
	}
	var names []string
	for _, r := range halves {
		names = append(names, r.target.Name)
	}
	log := slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := openService(e.ctx, cfg, service.ToWrite, log, names...)
	if err != nil {
		return err
	}
	defer s.Close()
	targets := make([]*deadletter.Target, len(halves))
	for i, r := range halves {
		r.aim(s, log, e.patience)
		targets[i] = &r.target
	}
	err = scan.Replay(e.ctx, c.Rate, targets, func(to *deadletter.Target, out deadletter.Outcome) {
		halves[slices.Index(targets, to)].add(out)
	})
	err = service.IngestError(err)
	for _, r := range halves {
		err = errors.Join(err, c.result(e, r))
	}
	return err
}

// plan counts the letters that are meant, by half. The scan that it returns is for another reading.
func (c *deadlettersReplayCmd) plan(e *env, cfg *config.Config) (*letterScan, []*letterReplay, error) {
	scan, err := newLetterScan(e, cfg, &c.letterFilter)
	if err != nil {
		return nil, nil, err
	}
	byGroup, unknown, n := map[string]*letterReplay{}, map[string]int{}, 0
	for l, err := range scan.Letters(e.ctx, deadletter.Place{}) {
		if err != nil {
			return nil, nil, service.IngestError(err)
		}
		n++
		p, _ := scan.of(l.Group)
		if p == nil {
			unknown[l.Group]++
			continue
		}
		if byGroup[l.Group] == nil {
			byGroup[l.Group] = &letterReplay{pipeline: p, rejected: map[event.Reason]int{},
				target: deadletter.Target{Name: scan.name(l.Group), Group: l.Group}}
		}
		byGroup[l.Group].letters++
	}
	if !c.JSON || n == 0 {
		scan.ended(e.stderr, n)
	}
	halves := slices.SortedFunc(maps.Values(byGroup), func(a, b *letterReplay) int { return cmp.Compare(a.target.Name, b.target.Name) })
	for _, r := range halves {
		switch {
		case c.DryRun && c.JSON:
			err = errors.Join(err, json.NewEncoder(e.stdout).Encode(map[string]any{"pipeline": r.target.Name, "letters": r.letters}))
		case c.DryRun:
			fmt.Fprintf(e.stdout, "%s: %s to replay\n", r.target.Name, term.Count(r.letters, "letter"))
		}
	}
	for _, group := range slices.Sorted(maps.Keys(unknown)) {
		fmt.Fprintf(e.stderr, "brine: %s of group %s, which this configuration does not have, are left out\n",
			term.Count(unknown[group], "letter"), group)
	}
	return scan, halves, err
}

// aim has the letters written to the half's store, for as long as --timeout says; what fails again and again is warned of, once a minute.
func (r *letterReplay) aim(s *service.Service, log *slog.Logger, timeout time.Duration) {
	h, to := s.Half(r.target.Name), &r.target
	o := h.Ingest()
	o.EnsureDefaults()
	to.Schema, to.Writer, to.RetryMin, to.RetryMax, to.Patience = o.Schema, o.Writer, o.RetryMin, o.RetryMax, timeout
	to.Cause = func() string { return s.CauseOf(h) }
	var warned time.Time
	to.Retried = func(tries int, f event.Failure) {
		if tries >= 3 && time.Since(warned) >= time.Minute {
			log.Warn("dead letters wait", "pipeline", to.Name, "tries", tries, "reason", f.Reason, "error", f.Err)
			warned = time.Now()
		}
	}
}

func (r *letterReplay) add(out deadletter.Outcome) {
	r.written += out.Written
	for reason, n := range out.Rejected {
		r.rejected[reason] += n
	}
	if out.Last != nil {
		r.last = out.Last
	}
}

// result says what became of a half's letters. It fails when some are still rejected.
func (c *deadlettersReplayCmd) result(e *env, r *letterReplay) error {
	rejected, reasons := 0, []string(nil)
	for _, reason := range slices.Sorted(maps.Keys(r.rejected)) {
		rejected += r.rejected[reason]
		reasons = append(reasons, fmt.Sprintf("%s %s", reason, term.Thousands(int64(r.rejected[reason]))))
	}
	name := r.target.Name
	if c.JSON {
		if err := json.NewEncoder(e.stdout).Encode(map[string]any{"pipeline": name, "letters": r.letters, "written": r.written,
			"rejected": r.rejected}); err != nil {
			return err
		}
	} else {
		written, letters := term.Thousands(int64(r.written)), term.Count(r.letters, "record")
		fmt.Fprintf(e.stdout, "%s: %s of %s written and marked as replayed\n", name, written, letters)
	}
	if rejected == 0 {
		return nil
	}
	last := fmt.Sprintf("%s, field %q: %s", recordPlace(r.last.Record.Partition, r.last.Record.Offset), r.last.Field, r.last.Detail)
	return &exitError{exitFailed, fmt.Errorf("%s: %s can still not be written: %s; the last is %s", name, term.Count(rejected, "record"),
		strings.Join(reasons, ", "), last),
		"fix what they fail for and replay again; brine deadletters show PARTITION:OFFSET shows one whole"}
}
