package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/hbase"
	"brine/indexer"
	"brine/internal/sample"
	"brine/internal/testenv"
	"brine/verify"
)

// verified runs a verification that must end with this exit code, and returns its last result and the number of listed findings of each
// kind.
func (j *job) verified(code int, args ...string) (result verify.ReportLine, listed map[verify.Kind]int) {
	j.t.Helper()
	cmd := j.command(append([]string{"verify", "-c", j.file, "-q", "--json"}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	got := 0
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	}
	if got != code {
		j.t.Fatalf("brine verify %s exits with %d, expected %d\n%s%s", strings.Join(args, " "), got, code, out, stderr.String())
	}
	listed = map[verify.Kind]int{}
	for line := range strings.Lines(string(out)) {
		var f verify.FindingLine
		var r verify.ReportLine
		if err := errors.Join(json.Unmarshal([]byte(line), &f), json.Unmarshal([]byte(line), &r)); err != nil {
			j.t.Fatalf("%q: %v", line, err)
		}
		if f.Kind != "" {
			listed[f.Kind]++
		}
		if r.Result != "" {
			result = r
		}
	}
	return result, listed
}

// stored puts cells into the job's table, bypassing all pipelines.
func (j *job) stored(do func(b *hbase.Batch)) {
	j.t.Helper()
	client, err := hbase.Open(j.t.Context(), hbase.Options{Connect: j.hbase})
	if err != nil {
		j.t.Fatal(err)
	}
	defer client.Close()
	b := hbase.NewBatch(j.table)
	do(b)
	if failures, err := client.Submit(j.t.Context(), b).Wait(j.t.Context()); err != nil || len(failures) > 0 {
		j.t.Fatal(err, failures)
	}
}

// TestVerifyFindsAndRepairs verifies the orders' table and index, empties both, adds what belongs to nobody, and repairs it. verify reports
// how many rows and documents are missing, and afterwards the outcome is what it was.
func TestVerifyFindsAndRepairs(t *testing.T) {
	t.Parallel()
	onStacks(t, ordersExample, func(t *testing.T, j *job) {
		n := j.publish(slices.Values(orderChanges()))
		j.must("run", "-q", "-c", j.file, "--until-end")
		want := j.outcome()
		r, listed := j.verified(0, "--full")
		if len(r.Tables) != 2 || r.Problems != 0 || len(listed) != 0 || r.Tables[0].Rows != int64(want.rows.rows) || r.Tables[1].Rows != int64(len(want.docs)) {
			t.Fatalf("of %v verify says %+v", want, r)
		}
		if r.Sources[0].Records != int64(n) || r.Tables[0].Cells != int64(want.rows.cells) || r.Tables[0].Digest != r.Tables[0].Expected {
			t.Errorf("of %d changes and %v verify says %+v", n, want, r)
		}

		j.emptied()
		j.stored(func(b *hbase.Batch) {
			b.Mutate([]byte("nobody's"))
			b.Put([]byte("brief"), []byte("status"), 5, []byte("?"))
		})
		r, listed = j.verified(exitDiffers, "--full")
		if got := r.Tables[0].Found; got[verify.Missing] != r.Tables[0].Rows || got[verify.Extra] != 1 || listed[verify.Extra] != 1 {
			t.Errorf("of an empty table with an extra row verify says %+v", r)
		}
		if got := r.Tables[1].Found[verify.Missing]; got != r.Tables[1].Rows {
			t.Errorf("%d of %d documents are missing in an empty index", got, r.Tables[1].Rows)
		}
		live := j.live()
		if r, _ = j.verified(0, "--full", "--repair", "--delete-extra", "--yes"); r.Problems != 0 {
			t.Errorf("after the repair verify says %+v", r)
		}
		j.expect(want)
		if now := j.live(); now != live {
			t.Errorf("the live groups are at %s, before at %s", now, live)
		}
	})
}

// TestVerifyFindsADocumentDeletedByHand deletes a document and writes an older version over another one, in Elasticsearch itself. verify
// finds both and a repair restores them.
func TestVerifyFindsADocumentDeletedByHand(t *testing.T) {
	t.Parallel()
	j := newJobOf(t, realStack(t), ordersExample)
	j.publish(slices.Values(orderChanges()))
	j.must("run", "-q", "-c", j.file, "--until-end")
	want := j.documents()
	rows := slices.Sorted(maps.Keys(want))
	ids := []string{string(indexer.AppendID(nil, []byte(rows[0]))), string(indexer.AppendID(nil, []byte(rows[1])))}
	j.request(http.MethodDelete, "/"+j.name+"/_doc/"+url.PathEscape(ids[0])+"?refresh=true", "")
	j.request(http.MethodPut, "/"+j.name+"/_doc/"+url.PathEscape(ids[1])+"?refresh=true", fmt.Sprintf(`{"_row":%q,"_ver":1,"status":"old","_vers":{"status":1}}`, ids[1]))
	r, listed := j.verified(exitDiffers, "--half", "documents", "--full")
	if listed[verify.Missing] < 2 || listed[verify.Stale] != 1 {
		t.Errorf("of a document that is gone and one that is old verify says %v, %+v", listed, r)
	}
	if r, _ := j.verified(0, "--half", "documents", "--full", "--repair"); r.Problems != 0 {
		t.Errorf("after the repair verify says %+v", r)
	}
	if got := j.documents(); got.String() != want.String() {
		t.Errorf("after the repair %v, before %v", got, want)
	}
}

// request sends a request to the job's search server.
func (j *job) request(method, path, body string) {
	j.t.Helper()
	req, err := http.NewRequestWithContext(j.t.Context(), method, j.search+path, strings.NewReader(body))
	if err != nil {
		j.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		j.t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode >= 300 {
		j.t.Fatalf("%s %s: %s: %s", method, path, resp.Status, text)
	}
}

// follow starts a verification that goes on, and waits until it follows the live groups.
func (j *job) follow(flag string) (*exec.Cmd, *testenv.Text) {
	j.t.Helper()
	cmd := j.command("verify", "-c", j.file, "-q", flag, "--follow", "--every", "1s", "--listen", "127.0.0.1:0")
	out := &testenv.Text{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		j.t.Fatal(err)
	}
	for !strings.Contains(out.String(), "following: ") {
		wait(j.t, 10*time.Millisecond)
	}
	return cmd, out
}

// TestVerifyFollowsTheLiveGroup runs verify beside a pipeline. It verifies exactly what the group commits, finds a missing row, and ends
// with 0 when asked to.
func TestVerifyFollowsTheLiveGroup(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	j.publish(first(sample.Scans(), 1000))
	j.must("run", "-q", "-c", j.file, "--until-end")
	cmd, out := j.follow("--json")
	j.publish(first(sample.Scans(), 2000))
	j.must("run", "-q", "-c", j.file, "--until-end")
	published := time.Now()
	records, rows, proved := int64(0), int64(0), time.Time{}
	for (records < 1000 || proved.Before(published)) && t.Context().Err() == nil {
		wait(t, 50*time.Millisecond)
		records, rows = 0, 0
		for line := range strings.Lines(out.String()) {
			var r verify.ReportLine
			var p struct {
				Through time.Time `json:"proved_through"`
			}
			if json.Unmarshal([]byte(line), &p) == nil && !p.Through.IsZero() {
				proved = p.Through
			}
			if json.Unmarshal([]byte(line), &r) == nil && len(r.Sources) == 1 {
				records, rows = records+r.Sources[0].Records, rows+r.Tables[0].Rows
			}
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || records != 1000 || rows != 1000 || strings.Contains(out.String(), "differs") {
		t.Errorf("error %v, %d records and %d rows verified of 1,000:\n%s", err, records, rows, out.String())
	}
}

// A following verification finds what a group has committed and nobody has written, counts it, and repairs it.
func TestVerifyThatGoesOnRepairs(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	j.publish(first(sample.Scans(), 1000))
	j.must("run", "-q", "-c", j.file, "--until-end")
	cmd, out := j.follow("--repair")
	j.publish(first(sample.Scans(), 1500))
	j.must("offsets", "set", "-c", j.file, "--to", "latest", "--yes")
	for !strings.Contains(out.String(), "rewritten: 500 records") {
		wait(t, 50*time.Millisecond)
	}
	address := regexp.MustCompile(`metrics and health on http://(\S+)`).FindStringSubmatch(out.String())
	if address == nil {
		t.Fatalf("it does not say where its metrics are:\n%s", out.String())
	}
	for path, want := range map[string]string{"/metrics": `brine_verify_findings_total{kind="missing",table="` + j.table + `"} 500`,
		"/metrics?proved": `brine_verify_proved_through_timestamp_seconds{sampled="false"} 1`, "/healthz": "ok"} {
		for start := time.Now(); ; wait(t, 50*time.Millisecond) { // what is written again is verified again
			resp, err := http.Get("http://" + address[1] + path)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err == nil && resp.StatusCode == http.StatusOK && strings.Contains(string(body), want) {
				break
			}
			if time.Since(start) > standstill {
				t.Fatalf("%s answers %s, error %v, without %s:\n%s", path, resp.Status, err, want, body)
			}
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v:\n%s", err, out.String())
	}
	if got := scanTable(t, j.hbase, j.table); got.rows != 1500 {
		t.Errorf("the table has %v after the repair, expected 1,500 rows", got)
	}
}
