package jobs

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/account"
	"brine/internal/backoff"
	"brine/internal/fault"
	"brine/internal/term"
	"brine/internal/wording"
	"brine/serve/client"
)

// Options configure where jobs are stored, and their limits.
type Options struct {
	Accounts *account.Store // stores the jobs, and the audit of their ends
	AtOnce   int            // running jobs at a time; default 2
	Waiting  int            // jobs waiting to run; default 8
	Keep     int            // ended jobs that are kept; default 200
	KeepFor  time.Duration  // how long jobs are kept; default 30 days
	Beat     time.Duration  // heartbeat interval of jobs; default 2 s
	Lease    time.Duration  // silence after which a job counts as interrupted; default 15 s
	Now      func() time.Time
	Log      *slog.Logger // required
}

// EnsureDefaults replaces zero fields by their defaults. Open calls it.
func (o *Options) EnsureDefaults() {
	o.AtOnce, o.Waiting, o.Keep = cmp.Or(o.AtOnce, 2), cmp.Or(o.Waiting, 8), cmp.Or(o.Keep, 200)
	o.KeepFor = cmp.Or(o.KeepFor, 30*24*time.Hour)
	o.Beat, o.Lease = cmp.Or(o.Beat, 2*time.Second), cmp.Or(o.Lease, 15*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
}

// Validate reports all faults at once. It expects EnsureDefaults to have run.
func (o *Options) Validate() error {
	var errs []error
	if o.Accounts == nil {
		errs = append(errs, errors.New("jobs: Options.Accounts is missing: it records who started what"))
	}
	if o.AtOnce < 1 || o.Waiting < 0 || o.Keep < 0 {
		errs = append(errs, fmt.Errorf("jobs: Options.AtOnce, Waiting and Keep are %d, %d and %d: they must be at least 1, 0 and 0", o.AtOnce,
			o.Waiting,
			o.Keep))
	}
	if o.Beat <= 0 || o.Lease <= 2*o.Beat {
		errs = append(errs, fmt.Errorf("jobs: Options.Lease is %v: it must be more than twice Options.Beat, %v", o.Lease, o.Beat))
	}
	return errors.Join(errs...)
}

// Jobs are the jobs of this process, and those of others that are in the database. They are safe for concurrent use.
type Jobs struct {
	opts  Options
	store *store
	owner string // identifies this process
	base  context.Context
	stop  context.CancelCauseFunc
	work  sync.WaitGroup
	beats sync.WaitGroup

	mu      sync.Mutex
	own     map[string]*job // of this process, until their end is in the database
	waiting []*job          // the waiting ones, in order
	working int             // the number of running ones
	closed  bool
}

// Start is a request to start a job.
type Start struct {
	Kind  string
	Asked []byte // the request as JSON, as it may be shown
	Exact []byte // the full request, which identifies a repeated one; nil: Asked
	Key   string // idempotency key; empty: none
	By    account.Entry
	Work  Work
}

// job is a job of this process.
type job struct {
	id, kind, owner, key, print string
	asked                       []byte
	by                          account.Entry // who started it
	created                     time.Time
	out                         Output
	cancel                      context.CancelCauseFunc
	turn                        chan struct{} // closed when it may run

	mu      sync.Mutex
	state   string
	started time.Time
}

// Causes that end a job before it is done.
var (
	errCanceled = errors.New("it was canceled")
	errClosed   = errors.New("brine was stopped")
)

// Errors that Start returns instead of a job.
var (
	ErrFull      = errors.New("too many jobs are running or waiting")
	ErrKeyReused = errors.New("the key was already used for another job")
)

// Open migrates the tables of jobs. The caller closes the Jobs before the accounts.
func Open(ctx context.Context, opts Options) (*Jobs, error) {
	opts.EnsureDefaults()
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	s, err := openStore(ctx, opts.Accounts)
	if err != nil {
		return nil, fmt.Errorf("accounts.connect: %w", err)
	}
	j := &Jobs{opts: opts, store: s, owner: strings.ToLower(rand.Text()), own: map[string]*job{}}
	j.base, j.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	j.beats.Go(j.beat)
	return j, nil
}

// Close interrupts the jobs of this process, and returns when none is running any more.
func (j *Jobs) Close() {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	j.stop(errClosed)
	j.work.Wait()
	j.beats.Wait()
}

// Start starts a job, or returns the one that was started with the same key; again reports the latter.
func (j *Jobs) Start(ctx context.Context, s Start) (_ client.Job, again bool, err error) {
	now := j.opts.Now()
	sum := sha256.Sum256(append([]byte(s.Kind+"\n"), cmp.Or(string(s.Exact), string(s.Asked))...))
	one := &job{id: fmt.Sprintf("%011x-%s", now.UnixMilli(), strings.ToLower(rand.Text()[:12])), kind: s.Kind, owner: j.owner, key: s.Key,
		print: hex.EncodeToString(sum[:]), asked: s.Asked, by: s.By, created: now, state: client.JobQueued, turn: make(chan struct{})}
	if s.Key != "" {
		if out, found, err := j.byKey(ctx, one); found || err != nil {
			return out, true, err
		}
	}
	base, cancel := context.WithCancelCause(j.base)
	one.cancel = cancel
	j.mu.Lock()
	if j.closed || len(j.own) >= j.opts.AtOnce+j.opts.Waiting {
		j.mu.Unlock()
		cancel(nil)
		return client.Job{}, false, ErrFull
	}
	j.own[one.id] = one
	j.waiting = append(j.waiting, one)
	j.admitLocked()
	j.work.Add(1)
	j.mu.Unlock()
	if err := j.insert(ctx, one); err != nil {
		j.forget(one)
		j.work.Done()
		if s.Key != "" { // the same request may have arrived at the same time
			if out, found, reused := j.byKey(ctx, one); found {
				return out, reused == nil, reused
			}
		}
		return client.Job{}, false, err
	}
	go func() {
		defer j.work.Done()
		defer j.forget(one)
		j.run(base, one, s.Work)
	}()
	return one.shown(true), false, nil
}

func (j *Jobs) insert(ctx context.Context, one *job) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return j.store.insert(ctx, one)
}

