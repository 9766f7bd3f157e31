package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"brine/account"
	"brine/internal/fault"
	"brine/serve/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a database of accounts with the jobs of several processes.
type world struct {
	*testing.T
	accounts *account.Store
}

// inBubble runs a test in a synctest bubble with its own database.
func inBubble(t *testing.T, test func(*world)) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "accounts")
	synctest.Test(t, func(t *testing.T) {
		accounts, err := account.Open(t.Context(), account.Options{Connect: "embedded:" + dir})
		if err != nil {
			t.Fatal(err)
		}
		defer accounts.Close()
		test(&world{t, accounts})
	})
}

func (w *world) open(change func(*Options)) *Jobs {
	w.Helper()
	o := Options{Accounts: w.accounts, Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&o)
	}
	j, err := Open(w.Context(), o)
	if err != nil {
		w.Fatal(err)
	}
	return j
}

func (w *world) start(j *Jobs, key string, work Work) client.Job {
	w.Helper()
	time.Sleep(time.Millisecond) // so that ids sort in the order of the starts
	job, _, err := j.Start(w.Context(), Start{Kind: "test", Asked: []byte(`{"n":1}`), Key: key, By: account.Entry{Account: "zoe", Role: account.Operator}, Work: work})
	if err != nil {
		w.Fatal(err)
	}
	return job
}

func (w *world) get(j *Jobs, id string) client.Job {
	w.Helper()
	job, err := j.Get(w.Context(), id, true)
	if err != nil {
		w.Fatal(err)
	}
	return job
}

// until waits for a state.
func (w *world) until(j *Jobs, id, state string) client.Job {
	w.Helper()
	for range 1000 {
		if job := w.get(j, id); job.State == state {
			return job
		}
		time.Sleep(10 * time.Millisecond) // the bubble's time
	}
	w.Fatalf("the job is never %s: %+v", state, w.get(j, id))
	return client.Job{}
}

func (w *world) audit() string {
	w.Helper()
	list, err := w.accounts.Entries(w.Context(), 0, "", 100)
	if err != nil {
		w.Fatal(err)
	}
	var out strings.Builder
	for _, e := range list {
		fmt.Fprintf(&out, "%s %s %s\n", e.Account, e.Action, e.Object)
	}
	return out.String()
}

func blocked(ctx context.Context, _ *Output) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestAJobFromStartToEnd checks that a job shows its progress, and that its results are kept for later callers in this and other processes.
func TestAJobFromStartToEnd(t *testing.T) {
	inBubble(t, func(w *world) {
		j := w.open(nil)
		goOn := make(chan bool)
		job := w.start(j, "", func(_ context.Context, out *Output) error {
			out.Result("plan", map[string]int{"left": 7})
			var done atomic.Int64
			done.Store(3)
			out.Progress(func() []client.JobProgress {
				return []client.JobProgress{{Of: "p.rows", Done: done.Load(), Total: 7, ETA: -1}}
			})
			<-goOn
			done.Store(7)
			out.Result("result", map[string]int{"replayed": 7})
			out.Found("seven things")
			return nil
		})
		if job.State != client.JobQueued && job.State != client.JobRunning || job.Account != "zoe" || string(job.Asked) != `{"n":1}` || job.Kind != "test" {
			w.Errorf("%+v", job)
		}
		w.until(j, job.ID, client.JobRunning)
		synctest.Wait()
		if running := w.get(j, job.ID); len(running.Progress) != 1 || running.Progress[0].Done != 3 || running.Started == "" || running.Ended != "" {
			w.Errorf("%+v", running)
		}
		if w.audit() != "" {
			w.Errorf("before its end: %s", w.audit())
		}
		goOn <- true
		w.until(j, job.ID, client.JobDone)
		j.Close()
		later := w.open(nil)
		defer later.Close()
		ended := w.get(later, job.ID)
		if ended.Detail != "seven things" || ended.Progress[0].Done != 7 || len(ended.Results) != 2 || ended.Results[0].What != "plan" ||
			string(ended.Results[1].Value) != `{"replayed":7}` || ended.Ended == "" {
			w.Errorf("%+v", ended)
		}
		if got, want := w.audit(), "zoe jobs.end test "+job.ID+" done seven things\n"; got != want {
			w.Errorf("the audit has\n%s", got)
		}
		list, err := later.List(w.Context(), "", 10)
		if err != nil || len(list) != 1 || list[0].ID != job.ID || list[0].Results != nil {
			w.Errorf("%+v, %v", list, err)
		}
		if _, err := later.Get(w.Context(), "none", true); kindOf(err) != fault.Missing {
			w.Errorf("of no job: %v", err)
		}
	})
}

