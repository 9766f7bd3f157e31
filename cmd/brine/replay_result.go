package main

import (
	"context"
	"fmt"
	"strings"

	"brine/ingest"
	"brine/internal/term"
	"brine/internal/when"
	"brine/service"
)

func (s *replayScreen) result(r *service.Replay) {
	result := r.Result()
	if s.json {
		s.JSON(result)
		return
	}
	of := ""
	if result.Replayed < result.Read {
		of = fmt.Sprintf(" of %s that were read", term.Thousands(result.Read))
	}
	fmt.Fprintf(s.Out, "%s: done: %s%s replayed in %v (%s/s), retries %d, dead letters %d\n", r.Name,
		term.Count(int(result.Replayed), "record"), of,
		term.Seconds(result.Seconds), term.Thousands(int64(float64(result.Read)/result.Seconds)), result.Retries, result.Dead)
}

// resume says how to go on. A time of so long ago is another one by then.
func (c *replayCmd) resume(r *service.Replay) string {
	var fixed []string
	for _, end := range []struct {
		flag, text string
		at         ingest.Position
	}{{"--from", c.From, r.Options.From}, {"--to", c.To, r.Options.To}} {
		if when.Ago(strings.TrimSpace(end.text)) {
			fixed = append(fixed, end.flag+" "+end.at.String())
		}
	}
	if len(fixed) == 0 {
		return "the same command goes on from there"
	}
	return "the same command with " + strings.Join(fixed, " ") + " goes on from there"
}

// outcome words how a replay has ended.
func (c *replayCmd) outcome(ctx context.Context, r *service.Replay, err error) error {
	switch gone := r.Gone(); {
	case err != nil && ctx.Err() != nil:
		left := r.Plan.Left()
		for _, p := range r.Progress().Partitions {
			left -= p.Done
		}
		return &exitError{exitFailed, fmt.Errorf("%s: stopped with %s offsets left", r.Name, term.Thousands(left)), c.resume(r)}
	case err != nil:
		return fmt.Errorf("%s: %w", r.Name, service.IngestError(err))
	case gone > 0 && !c.SkipMissing:
		return fmt.Errorf("%s: %s offsets left the topic before they were replayed; the rest is done", r.Name, term.Thousands(gone))
	}
	return nil
}