func (j *Jobs) forget(one *job) {
	one.cancel(nil)
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.own, one.id)
	if i := slices.Index(j.waiting, one); i >= 0 {
		j.waiting = slices.Delete(j.waiting, i, i+1)
	} else {
		j.working--
	}
	j.admitLocked()
}

// admitLocked lets waiting jobs run, in order, while there is room.
func (j *Jobs) admitLocked() {
	for len(j.waiting) > 0 && j.working < j.opts.AtOnce {
		close(j.waiting[0].turn)
		j.waiting, j.working = j.waiting[1:], j.working+1
	}
}

// byKey finds the job that an account started with a key.
func (j *Jobs) byKey(ctx context.Context, one *job) (_ client.Job, found bool, err error) {
	k, err := j.store.get(ctx, "account = ? AND idem_key = ?", one.by.Account, one.key)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return client.Job{}, false, nil
	case err != nil:
		return client.Job{}, false, err
	case k.print != one.print:
		return client.Job{}, true, ErrKeyReused
	}
	return j.current(&k, true), true, nil
}

// run waits for the job's turn and runs it.
func (j *Jobs) run(ctx context.Context, one *job, work Work) {
	select {
	case <-one.turn:
	case <-ctx.Done():
	}
	err := context.Cause(ctx)
	if err == nil {
		one.set(client.JobRunning, j.opts.Now())
		j.opts.Log.Info("job started", "job", one.id, "kind", one.kind, "by", one.by.Account)
		err = j.do(ctx, one, work)
	}
	one.out.Progress(nil) // the function may use what no longer exists
	j.end(ctx, one, err)
}

// do calls work, and turns a panic into the job's error.
func (j *Jobs) do(ctx context.Context, one *job, work Work) (err error) {
	defer func() {
		if p := recover(); p != nil {
			j.opts.Log.Error("BUG: job panicked", "job", one.id, "kind", one.kind, "panic", p, "stack", string(debug.Stack()))
			err = errors.New("internal error in brine; see its log")
		}
	}()
	return work(ctx, &one.out)
}

// end records the end of a job, in the audit first. It retries until the database accepts it or Close is called.
func (j *Jobs) end(ctx context.Context, one *job, err error) {
	state, detail, fix := ending(ctx, err)
	j.opts.Log.Info("job ended", "job", one.id, "kind", one.kind, "state", state, "detail", detail)
	shown := one.shown(true)
	shown.State, shown.Detail, shown.Fix = state, cmp.Or(detail, shown.Detail), fix
	ended := j.opts.Now()
	entry := one.by
	entry.Action, entry.Object, entry.Reason = "jobs.end", strings.TrimSpace(one.kind+" "+one.id+" "+state+" "+shown.Detail), ""
	for audited := false; ; {
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		if !audited {
			err = j.opts.Accounts.Audit(within, entry)
			audited = err == nil
		}
		if audited {
			err = j.store.end(within, &shown, one.startedAt(), ended.UnixMilli())
		}
		if err == nil {
			err = j.store.prune(within, j.opts.Keep, ended.Add(-j.opts.KeepFor).UnixMilli())
			if err != nil {
				j.opts.Log.Warn("could not delete old jobs; will retry when the next job ends", "error", err)
			}
			cancel()
			return
		}
		cancel()
		j.opts.Log.Warn("could not record the end of a job in the accounts database", "job", one.id, "state", state, "error", err)
		if backoff.Wait(j.base, j.opts.Beat) != nil {
			return // it will be shown as interrupted, because its heartbeat stops
		}
	}
}