func kindOf(err error) fault.Kind {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Kind
	}
	return -1
}

// TestHowJobsEnd checks jobs that end with an error and its fix, with a panic, and canceled midway with what was done.
func TestHowJobsEnd(t *testing.T) {
	inBubble(t, func(w *world) {
		j := w.open(nil)
		defer j.Close()
		failed := w.start(j, "", func(context.Context, *Output) error {
			return fault.New(fault.Missing, errors.New("there is no such topic"), "make it")
		})
		if got := w.until(j, failed.ID, client.JobFailed); got.Detail != "there is no such topic" || got.Fix != "make it" {
			w.Errorf("%+v", got)
		}
		odd := w.start(j, "", func(context.Context, *Output) error { panic("odd") })
		if got := w.until(j, odd.ID, client.JobFailed); !strings.Contains(got.Detail, "internal error in brine") {
			w.Errorf("%+v", got)
		}
		canceled := w.start(j, "", func(ctx context.Context, out *Output) error {
			out.Result("result", map[string]int{"replayed": 3})
			<-ctx.Done()
			return errors.New("p.rows: stopped with 4 offsets left")
		})
		w.until(j, canceled.ID, client.JobRunning)
		if got, err := j.Cancel(w.Context(), canceled.ID); err != nil || got.State != client.JobCanceling {
			w.Errorf("%+v, %v", got, err)
		}
		if got := w.until(j, canceled.ID, client.JobCanceled); got.Detail != "p.rows: stopped with 4 offsets left" || len(got.Results) != 1 {
			w.Errorf("%+v", got)
		}
		if _, err := j.Cancel(w.Context(), canceled.ID); kindOf(err) != fault.Failed || !strings.Contains(err.Error(), "it is canceled") {
			w.Errorf("canceled once more: %v", err)
		}
		if !strings.Contains(w.audit(), canceled.ID+" canceled p.rows: stopped with 4 offsets left") {
			w.Error(w.audit())
		}
	})
}

// TestAStoppedBrineInterruptsItsJobs checks that running and waiting jobs are interrupted at once, and that nothing keeps running.
func TestAStoppedBrineInterruptsItsJobs(t *testing.T) {
	inBubble(t, func(w *world) {
		j := w.open(func(o *Options) { o.AtOnce = 1 })
		running, waiting := w.start(j, "", blocked), w.start(j, "", blocked)
		w.until(j, running.ID, client.JobRunning)
		j.Close()
		if _, _, err := j.Start(w.Context(), Start{Kind: "test", Work: blocked}); !errors.Is(err, ErrFull) {
			w.Errorf("started after the end: %v", err)
		}
		later := w.open(nil)
		defer later.Close()
		for _, id := range []string{running.ID, waiting.ID} {
			if got := w.get(later, id); got.State != client.JobInterrupted || !strings.Contains(got.Detail, "canceled") && !strings.Contains(got.Detail, "stopped") {
				w.Errorf("%+v", got)
			}
		}
	})
}

// TestAKilledBrineHasInterruptedItsJobs checks that a job whose process is silent is never shown as done, nor run again.
func TestAKilledBrineHasInterruptedItsJobs(t *testing.T) {
	inBubble(t, func(w *world) {
		killed := w.open(func(o *Options) { o.Beat, o.Lease = time.Hour, 3*time.Hour }) // it sends no heartbeat, as if killed
		defer killed.Close()
		job := w.start(killed, "", blocked)
		w.until(killed, job.ID, client.JobRunning)
		later := w.open(nil)
		defer later.Close()
		if got := w.get(later, job.ID); got.HasEnded() {
			w.Errorf("at once: %+v", got)
		}
		time.Sleep(16 * time.Second)
		if got := w.get(later, job.ID); got.State != client.JobInterrupted || got.Ended == "" || got.Detail == "" {
			w.Errorf("after the lease: %+v", got)
		}
		if _, err := later.Cancel(w.Context(), job.ID); err != nil { // its machine's clock may be behind
			w.Errorf("canceled: %v", err)
		}
	})
}

// TestAnotherProcessSeesAndCancels checks that a process sees the progress of another's job, and can cancel it.
func TestAnotherProcessSeesAndCancels(t *testing.T) {
	inBubble(t, func(w *world) {
		j, other := w.open(nil), w.open(nil)
		defer j.Close()
		defer other.Close()
		job := w.start(j, "", func(ctx context.Context, out *Output) error {
			out.Progress(func() []client.JobProgress { return []client.JobProgress{{Of: "p.rows", Done: 5, Total: 9}} })
			return blocked(ctx, out)
		})
		w.until(j, job.ID, client.JobRunning)
		time.Sleep(time.Minute) // longer than a lease: heartbeats keep it alive
		if got := w.get(other, job.ID); got.State != client.JobRunning || len(got.Progress) != 1 || got.Progress[0].Done != 5 {
			w.Errorf("%+v", got)
		}
		if got, err := other.Cancel(w.Context(), job.ID); err != nil || got.State != client.JobCanceling {
			w.Errorf("%+v, %v", got, err)
		}
		w.until(other, job.ID, client.JobCanceled)
	})
}

