package operations

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/internal/fault"
	"brine/internal/term"
	"brine/internal/wording"
	"brine/mask"
	"brine/serve/client"
	"brine/service/brokers"
	"brine/service/jobs"
	"brine/service/verifications"
	"brine/verify"
)

// verify does the work of brine verify.
func (o *Operations) verify(of *client.VerifyJob) (jobs.Work, error) {
	cfg := o.cfg()
	if of.Pipeline != "" {
		if _, err := o.pipeline(of.Pipeline); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(halfKind(of.Half), within("rate", of.Rate, 1e9)); err != nil {
		return nil, err
	}
	if of.MostExtra < 0 || of.MostExtra > 0 && !of.DeleteExtra {
		return nil, misused("most_extra: %d: write how many rows and documents may be extra, with delete_extra", of.MostExtra)
	}
	halves, err := verifications.Halves(cfg, of.Pipeline, of.Half)
	if err != nil {
		return nil, err
	}
	asked := verifications.Asked{From: of.From, To: of.To, Partitions: of.Partitions, Full: of.Full, Sample: of.Sample, Ahead: of.Ahead,
		Repair: of.Repair, DeleteExtra: of.DeleteExtra, Rate: of.Rate, AsConfigured: of.AsConfigured}
	if err := asked.Check(o.now()); err != nil {
		return nil, err
	}
	return func(ctx context.Context, out *jobs.Output) error {
		groups, err := brokers.Groups(ctx, o.brokers, cfg, halves, of.Topic)
		if err != nil {
			return err
		}
		v, err := verifications.Open(ctx, cfg, asked, o.brokers, groups, o.options())
		if err != nil {
			return err
		}
		defer v.Service.Close()
		ctx, end := v.Service.Guard(ctx)
		shown := verified(out, cfg.Mask())
		shown.Confirm = func(extra int64) error {
			if of.MostExtra == 0 || extra <= of.MostExtra {
				return nil
			}
			return fault.New(fault.Failed, fmt.Errorf("deleted nothing: %s rows and documents are extra, more than the %s of most_extra",
				term.Thousands(extra), term.Thousands(of.MostExtra)), "look at the findings again, and confirm that many")
		}
		v.Options.Hooks.Phase = func(i verify.PhaseInfo) { out.Progress(phase(i, time.Now())) }
		if err := v.Expect(ctx, shown.Note); err != nil {
			return end(err)
		}
		report, err := v.Once(ctx, shown)
		if err = end(err); err == nil {
			out.Found(found(report))
		}
		return err
	}, nil
}

// phase returns a function that reports the progress of a phase.
func phase(i verify.PhaseInfo, began time.Time) func() []client.JobProgress {
	return func() []client.JobProgress {
		at, of := i.Done()
		p := term.Progress{Done: at, Left: of - at, Elapsed: time.Since(began)}
		return []client.JobProgress{{Of: i.Name, Done: at, Total: of, Rate: p.PerSecond(), ETA: p.ETA()}}
	}
}

// found returns in one sentence what a verification has found.
func found(r *verify.Report) string {
	n := r.Problems()
	if n == 0 {
		return "nothing is " + verify.KindNames()
	}
	return term.Thousands(n) + " findings are left"
}

// verified returns a Shown, without Confirm, that makes a job's results what brine verify prints as JSON.
func verified(out *jobs.Output, rules *mask.Rules) *verifications.Shown {
	report := func(r *verify.Report) {
		r.Hide(rules)
		for i := range r.Findings {
			out.Result(jobs.Finding, r.Findings[i].Line())
		}
		out.Result("report", r.Line())
	}
	fixed := func(what string) func(int64, error) {
		return func(n int64, err error) { out.Result(what, map[string]any{what: n, "complete": err == nil}) }
	}
	return &verifications.Shown{
		Note: func(format string, args ...any) {
			out.Result("note", map[string]string{"note": wording.Plain(fmt.Sprintf(format, args...))})
		},
		Report: report, Again: report, Repaired: fixed("repaired_records"), Deleted: fixed("deleted_extra"),
		During: func(do func()) { do(); out.Progress(nil) },
	}
}