// ending returns the final state of a job, and what its error says.
func ending(ctx context.Context, err error) (state, detail, fix string) {
	if err == nil {
		return client.JobDone, "", ""
	}
	state = client.JobFailed
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errCanceled):
		state = client.JobCanceled
	case errors.Is(cause, errClosed):
		state = client.JobInterrupted
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		fix = f.Fix
	}
	return state, term.Clip(wording.Plain(err.Error()), mostDetail), fix
}

// beat sends the heartbeats of this process's jobs, and cancels those whose cancellation another process requested, until Close is called.
func (j *Jobs) beat() {
	for backoff.Wait(j.base, j.opts.Beat) == nil {
		j.mu.Lock()
		own := slices.Collect(maps.Values(j.own))
		j.mu.Unlock()
		if len(own) == 0 {
			continue
		}
		if err := j.beatAll(own); err != nil && j.base.Err() == nil {
			j.opts.Log.Warn("could not record in the accounts database that jobs are running", "error", err)
		}
	}
}

func (j *Jobs) beatAll(own []*job) error {
	ctx, cancel := context.WithTimeout(j.base, patience)
	defer cancel()
	for _, one := range own {
		shown := one.shown(false)
		if err := j.store.beat(ctx, &shown, one.startedAt(), j.opts.Now().UnixMilli()); err != nil {
			return err
		}
	}
	canceled, err := j.store.canceled(ctx, j.owner)
	for _, id := range canceled {
		if one := j.ours(id); one != nil {
			one.cancelNow()
		}
	}
	return err
}

func (j *Jobs) ours(id string) *job {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.own[id]
}

// List returns jobs without their results, newest first, starting after the job with the given id (empty: from the newest).
func (j *Jobs) List(ctx context.Context, behind string, most int) ([]client.Job, error) {
	list, err := j.store.list(ctx, behind, most)
	out := make([]client.Job, len(list))
	for i := range list {
		out[i] = j.current(&list[i], false)
	}
	return out, err
}

// Get returns a job, with its results if whole is set.
func (j *Jobs) Get(ctx context.Context, id string, whole bool) (client.Job, error) {
	if one := j.ours(id); one != nil {
		return one.shown(whole), nil
	}
	k, err := j.kept(ctx, id)
	if err != nil {
		return client.Job{}, err
	}
	return j.current(k, whole), nil
}

// kept returns a job from the database.
func (j *Jobs) kept(ctx context.Context, id string) (*kept, error) {
	k, err := j.store.get(ctx, "id = ?", id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fault.New(fault.Missing, errors.New("no such job, or it ended so long ago that it was deleted"), "")
	}
	return &k, err
}

// Cancel requests a job's end, and returns its current state. What the job has done by then is kept.
func (j *Jobs) Cancel(ctx context.Context, id string) (client.Job, error) {
	if one := j.ours(id); one != nil {
		one.cancelNow()
		return one.shown(true), nil
	}
	k, err := j.kept(ctx, id)
	if err != nil {
		return client.Job{}, err
	}
	now := j.current(k, true)
	if k.HasEnded() { // a job that is only silent may be running on a machine with a different clock
		return now, fault.New(fault.Failed, fmt.Errorf("the job has ended: it is %s", now.State), "")
	}
	now.State = client.JobCanceling
	return now, j.store.cancel(ctx, id)
}

// current returns the current state of a job from the database.
func (j *Jobs) current(k *kept, whole bool) client.Job {
	if one := j.ours(k.ID); one != nil {
		return one.shown(whole)
	}
	out := k.Job
	if !whole {
		out.Results = nil
	}
	switch {
	case out.HasEnded():
	case j.opts.Now().UnixMilli()-k.seen > j.opts.Lease.Milliseconds():
		out.State, out.Ended = client.JobInterrupted, timeText(k.seen)
		out.Detail = "the brine that ran it stopped reporting; what it had done by then stays"
	case k.cancel:
		out.State = client.JobCanceling
	}
	return out
}

// cancelNow cancels the job.
func (one *job) cancelNow() {
	one.cancel(errCanceled)
	one.mu.Lock()
	defer one.mu.Unlock()
	one.state = client.JobCanceling
}

func (one *job) set(state string, now time.Time) {
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.state == client.JobQueued {
		one.state = state
	}
	one.started = now
}

func (one *job) startedAt() int64 {
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.started.IsZero() {
		return 0
	}
	return one.started.UnixMilli()
}

// shown returns the current state of the job.
func (one *job) shown(whole bool) client.Job {
	progress, started := one.out.now(), one.startedAt()
	one.mu.Lock()
	out := client.Job{ID: one.id, Kind: one.kind, State: one.state, Account: one.by.Account, Asked: one.asked,
		Created: timeText(one.created.UnixMilli()), Started: timeText(started), Progress: progress}
	one.mu.Unlock()
	one.out.mu.Lock()
	defer one.out.mu.Unlock()
	out.Detail = one.out.detail
	if out.Cut = one.out.cut; whole {
		out.Results = append([]client.JobResult{}, one.out.results...)
	}
	return out
}
