package operations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"brine/config"
	"brine/ingest/deadletter"
	"brine/internal/fault"
	"brine/internal/term"
	"brine/serve"
	"brine/serve/client"
	"brine/service"
	"brine/service/brokers"
	"brine/service/jobs"
	"brine/service/letters"
)

// mostListed is the most dead letters that a scan lists.
const mostListed = 500

// scanLetters does the work of brine deadletters ls --summary, and also lists some dead letters.
func (o *Operations) scanLetters(of *client.DeadLetterScanJob) (jobs.Work, error) {
	if err := within("list", of.List, mostListed); err != nil {
		return nil, err
	}
	cfg := o.cfg()
	rules := cfg.Mask()
	filter, err := o.filter(&of.DeadLettersOf, rules)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, out *jobs.Output) error {
		scan, err := scanned(ctx, cfg, of.Pipeline, of.Half, filter, out)
		if err != nil {
			return err
		}
		n := 0
		seen := func(yield func(*deadletter.Kept, error) bool) {
			for l, err := range scan.Letters(ctx, deadletter.Place{}) {
				if err == nil {
					if n++; n <= of.List {
						out.Result(jobs.DeadLetter, letter(scan, rules, l, false))
					}
				}
				if !yield(l, err) {
					return
				}
			}
		}
		sums, err := deadletter.Summarize(seen, deadletter.By{Reason: true, Field: true, Schema: scan.Schema})
		if err != nil {
			return service.IngestError(err)
		}
		for _, sum := range sums {
			sum.Schema = scan.SchemaName(ctx, sum.Schema)
			out.Result("sum", sum.Object(scan.Name(sum.Group), scan.Several))
		}
		out.Found(term.Count(n, "dead letter"))
		return nil
	}, nil
}

// mostPreview is the most dead letters that a preview shows the effects of.
const mostPreview = 100

// replayLetters does the work of brine deadletters replay.
func (o *Operations) replayLetters(of *client.DeadLetterReplayJob) (jobs.Work, error) {
	if of.All {
		return nil, misused("all: replayed dead letters are never replayed again; a replay rereads records by their offsets")
	}
	if err := errors.Join(within("rate", of.Rate, 1e9), within("preview", of.Preview, mostPreview)); err != nil {
		return nil, err
	}
	cfg := o.cfg()
	filter, err := o.filter(&of.DeadLettersOf, cfg.Mask())
	if err != nil {
		return nil, err
	}
	replay, pipeline := &letters.Replay{}, of.Pipeline
	if len(of.Let) > 0 {
		p, err := o.meant(of.Pipeline)
		if err != nil {
			return nil, err
		}
		if replay.Fix, err = letters.Fixed(p, of.Let, of.AlterIdentity); err != nil {
			return nil, err
		}
		pipeline = p.Name
	}
	return func(ctx context.Context, out *jobs.Output) (err error) {
		if replay.Scan, err = scanned(ctx, cfg, pipeline, of.Half, filter, out); err != nil {
			return err
		}
		if err := replay.Count(ctx); err != nil {
			return err
		}
		for _, group := range replay.Unknown {
			out.Result("note", map[string]string{"note": fmt.Sprintf("ignoring %s of group %s, which this configuration does not have",
				term.Count(replay.Letters[group], "dead letter"), group)})
		}
		switch {
		case len(replay.Halves) == 0:
			out.Found("there are no such dead letters")
			return nil
		case of.DryRun || of.Preview > 0:
			return o.previewLetters(ctx, cfg, replay, of.Preview, out)
		}
		return o.writeLetters(ctx, cfg, replay, of.Rate, out)
	}, nil
}

// scanned returns a scan that reports its progress to the job.
func scanned(ctx context.Context, cfg *config.Config, pipeline, half string, filter deadletter.Filter,
	out *jobs.Output) (*brokers.DeadLetters, error) {
	scan, err := brokers.NewDeadLetters(ctx, cfg, pipeline, half, filter)
	if err != nil {
		return nil, err
	}
	scan.Meter = new(deadletter.Meter)
	showProgress(out, "dead letters", scan.Meter.Read)
	return scan, nil
}

// showProgress makes a job report how much is done and how much is left.
func showProgress(out *jobs.Output, what string, read func() (done, left int64)) {
	began := time.Now()
	out.Progress(func() []client.JobProgress {
		p := term.Progress{Elapsed: time.Since(began)}
		p.Done, p.Left = read()
		return []client.JobProgress{{Of: what, Done: p.Done, Total: p.Done + p.Left, Rate: p.PerSecond(), ETA: p.ETA()}}
	})
}

