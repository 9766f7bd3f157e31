package operations

import (
	"context"
	"errors"

	"brine/config"
	"brine/internal/term"
	"brine/serve/client"
	"brine/service"
	"brine/service/jobs"
	"brine/service/replays"
)

// mostDiff is the most records that a diff may cover.
const mostDiff = 100_000

// replay does the work of brine replay.
func (o *Operations) replay(of *client.ReplayJob) (jobs.Work, error) {
	cfg := o.cfg() // kept for the whole job, even if another is loaded meanwhile
	p, err := o.meant(of.Pipeline)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(halfKind(of.Half), within("rate", of.Rate, 1e9), within("diff", of.Diff, mostDiff)); err != nil {
		return nil, err
	}
	set, err := replays.New(cfg, p, replays.Asked{Topic: of.Topic, Half: of.Half, From: of.From, To: of.To, Partitions: of.Partitions,
		Keys: of.Keys, Rate: of.Rate, Name: of.Name, Again: of.Again, SkipMissing: of.SkipMissing, Diff: of.Diff,
		AsConfigured: of.AsConfigured}, o.now())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, out *jobs.Output) error {
		if err := set.Plan(ctx, func(r *service.Replay) { out.Result("plan", r.PlanLine()) }); err != nil {
			return err
		}
		switch {
		case of.Diff > 0:
			return o.diff(ctx, set, out)
		case of.DryRun:
			return nil
		}
		return o.runReplays(ctx, cfg, set, out)
	}, nil
}

// within checks that a number of a job's body is from 0 to most.
func within(name string, n int, most float64) error {
	if n < 0 || float64(n) > most {
		return misused("%s: %d is not from 0 to %.0f", name, n, most)
	}
	return nil
}

func (o *Operations) diff(ctx context.Context, set *replays.Set, out *jobs.Output) error {
	r, err := set.DiffOf()
	if err != nil {
		return err
	}
	d, err := set.Diff(ctx, o.service.Client(), r)
	if err == nil {
		out.Result("diff", d)
	}
	return err
}

func (o *Operations) runReplays(ctx context.Context, cfg *config.Config, set *replays.Set, out *jobs.Output) error {
	left, err := set.Left()
	if err != nil {
		return err
	}
	if len(left) == 0 {
		out.Found("nothing is left to replay")
		return nil
	}
	s, err := service.OpenReplays(ctx, cfg, o.options(), left)
	if err != nil {
		return err
	}
	defer s.Close()
	ctx, end := s.Guard(ctx)
	out.Progress(func() (all []client.JobProgress) {
		for _, r := range left {
			all = append(all, replayProgress(r))
		}
		return all
	})
	errs := set.Run(ctx, left)
	out.Progress(nil)
	for i, r := range left {
		result := r.Result()
		result.Finished = errs[i] == nil
		out.Result("result", result)
	}
	return end(errors.Join(errs...))
}

// replayProgress returns the progress of a replay over all its partitions.
func replayProgress(r *service.Replay) client.JobProgress {
	readings := r.Readings()
	all := readings[len(readings)-1]
	out := client.JobProgress{Of: all.Pipeline, Done: all.Done, Total: all.Done + all.Left, ETA: all.ETA,
		Rate: term.Progress{Done: all.Done, Elapsed: r.Progress().Elapsed}.PerSecond()}
	for _, part := range readings {
		if part.Waiting != "" {
			out.Waiting = shortly(errors.New(part.Waiting))
		}
	}
	return out
}