// TestTheSameKeyStartsOneJob checks that a key starts one job, however many requests send it at the same time.
func TestTheSameKeyStartsOneJob(t *testing.T) {
	inBubble(t, func(w *world) {
		j := w.open(nil)
		defer j.Close()
		var all sync.WaitGroup
		ids := make([]string, 5)
		for i := range ids {
			all.Go(func() { ids[i] = w.start(j, "k1", blocked).ID })
		}
		all.Wait()
		for _, id := range ids {
			if id != ids[0] || id == "" {
				w.Errorf("several jobs: %v", ids)
			}
		}
		if _, again, err := j.Start(w.Context(), Start{Kind: "test", Asked: []byte(`{"n":1}`), Key: "k1", By: account.Entry{Account: "zoe"}, Work: blocked}); !again || err != nil {
			w.Errorf("%v, %v", again, err)
		}
		if _, _, err := j.Start(w.Context(), Start{Kind: "test", Asked: []byte(`{"n":2}`), Key: "k1", By: account.Entry{Account: "zoe"}, Work: blocked}); !errors.Is(err, ErrKeyReused) {
			w.Errorf("another body: %v", err)
		}
		other, again, err := j.Start(w.Context(), Start{Kind: "test", Asked: []byte(`{"n":2}`), Key: "k1", By: account.Entry{Account: "max"}, Work: blocked})
		if err != nil || again || other.ID == ids[0] {
			w.Errorf("another account: %+v, %v, %v", other, again, err)
		}
	})
}

// TestJobsAreBounded checks the limits on running and waiting jobs, on a job's output, and on stored jobs.
func TestJobsAreBounded(t *testing.T) {
	inBubble(t, func(w *world) {
		j := w.open(func(o *Options) { o.AtOnce, o.Waiting, o.Keep = 2, 1, 3 })
		defer j.Close()
		var ids []string
		for range 3 {
			ids = append(ids, w.start(j, "", blocked).ID)
		}
		if _, _, err := j.Start(w.Context(), Start{Kind: "test", Work: blocked}); !errors.Is(err, ErrFull) {
			w.Errorf("a fourth: %v", err)
		}
		for _, id := range ids {
			if _, err := j.Cancel(w.Context(), id); err != nil {
				w.Fatal(err)
			}
			w.until(j, id, client.JobCanceled)
		}
		synctest.Wait()
		much := w.start(j, "", func(_ context.Context, out *Output) error {
			for i := range 5000 {
				out.Result(Finding, strings.Repeat("x", i%2*1000))
			}
			out.Result("report", "all of them")
			return nil
		})
		got := w.until(j, much.ID, client.JobDone)
		size := 0
		for _, r := range got.Results {
			size += len(r.Value)
		}
		if last := got.Results[len(got.Results)-1]; last.What != "report" || size > mostBytes || got.Cut+len(got.Results) != 5001 {
			w.Errorf("%d results of %d bytes, %d cut; the last is %s", len(got.Results), size, got.Cut, last.What)
		}
		synctest.Wait()
		if list, err := j.List(w.Context(), "", 10); err != nil || len(list) != 3 || list[0].ID != much.ID {
			w.Errorf("%d are kept, %v", len(list), err)
		}
		if page, err := j.List(w.Context(), much.ID, 1); err != nil || len(page) != 1 || page[0].ID != ids[2] {
			w.Errorf("behind the newest: %+v, %v", page, err)
		}
	})
}

// TestNoEndWithoutAudit checks that no answer shows a job as ended while the audit does not accept its end.
func TestNoEndWithoutAudit(t *testing.T) {
	inBubble(t, func(w *world) {
		if _, err := w.accounts.DB().ExecContext(w.Context(), "CREATE TRIGGER away BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'away'); END"); err != nil {
			w.Fatal(err)
		}
		j := w.open(nil)
		defer j.Close()
		job := w.start(j, "", func(context.Context, *Output) error { return nil })
		time.Sleep(time.Minute)
		if got := w.get(j, job.ID); got.HasEnded() {
			w.Errorf("%+v", got)
		}
		if _, err := w.accounts.DB().ExecContext(w.Context(), "DROP TRIGGER away"); err != nil {
			w.Fatal(err)
		}
		w.until(j, job.ID, client.JobDone)
	})
}
