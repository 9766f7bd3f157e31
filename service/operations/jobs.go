package operations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"brine/config"
	"brine/internal/fault"
	"brine/serve"
	"brine/serve/client"
	"brine/service"
	"brine/service/jobs"
)

// Open implements service.Operations. If there are accounts, it opens the jobs, which are stored with them.
func (o *Operations) Open(ctx context.Context) error {
	accounts, err := o.service.Accounts(ctx)
	if err != nil || accounts == nil {
		return err
	}
	o.jobs, err = jobs.Open(ctx, jobs.Options{Accounts: accounts, Log: o.log})
	return err
}

// StartJob implements serve.Operations.
func (o *Operations) StartJob(ctx context.Context, s serve.JobStart) (job client.Job, again bool, err error) {
	work, err := o.work(ctx, s.Of)
	if err != nil {
		return job, false, asFields(err)
	}
	exact, err := json.Marshal(s.Of)
	if err != nil {
		return job, false, err
	}
	job, again, err = o.jobs.Start(ctx, jobs.Start{Kind: s.Kind, Asked: s.Shown, Exact: exact, Key: s.Key, By: s.By,
		Work: func(ctx context.Context, out *jobs.Output) error { return asFields(work(ctx, out)) }})
	switch {
	case errors.Is(err, jobs.ErrFull):
		return job, false, serve.ErrJobsFull
	case errors.Is(err, jobs.ErrKeyReused):
		return job, false, serve.ErrJobKeyReused
	}
	return job, again, err
}

// work returns the work of a job from its request. It reports mistakes in the request at once.
func (o *Operations) work(ctx context.Context, of any) (jobs.Work, error) {
	switch of := of.(type) {
	case *client.ReplayJob:
		return o.replay(of)
	case *client.VerifyJob:
		return o.verify(of)
	case *client.DeadLetterScanJob:
		return o.scanLetters(of)
	case *client.DeadLetterReplayJob:
		return o.replayLetters(of)
	case *client.DeadLetterPurgeJob:
		return o.purgeLetters(ctx, of)
	case *client.ReindexJob:
		return o.reindex(of)
	case *client.RegionSplitJob:
		return o.splitRegion(of)
	case *client.RegionMoveJob:
		return o.moveRegion(of)
	case *client.SeekJob:
		return o.seek(of)
	case *client.ExplainJob:
		return o.explain(of)
	}
	return nil, fmt.Errorf("BUG: no job for %T", of)
}

// Jobs implements serve.Operations.
func (o *Operations) Jobs(ctx context.Context, behind string, most int) (client.Jobs, error) {
	list, err := o.jobs.List(ctx, behind, most)
	out := client.Jobs{Jobs: append([]client.Job{}, list...)}
	if len(list) == most {
		out.Next = list[most-1].ID
	}
	return out, err
}

// Job implements serve.Operations.
func (o *Operations) Job(ctx context.Context, id string, whole bool) (client.Job, error) {
	return o.jobs.Get(ctx, id, whole)
}

// CancelJob implements serve.Operations.
func (o *Operations) CancelJob(ctx context.Context, id string) (client.Job, error) {
	return o.jobs.Cancel(ctx, id)
}

// options returns the options of a service that a job opens on the stores that are already open.
func (o *Operations) options() service.Options {
	return service.Options{Log: o.log, Stores: o.service}
}

// meant returns the named pipeline, or the only one if name is empty.
func (o *Operations) meant(name string) (*config.Pipeline, error) {
	if name == "" && len(o.cfg().Pipelines) == 1 {
		return o.cfg().Pipelines[0], nil
	}
	if name == "" {
		var names []string
		for _, p := range o.cfg().Pipelines {
			names = append(names, p.Name)
		}
		return nil, misused("pipeline: choose one: %s", strings.Join(names, ", "))
	}
	return o.pipeline(name)
}

// flag matches a command-line flag. Each is a field of a job's body, except for the hyphens.
var flag = regexp.MustCompile(`--[a-z]+(-[a-z]+)*`)

// asFields rewrites an error that names command-line flags to name the fields of a job's body instead.
func asFields(err error) error {
	if err == nil {
		return nil
	}
	text, fix := err.Error(), ""
	f, known := errors.AsType[*fault.Error](err)
	if known {
		fix = f.Fix
	}
	newText, newFix := withoutHyphens(text), withoutHyphens(fix)
	switch {
	case newText == text && newFix == fix:
		return err
	case !known:
		return errors.New(newText)
	}
	return fault.New(f.Kind, errors.New(newText), newFix)
}

func withoutHyphens(text string) string {
	if strings.Contains(text, ".sh ") { // Kafka's own scripts have flags too
		return text
	}
	return flag.ReplaceAllStringFunc(text, func(f string) string { return strings.ReplaceAll(strings.TrimPrefix(f, "--"), "-", "_") })
}
