package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"brine/ingest"
	"brine/internal/sample"
)

// contentsOf returns what readers of committed records find in the job's topic, by partition.
func (j *job) contentsOf() [][]string {
	j.t.Helper()
	ends, err := endOffsets(j.t.Context(), j.client(), j.topic)
	if err != nil {
		j.t.Fatal(err)
	}
	reader := ingest.NewTopicReader(ingest.Options{Kafka: ingest.Kafka{Brokers: j.brokers}, Topic: j.topic})
	defer reader.Close()
	out := make([][]string, len(ends))
	for p, end := range ends {
		for r, err := range reader.Records(j.t.Context(), p, 0, end) {
			if err != nil {
				j.t.Fatal(err)
			}
			out[p] = append(out[p], string(r.Value))
		}
	}
	return out
}

// TestPublishedExactlyOnceThoughKilled kills brine publish again and again while someone else publishes to the same topic. Readers of
// committed records then find each record of the files once, those of one key in order, and all of the others.
func TestPublishedExactlyOnceThoughKilled(t *testing.T) {
	notShort(t)
	t.Parallel()
	const events, foreign = 6000, 30
	onStacks(t, scansExample, func(t *testing.T, j *job) {
		file := filepath.Join(t.TempDir(), "scans.jsonl")
		want := slices.Collect(first(sample.Scans(), events))
		var text []byte
		for _, v := range want {
			text = append(append(text, v...), '\n')
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"publish", "-c", j.file, "--topic", j.topic, "--key", "waybill", file}
		group := j.name + ".publish." + j.topic + "_scans.jsonl"
		for kill := range 3 {
			before := j.committed(group)[0]
			cmd := j.command(append(args, "--rate", "200")...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for i := range foreign / 3 {
				j.send(i%devPartitions, fmt.Sprintf("foreign %d", kill*foreign/3+i))
			}
			for j.committed(group)[0] == before {
				wait(t, time.Millisecond)
			}
			if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // it was killed
		}
		if n := j.committed(group)[0]; n == 0 || n >= events {
			t.Fatalf("after the kills %d of %d records are published: the test tried nothing", n, events)
		}
		out := j.must(args...)
		if !strings.Contains(out, "had already been published; --again publishes them again") {
			t.Errorf("the last publish says\n%s", out)
		}
		if again := j.must(args...); !strings.Contains(again, "\n6,000 had already been published") && !strings.HasPrefix(again, "0 records published") {
			t.Errorf("once more says\n%s", again)
		}
		j.holdsOnce(want, foreign)

		changed := strings.Replace(string(text), `"station":"`, `"station":"~`, 1)
		if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, code := j.exit(args...); code != exitUsage || !strings.Contains(out, "other records were published under this name: 6,000 of them") {
			t.Errorf("exit %d of other records under the same name:\n%s", code, out)
		}
		j.holdsOnce(want, foreign)
	})
}

// holdsOnce expects each value once in the topic, those of a partition in the order of the files, and this many foreign ones.
func (j *job) holdsOnce(want [][]byte, foreign int) {
	j.t.Helper()
	place := map[string]int{}
	for i, v := range want {
		place[string(v)] = i
	}
	n := 0
	for p, values := range j.contentsOf() {
		last := -1
		for _, v := range values {
			if strings.HasPrefix(v, "foreign ") {
				foreign--
				continue
			}
			at, ok := place[v]
			if !ok || at <= last {
				j.t.Errorf("partition %d: record %d (known %v) behind record %d: %.80s", p, at, ok, last, v)
			}
			last, n = at, n+1
		}
	}
	if n != len(want) || foreign != 0 {
		j.t.Errorf("%d records of the files, expected %d; of someone else's %d are missing", n, len(want), foreign)
	}
	if j.t.Failed() {
		j.t.Logf("the topic holds\n%s", j.transactions())
	}
}

// transactions describes the topic as readers of uncommitted records find it: for each partition, its runs of records by one producer, and
// the markers that end transactions.
func (j *job) transactions() string {
	ends, err := endOffsets(j.t.Context(), j.client(), j.topic)
	if err != nil {
		return err.Error()
	}
	parts := map[int32]kgo.Offset{}
	for p := range ends {
		parts[int32(p)] = kgo.NewOffset().At(0)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(j.brokers...), kgo.KeepControlRecords(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{j.topic: parts}))
	if err != nil {
		return err.Error()
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(j.t.Context(), time.Minute)
	defer cancel()
	runs := make([][]string, len(ends))
	last := make([]string, len(ends))
	for left := len(ends); left > 0; {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			break
		}
		fetches.EachRecord(func(r *kgo.Record) {
			run := fmt.Sprintf("producer %d epoch %d transactional %v", r.ProducerID, r.ProducerEpoch, r.Attrs.IsTransactional())
			if r.Attrs.IsControl() {
				run = fmt.Sprintf("producer %d epoch %d marker %x", r.ProducerID, r.ProducerEpoch, r.Key)
			}
			if p := r.Partition; run != last[p] || r.Attrs.IsControl() {
				runs[p] = append(runs[p], fmt.Sprintf("partition %d from %d at %s: %s", p, r.Offset, r.Timestamp.Format("05.000"), run))
				last[p] = run
			}
			if r.Offset == ends[r.Partition]-1 {
				left--
			}
		})
	}
	return strings.Join(slices.Concat(runs...), "\n")
}

// TestPublishStopsAtAFaultyLine: everything before the line is published, and the same command continues once the line is fixed.
func TestPublishStopsAtAFaultyLine(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	file := filepath.Join(t.TempDir(), "scans.csv")
	write := func(third string) {
		t.Helper()
		text := "waybill,at,action,station,extra\nW1,2013-01-05T00:00:00Z,A,\"X, Y\",e\nW2,1357344000001,B,,\n" + third + "\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"publish", "-c", j.file, "--topic", j.topic, "--key", "waybill", "--time", "at", file}
	write("W3,soon,C,Z,")
	if out, code := j.exit(args...); code != exitFailed || !strings.Contains(out, file+`, line 4: column at: "soon": not a time such as 2013-01-31T08:00:00Z`) {
		t.Errorf("exit %d: %s", code, out)
	}
	write("W3,1357344000002,C,Z,")
	j.must(args...)
	var got []string
	for _, values := range j.contentsOf() {
		got = append(got, values...)
	}
	slices.Sort(got)
	want := []string{
		`{"action":"A","at":1357344000000,"extra":"e","station":"X, Y","waybill":"W1"}`,
		`{"action":"B","at":1357344000001,"waybill":"W2"}`,
		`{"action":"C","at":1357344000002,"station":"Z","waybill":"W3"}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("the topic holds\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	d := j.must("replay", "-c", j.file, "--from", "2013-01-05", "--to", "2013-01-06", "--dry-run")
	if !strings.Contains(strings.Join(strings.Fields(d), " "), "all 3 ~1 KiB") {
		t.Errorf("the records' times are not those of the files:\n%s", d)
	}
}

// TestPublishSkipsBadLines: text in another encoding is refused until the encoding is named. Bad lines are skipped on request, and reported
// each time.
func TestPublishSkipsBadLines(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	file := filepath.Join(t.TempDir(), "scans.csv")
	text := "waybill,at,action,station\nW1,1357344000000,A,S\xe3o\nW2,soon,A,X\n" + strings.Repeat("W3,1357344000001,\n", 11) + "W4,1357344000002,A,X\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"publish", "-c", j.file, "--topic", j.topic, "--key", "waybill", file}
	if out, code := j.exit(args...); code != exitFailed || !strings.Contains(out, file+`, line 2: byte 21 is 0xe3, which is not UTF-8`) {
		t.Errorf("exit %d: %s", code, out)
	}
	if out, code := j.exit(append(args, "--encoding", "klingon")...); code != exitUsage || !strings.Contains(out, `--encoding: no encoding "klingon"; write utf-8`) {
		t.Errorf("exit %d: %s", code, out)
	}
	for _, published := range []string{"2 records published", "0 records published"} {
		out, code := j.exit(append(args, "--encoding", "latin1", "--skip-bad")...)
		for _, want := range []string{published, "12 bad lines skipped:\n", "line 3: column at: \"soon\"", "line 12: it has 3 fields, but the first row has 4\n", "  and 2 more\n"} {
			if code != exitFailed || !strings.Contains(out, want) {
				t.Errorf("exit %d, expected %q:\n%s", code, want, out)
			}
		}
	}
	var got []string
	for _, values := range j.contentsOf() {
		got = append(got, values...)
	}
	slices.Sort(got)
	if want := []string{`{"action":"A","at":1357344000000,"station":"São","waybill":"W1"}`, `{"action":"A","at":1357344000002,"station":"X","waybill":"W4"}`}; !slices.Equal(got, want) {
		t.Errorf("the topic holds %q, expected %q", got, want)
	}
}

// TestPublishAloneNoticesOthers: if the topic's own length is the progress, foreign records must not be taken for records of the files.
func TestPublishAloneNoticesOthers(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	file := filepath.Join(t.TempDir(), "a.jsonl")
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "{\"waybill\":\"W%d\"}\n", i)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"publish", "-c", j.file, "--topic", j.topic, "--key", "waybill", "--alone", file}
	if out := j.must(args...); !strings.HasPrefix(out, "100 records published") {
		t.Errorf("says %s", out)
	}
	if out := j.must(args...); !strings.HasPrefix(out, "0 records published") {
		t.Errorf("once more says %s", out)
	}
	j.send(0, "foreign")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(text.String(), "}", `,"v":1}`)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := j.exit(args...); code != exitFailed || !strings.Contains(out, "that is not part of this sequence: something else was published there") {
		t.Errorf("exit %d: %s", code, out)
	}
}
