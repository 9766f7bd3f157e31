package operations

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"brine/internal/fault"
	"brine/reindex"
	"brine/serve/client"
	"brine/service"
	"brine/service/jobs"
)

// mostWorkers is the most table ranges that a reindex may read in parallel.
const mostWorkers = 64

// reindex does the work of brine reindex.
func (o *Operations) reindex(of *client.ReindexJob) (jobs.Work, error) {
	cfg := o.cfg()
	from := reindex.From(of.From)
	if from != reindex.FromHBase && from != reindex.FromTopic {
		return nil, misused("from: %q is neither hbase nor topic", of.From)
	}
	if err := errors.Join(within("rate", of.Rate, 1e9), within("workers", of.Workers, mostWorkers)); err != nil {
		return nil, err
	}
	if _, err := service.ReindexHalves(cfg, of.Index, from); err != nil {
		return nil, err
	}
	options := reindex.Options{Index: of.Index, From: from, Rate: float64(of.Rate), Workers: cmp.Or(of.Workers, 4), Again: of.Again,
		SkipRefused: of.SkipRefused, SkipMissing: of.SkipMissing, DropOld: of.DropOld}
	return func(ctx context.Context, out *jobs.Output) error {
		s, run, err := service.OpenReindex(ctx, cfg, o.options(), options)
		if err != nil {
			return err
		}
		defer s.Close()
		plan, err := run.Plan(ctx)
		if err != nil {
			return service.ReindexError(err)
		}
		out.Result("plan", plan)
		if of.DryRun {
			return nil
		}
		ctx, end := s.Guard(ctx)
		out.Progress(reindexProgress(run.Meter(plan.Documents), plan.Documents))
		err = run.Run(ctx)
		out.Progress(nil)
		switch {
		case err != nil && ctx.Err() != nil && !errors.Is(err, reindex.ErrTaken):
			err = fault.New(fault.Failed, fmt.Errorf("stopped while %s", run.Progress().Phase), "repeat it to continue from there")
		case err != nil:
			err = service.ReindexError(err)
		default:
			out.Result("result", run.Result())
		}
		return end(err)
	}, nil
}

func reindexProgress(meter *reindex.Meter, documents int64) func() []client.JobProgress {
	return func() []client.JobProgress {
		r, ok := meter.Read()
		if !ok {
			return nil
		}
		out := client.JobProgress{Of: string(r.Phase), Done: r.Offsets, Total: r.Offsets + r.Behind, Rate: r.PerSec, ETA: r.ETA,
			Waiting: r.Waiting}
		if r.Phase == reindex.Scanning {
			out.Done, out.Total = r.Rows, max(documents, r.Rows)
		}
		return []client.JobProgress{out}
	}
}
