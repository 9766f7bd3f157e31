package operations

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"brine/account"
	"brine/hbase"
	"brine/internal/sample"
	"brine/serve"
	"brine/serve/client"
	"brine/service"
)

// job starts a job and waits for its end.
func (b *bench) job(kind string, of any) client.Job {
	b.t.Helper()
	job, err := b.StartJob(b.t.Context(), kind, of, "")
	if err != nil {
		b.t.Fatalf("%s %+v: %v", kind, of, err)
	}
	return b.ended(job.ID)
}

// ended waits for a job's end through its events.
func (b *bench) ended(id string) client.Job {
	b.t.Helper()
	if err := b.WatchJob(b.t.Context(), id, func(client.Job) error { return nil }); err != nil {
		b.t.Fatal(err)
	}
	job, err := b.Job(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return job
}

// results returns the results of one kind.
func results[T any](t *testing.T, job client.Job, what string) (out []T) {
	t.Helper()
	for _, r := range job.Results {
		if r.What == what {
			var v T
			if err := json.Unmarshal(r.Value, &v); err != nil {
				t.Fatalf("%s: %v", r.Value, err)
			}
			out = append(out, v)
		}
	}
	return out
}

// TestJobs runs each kind of job beside running pipelines, on the stores that these have open.
func TestJobs(t *testing.T) {
	t.Parallel()
	b := newBench(t, service.ToRun, nil)
	n := b.publish("courier.scans", "waybill", first(1000, sample.Scans()))
	b.publish("shop.orders", "order", sample.Orders(200))
	b.run()
	b.untilEnd()
	b.checkReplays(n)
	b.checkVerify(n)
	b.checkLetterJobs()
	b.checkReindex()
	b.checkJobRefusals()
	b.runCurls()
	list, err := b.Jobs(t.Context(), "")
	if err != nil || len(list.Jobs) < 10 || list.Jobs[0].Results != nil {
		t.Errorf("%+v, %v", list, err)
	}
}

// checkReplays plans, compares, replays, and cancels a replay midway.
func (b *bench) checkReplays(n int) {
	t := b.t
	t.Helper()
	plan := b.job(serve.ReplayJob, client.ReplayJob{Pipeline: "scans", From: "earliest", DryRun: true})
	if got := results[service.ReplayPlan](t, plan, "plan"); plan.State != client.JobDone || len(got) != 1 || got[0].Left != int64(n) || got[0].Pipeline != "scans.rows" || len(plan.Results) != 1 {
		t.Errorf("%+v", plan)
	}
	type diff struct {
		Records, Rows, New, Changed int
	}
	compared := b.job(serve.ReplayJob, client.ReplayJob{Pipeline: "scans", From: "earliest", Diff: 10_000})
	if got := results[diff](t, compared, "diff"); len(got) != 1 || got[0].Records != n || got[0].New+got[0].Changed != 0 {
		t.Errorf("%+v", compared)
	}
	done := b.job(serve.ReplayJob, client.ReplayJob{Pipeline: "scans", From: "earliest", Name: "whole"})
	if got := results[service.ReplayResult](t, done, "result"); done.State != client.JobDone || len(got) != 1 || !got[0].Finished || got[0].Replayed != int64(n) ||
		len(done.Progress) != 1 || done.Progress[0].Done != int64(n) || done.Progress[0].Total != int64(n) {
		t.Errorf("%+v", done)
	}
	again := b.job(serve.ReplayJob, client.ReplayJob{Pipeline: "scans", From: "earliest", Name: "whole"})
	if again.State != client.JobDone || again.Detail != "nothing is left to replay" {
		t.Errorf("%+v", again)
	}
	slow, err := b.StartJob(t.Context(), serve.ReplayJob, client.ReplayJob{Pipeline: "scans", From: "earliest", Name: "slow", Rate: 1}, "")
	if err != nil {
		t.Fatal(err)
	}
	canceled := false
	if err := b.WatchJob(t.Context(), slow.ID, func(job client.Job) error {
		if job.State == client.JobRunning && len(job.Progress) == 1 && !canceled {
			canceled = true
			_, err := b.CancelJob(t.Context(), job.ID)
			return err
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	got := b.ended(slow.ID)
	if result := results[service.ReplayResult](t, got, "result"); got.State != client.JobCanceled || !strings.Contains(got.Detail, "offsets left") || len(result) != 1 || result[0].Finished {
		t.Errorf("%+v", got)
	}
}

// checkVerify verifies whole tables, a sample, and a range.
func (b *bench) checkVerify(n int) {
	t := b.t
	t.Helper()
	type report struct {
		Result   string
		Problems int64
		Sources  []struct{ Records int64 }
	}
	for _, of := range []client.VerifyJob{{Full: true}, {Sample: "50%"}, {HalvesOf: client.HalvesOf{Pipeline: "scans"}, From: "0:0", To: "0:10"}} {
		job := b.job(serve.VerifyJob, of)
		got := results[report](t, job, "report")
		if job.State != client.JobDone || len(got) != 1 || got[0].Result != "equal" || got[0].Problems != 0 || !strings.HasPrefix(job.Detail, "nothing is missing") {
			t.Errorf("%+v: %+v", of, job)
		}
		if of.Full && (len(got[0].Sources) != 3 || got[0].Sources[0].Records != int64(n)) {
			t.Errorf("%+v", got)
		}
	}
	incomplete := b.job(serve.VerifyJob, client.VerifyJob{HalvesOf: client.HalvesOf{Pipeline: "scans"}, Partitions: []int{77}})
	if incomplete.State != client.JobFailed || !strings.Contains(incomplete.Detail, "77") || incomplete.Fix != "fix partitions, or the partitions of from and to" {
		t.Errorf("%+v", incomplete)
	}
	for _, of := range []client.VerifyJob{{MostExtra: 1}, {Full: true, DeleteExtra: true, MostExtra: -1}} {
		if _, err := b.as(fmt.Sprint("careful", of.MostExtra), account.Admin).StartJob(t.Context(), serve.VerifyJob, of, ""); status(err) != http.StatusBadRequest {
			t.Errorf("%+v: %v", of, err)
		}
	}
	batch := hbase.NewBatch("logistics:scans")
	for _, row := range []string{"nobody's", "nobody's either"} {
		batch.Mutate([]byte(row))
		batch.Put([]byte("e"), []byte("s"), 5, []byte("?"))
	}
	if failures, err := b.service.Client().Submit(t.Context(), batch).Wait(t.Context()); err != nil || len(failures) > 0 {
		t.Fatal(err, failures)
	}
	operator := b.Client
	b.Client = b.as("deleter", account.Admin)
	defer func() { b.Client = operator }()
	of := client.VerifyJob{HalvesOf: client.HalvesOf{Pipeline: "scans"}, Full: true, DeleteExtra: true}
	if _, err := b.StartJob(t.Context(), serve.VerifyJob, of, ""); status(err) != http.StatusPreconditionRequired {
		t.Errorf("unseen: %v", err)
	}
	of.MostExtra = 1
	more := b.job(serve.VerifyJob, of)
	if more.State != client.JobFailed || !strings.Contains(more.Detail, "deleted nothing: 2 rows and documents are extra, more than the 1 of most_extra") || more.Fix == "" ||
		len(results[any](t, more, "deleted_extra")) != 0 {
		t.Errorf("%+v", more)
	}
	of.MostExtra = 2
	if got := results[report](t, b.job(serve.VerifyJob, of), "report"); len(got) != 2 || got[0].Problems != 2 || got[1].Problems != 0 {
		t.Errorf("%+v", got)
	}
}

// checkLetterJobs previews dead letters with a fix, replays them with it, and purges them.
func (b *bench) checkLetterJobs() {
	t := b.t
	t.Helper()
	const bad = 4
	b.publish("courier.scans", "waybill", func(yield func([]byte) bool) {
		for i := range bad {
			if !yield(fmt.Appendf(nil, `{"waybill": "BAD%d", "action": "DEPART", "station": "EWR", "at": "soon"}`, i)) {
				return
			}
		}
	})
	b.untilEnd()
	of := client.DeadLetterReplayJob{DeadLettersOf: client.DeadLettersOf{Pipeline: "scans"}, DryRun: true}
	type line struct {
		Pipeline                   string
		Letters, Writable, Written int
		Rejected                   map[string]int
		Changes                    []any
		Record                     string
	}
	dry := b.job(serve.DeadLetterReplayJob, of)
	if got := results[line](t, dry, "preview"); len(got) != 1 || got[0].Letters != bad || got[0].Writable != 0 || len(got[0].Rejected) != 1 {
		t.Errorf("%+v", dry)
	}
	failed := b.job(serve.DeadLetterReplayJob, client.DeadLetterReplayJob{DeadLettersOf: of.DeadLettersOf})
	if failed.State != client.JobFailed || !strings.Contains(failed.Detail, "4 records still cannot be written") || len(results[line](t, failed, "result")) != 1 {
		t.Errorf("%+v", failed)
	}
	of.Let, of.AlterIdentity, of.Preview = []string{`at = "1700000000000"`}, true, 2
	shown := b.job(serve.DeadLetterReplayJob, of)
	if effects, previews := results[line](t, shown, "effect"), results[line](t, shown, "preview"); len(effects) != 2 || len(effects[0].Changes) == 0 || len(previews) != 1 || previews[0].Writable != bad {
		t.Errorf("%+v", shown)
	}
	of.DryRun, of.Preview = false, 0
	fixed := b.job(serve.DeadLetterReplayJob, of)
	if got := results[line](t, fixed, "result"); fixed.State != client.JobDone || len(got) != 1 || got[0].Written != bad || len(got[0].Rejected) != 0 {
		t.Errorf("%+v", fixed)
	}
	if none := b.job(serve.DeadLetterReplayJob, of); none.State != client.JobDone || none.Detail != "there are no such dead letters" {
		t.Errorf("%+v", none)
	}
	scan := b.job(serve.DeadLetterScanJob, client.DeadLetterScanJob{DeadLettersOf: client.DeadLettersOf{Pipeline: "scans", All: true}, List: 3})
	if sums, list := results[line](t, scan, "sum"), results[client.DeadLetter](t, scan, "dead_letter"); scan.Detail != "4 dead letters" || len(sums) != 1 || sums[0].Letters != bad ||
		len(list) != 3 || list[0].Reason != "wrong_type" || list[0].Replayed == "" {
		t.Errorf("%+v", scan)
	}
	type topic struct {
		Topic          string
		Letters, Fixed int
		Deleted        bool
	}
	b.publish("courier.scans", "waybill", func(yield func([]byte) bool) {
		yield([]byte(`{"waybill": "BAD0", "action": "DEPART", "station": "EWR", "at": "never"}`))
	})
	b.untilEnd()
	purge := client.DeadLetterPurgeJob{OlderThan: "1ms", DryRun: true}
	planned := b.job(serve.DeadLetterPurgeJob, purge)
	if got := results[topic](t, planned, "topic"); len(got) == 0 || got[0].Letters != 1 || got[0].Fixed != bad || got[0].Deleted {
		t.Errorf("%+v", planned)
	}
	b.publish("courier.scans", "waybill", func(yield func([]byte) bool) {
		yield([]byte(`{"waybill": "BAD0", "action": "DEPART", "station": "EWR", "at": "later"}`))
	})
	b.untilEnd()
	purge.DryRun, purge.Shown = false, planned.ID
	if _, err := b.StartJob(t.Context(), serve.DeadLetterPurgeJob, purge, ""); status(err) != http.StatusForbidden {
		t.Errorf("an operator deletes: %v", err)
	}
	operator := b.Client
	b.Client = b.as("admin", account.Admin)
	purged := b.job(serve.DeadLetterPurgeJob, purge)
	if got := results[topic](t, purged, "topic"); purged.State != client.JobDone || len(got) == 0 || !got[0].Deleted || got[0].Letters != 1 || !strings.HasPrefix(purged.Detail, "deleted ") {
		t.Errorf("what came after the dry run is deleted too: %+v", purged)
	}
	left := b.job(serve.DeadLetterPurgeJob, client.DeadLetterPurgeJob{OlderThan: "1ms", DryRun: true})
	if got := results[topic](t, left, "topic"); len(got) == 0 || got[0].Letters != 1 {
		t.Errorf("what came after the dry run: %+v", left)
	}
	for shown, want := range map[string]int{purged.ID: 400, scan.ID: 400, "none": 404} {
		if _, err := b.StartJob(t.Context(), serve.DeadLetterPurgeJob, client.DeadLetterPurgeJob{OlderThan: "1ms", Shown: shown}, ""); status(err) != want {
			t.Errorf("shown by %s: %v, want %d", shown, err, want)
		}
	}
	if _, err := b.StartJob(t.Context(), serve.DeadLetterPurgeJob, client.DeadLetterPurgeJob{OlderThan: "1ms"}, ""); status(err) != http.StatusPreconditionRequired {
		t.Errorf("unseen: %v", err)
	}
	other := client.DeadLetterPurgeJob{OlderThan: "1ms", KeepOpen: true, Shown: planned.ID}
	if _, err := b.StartJob(t.Context(), serve.DeadLetterPurgeJob, other, ""); status(err) != http.StatusBadRequest {
		t.Errorf("another purge: %v", err)
	}
	b.operations.now = func() time.Time { return time.Now().Add(61 * time.Minute) }
	if _, err := b.StartJob(t.Context(), serve.DeadLetterPurgeJob, purge, ""); status(err) != http.StatusConflict || !strings.Contains(err.Error(), "start a new dry run") {
		t.Errorf("shown an hour ago: %v", err)
	}
	b.operations.now = time.Now
	unseen := b.job(serve.DeadLetterPurgeJob, client.DeadLetterPurgeJob{OlderThan: "1ms", Yes: true})
	if got := results[topic](t, unseen, "topic"); unseen.State != client.JobDone || len(got) == 0 || !got[0].Deleted || got[0].Letters != 1 {
		t.Errorf("whatever there is: %+v", unseen)
	}
	b.Client = operator
}

// checkReindex rebuilds the index of orders while its pipeline runs.
func (b *bench) checkReindex() {
	t := b.t
	t.Helper()
	plan := b.job(serve.ReindexJob, client.ReindexJob{Index: "orders", From: "hbase", DryRun: true})
	if plan.State != client.JobDone || len(plan.Results) != 1 || plan.Results[0].What != "plan" {
		t.Errorf("%+v", plan)
	}
	done := b.job(serve.ReindexJob, client.ReindexJob{Index: "orders", From: "hbase"})
	type result struct {
		Finished bool
		Rows     int64
	}
	if got := results[result](t, done, "result"); done.State != client.JobDone || len(got) != 1 || !got[0].Finished || got[0].Rows == 0 {
		t.Errorf("%+v", done)
	}
}

// checkJobRefusals sends requests that are refused before a job is created.
func (b *bench) checkJobRefusals() {
	t := b.t
	t.Helper()
	of := func(pipeline string) client.DeadLettersOf { return client.DeadLettersOf{Pipeline: pipeline} }
	for _, c := range []struct {
		kind string
		of   any
		want int
		says string
	}{
		{serve.ReplayJob, client.ReplayJob{From: "earliest"}, 400, "pipeline: choose one: scans, orders"},
		{serve.ReplayJob, client.ReplayJob{Pipeline: "none", From: "earliest"}, 404, "no pipeline"},
		{serve.ReplayJob, client.ReplayJob{Pipeline: "scans"}, 400, `from ""`},
		{serve.ReplayJob, client.ReplayJob{Pipeline: "scans", From: "latest"}, 400, "from latest: nothing comes after"},
		{serve.ReplayJob, client.ReplayJob{Pipeline: "scans", From: "earliest", Half: "documents"}, 400, "half documents: pipeline scans writes no documents"},
		{serve.ReplayJob, client.ReplayJob{Pipeline: "scans", From: "earliest", Rate: -1}, 400, "rate: -1"},
		{serve.ReplayJob, client.ReplayJob{Pipeline: "scans", From: "earliest", Keys: []string{`\xq1`}}, 400, "is not an escape"},
		{serve.VerifyJob, client.VerifyJob{Sample: "NaN"}, 400, `sample "NaN"`},
		{serve.VerifyJob, client.VerifyJob{Full: true, From: "2h"}, 400, "full covers everything in the topics; remove from, to and partitions"},
		{serve.DeadLetterReplayJob, client.DeadLetterReplayJob{DeadLettersOf: of(""), Let: []string{"at = 1"}}, 400, "choose one"},
		{serve.DeadLetterReplayJob, client.DeadLetterReplayJob{DeadLettersOf: of("scans"), Let: []string{"at = '1'"}}, 400, "alter_identity"},
		{serve.DeadLetterReplayJob, client.DeadLetterReplayJob{DeadLettersOf: of("scans"), Let: []string{"none = '1'"}}, 400, "let none: pipeline scans has no field"},
		{serve.DeadLetterReplayJob, client.DeadLetterReplayJob{DeadLettersOf: client.DeadLettersOf{All: true}}, 400, "all: "},
		{serve.DeadLetterScanJob, client.DeadLetterScanJob{List: 501}, 400, "list: 501"},
		{serve.DeadLetterScanJob, client.DeadLetterScanJob{DeadLettersOf: client.DeadLettersOf{Reasons: []string{"none"}}}, 400, "no record is rejected for that reason"},
		{serve.DeadLetterPurgeJob, client.DeadLetterPurgeJob{DryRun: true}, 400, "older_than: is missing"},
		{serve.DeadLetterPurgeJob, client.DeadLetterPurgeJob{OlderThan: "2199-01-01", DryRun: true}, 400, "in the future"},
		{serve.ReindexJob, client.ReindexJob{Index: "none", From: "hbase"}, 400, "writes an index none"},
		{serve.ReindexJob, client.ReindexJob{Index: "orders", From: "files"}, 400, "neither hbase nor topic"},
	} {
		if _, err := b.StartJob(t.Context(), c.kind, c.of, ""); status(err) != c.want || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %+v: %v, want %d %s", c.kind, c.of, err, c.want, c.says)
		}
	}
	if code := b.get("/jobs/none"); code != http.StatusNotFound {
		t.Errorf("no job: %d", code)
	}
	if code := b.get("/jobs/none/events"); code != http.StatusNotFound {
		t.Errorf("events of no job: %d", code)
	}
}

// TestPauseOverHTTP checks that a running pipeline pauses until it is resumed, keeps to a limit, and that the pipelines show it.
func TestPauseOverHTTP(t *testing.T) {
	t.Parallel()
	b := newBench(t, service.ToRun, nil)
	if asked, err := b.Pause(t.Context(), "orders", "rows"); err != nil || len(asked.Halves) != 1 || asked.Halves[0].By != "operator" || !asked.Halves[0].Paused {
		t.Fatalf("%+v, %v", asked, err)
	}
	if asked, err := b.Limit(t.Context(), "scans", "", 500); err != nil || asked.Halves[0].Limit != 500 {
		t.Fatalf("%+v, %v", asked, err)
	}
	all, err := b.Pipelines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	scans, orders := all.Pipelines[0].Halves[0], all.Pipelines[1].Halves
	if scans.RateLimit != 500 || scans.Paused || !orders[0].Paused || orders[0].AskedBy != "operator" || orders[0].AskedAt == "" || orders[1].Paused {
		t.Errorf("%+v\n%+v", scans, orders)
	}
	if asked, err := b.Resume(t.Context(), "orders", ""); err != nil || len(asked.Halves) != 2 || asked.Halves[0].Paused {
		t.Errorf("%+v, %v", asked, err)
	}
	b.run()
	b.untilEnd()
	for _, c := range []struct {
		pipeline, half string
		limit          float64
		want           int
	}{{"none", "", 5, 404}, {"scans", "documents", 5, 400}, {"scans", "", 0.5, 400}, {"scans", "", -1, 400}} {
		if _, err := b.Limit(t.Context(), c.pipeline, c.half, c.limit); status(err) != c.want {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// runCurls runs every curl line of docs/api.md for the operators' port. Each must be answered, the events until the job's end.
func (b *bench) runCurls() {
	b.t.Helper()
	page, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		b.t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^curl .*127\.0\.0\.1:8091.*$`).FindAllString(string(page), -1)
	if len(lines) < 9 {
		b.t.Fatalf("docs/api.md has only %d lines of curl", len(lines))
	}
	job := ""
	for _, line := range lines {
		if strings.HasSuffix(line, "/cancel") { // of one that has not ended
			slow, err := b.StartJob(b.t.Context(), serve.ReplayJob, client.ReplayJob{Pipeline: "scans", From: "earliest", Name: "curl", Rate: 1}, "")
			if err != nil {
				b.t.Fatal(err)
			}
			job = slow.ID
		}
		resp := b.curl(line, job)
		var body []byte
		if strings.Contains(line, "/events") {
			body = make([]byte, 4096)
			n, _ := io.ReadAtLeast(resp.Body, body, len("retry: 1000\n\nid: "))
			body = body[:n]
		} else if body, err = io.ReadAll(resp.Body); err != nil {
			b.t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode/100 != 2 {
			b.t.Errorf("%s: %d %s", line, resp.StatusCode, body)
		}
		if at := resp.Header.Get("Location"); at != "" {
			job = path.Base(at)
			b.ended(job)
		}
	}
}

// curl sends the request of a curl line.
func (b *bench) curl(line, job string) *http.Response {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.Base, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	list := regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`).FindAllString(line, -1)
	for i := 1; i < len(list); i++ {
		switch w := strings.Trim(list[i], `'`); w {
		case "-s", "-sN":
		case "-X":
			i++
			req.Method = list[i]
		case "-H":
			i++
			if name, value, _ := strings.Cut(strings.Trim(list[i], `'"`), ": "); name != "Authorization" { // the client's own
				req.Header.Set(name, value)
			}
		case "-d":
			i++
			req.Method, req.Body = http.MethodPost, io.NopCloser(strings.NewReader(strings.Trim(list[i], `'`)))
		default:
			if req.URL, err = url.Parse(strings.NewReplacer("http://127.0.0.1:8091", b.Base, "JOB", job).Replace(w)); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	resp, err := b.HTTP.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp
}