func (o *Operations) previewLetters(ctx context.Context, cfg *config.Config, replay *letters.Replay, shown int, out *jobs.Output) error {
	var s *service.Service
	if shown > 0 {
		s = o.service
	}
	previews, err := replay.Preview(ctx, s, shown, cfg.Mask(), func(e *letters.Effect) error {
		out.Result(jobs.Effect, e)
		return nil
	})
	if previews != nil {
		for _, line := range previews.Lines() {
			out.Result("preview", line)
		}
	}
	return err
}

func (o *Operations) writeLetters(ctx context.Context, cfg *config.Config, replay *letters.Replay, rate int, out *jobs.Output) error {
	opts := o.options()
	opts.For, opts.Halves = service.ToWrite, replay.Names()
	s, err := service.Open(ctx, cfg, opts)
	if err != nil {
		return err
	}
	defer s.Close()
	ctx, end := s.Guard(ctx)
	outcomes, err := replay.Run(ctx, s, rate, 0)
	for i := range outcomes {
		out.Result("result", outcomes[i])
		err = errors.Join(err, outcomes[i].Err(cfg.Mask().Nothing()))
	}
	return end(err)
}

// purgeLetters does the work of brine deadletters purge.
func (o *Operations) purgeLetters(ctx context.Context, of *client.DeadLetterPurgeJob) (jobs.Work, error) {
	if of.OlderThan == "" {
		return nil, misused("older_than: is missing; write a time, or how long ago (30d)")
	}
	if of.Pipeline != "" {
		if _, err := o.pipeline(of.Pipeline); err != nil {
			return nil, err
		}
	}
	cfg := o.cfg()
	before, err := letters.Before(of.OlderThan, o.now())
	if err != nil {
		return nil, err
	}
	shown, err := o.shownPurge(ctx, of)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, out *jobs.Output) error {
		scan, err := scanned(ctx, cfg, of.Pipeline, "", deadletter.Filter{Replayed: true}, out)
		if err != nil {
			return err
		}
		plans, err := scan.PlanPurge(ctx, before, of.KeepOpen, shown)
		if err != nil {
			return service.IngestError(err)
		}
		gone := int64(0)
		err = letters.RunPurge(ctx, plans, of.DryRun, func(p letters.Purged) error {
			gone += p.Records
			out.Result("topic", p)
			return ctx.Err()
		})
		switch {
		case err != nil:
		case gone == 0:
			out.Found("nothing to delete: no partition begins with dead letters that old")
		case of.DryRun:
			out.Found("would delete " + term.Count(int(gone), "record"))
		default:
			out.Found("deleted " + term.Count(int(gone), "record"))
		}
		return err
	}, nil
}

// staysShown is how long a dry run of a purge may be confirmed.
const staysShown = time.Hour

// shownPurge returns what the dry run that is confirmed has shown, or nil if none is named.
func (o *Operations) shownPurge(ctx context.Context, of *client.DeadLetterPurgeJob) ([]deadletter.Purge, error) {
	if of.Shown == "" {
		return nil, nil
	}
	job, err := o.jobs.Get(ctx, of.Shown, true)
	if err != nil {
		return nil, fmt.Errorf("shown: %w", err)
	}
	var asked client.DeadLetterPurgeJob
	if job.Kind != serve.DeadLetterPurgeJob || json.Unmarshal(job.Asked, &asked) != nil || !asked.DryRun || asked.Shown != "" {
		return nil, misused("shown: job %s is not a dry run of a purge", of.Shown)
	}
	if asked.Pipeline != of.Pipeline || asked.OlderThan != of.OlderThan || asked.KeepOpen != of.KeepOpen {
		return nil, misused("shown: job %s was asked for something else; repeat its pipeline, older_than and keep_open", of.Shown)
	}
	ended, err := time.Parse(time.RFC3339, job.Ended)
	switch {
	case job.State != client.JobDone || job.Cut > 0 || err != nil:
		return nil, lookAgain("shown: job %s has not shown all of what it found", of.Shown)
	case o.now().Sub(ended) > staysShown:
		return nil, lookAgain("shown: job %s ended more than an hour ago, and what it found may have changed", of.Shown)
	}
	plans := []deadletter.Purge{}
	for _, r := range job.Results {
		var p deadletter.Purge
		if err := json.Unmarshal(r.Value, &p); r.What != "topic" || err != nil {
			return nil, errors.Join(fmt.Errorf("result %s of job %s is not one of a purge", r.What, of.Shown), err)
		}
		plans = append(plans, p)
	}
	return plans, nil
}

func lookAgain(format string, args ...any) error {
	return fault.New(fault.Failed, fmt.Errorf(format, args...), "start a new dry run")
}
