package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/event"
	"brine/ingest"
)

// process is a brine run that goes on until it is asked to stop.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	http string // its admin port
}

// start runs the job's pipeline, with its search engine behind a door.
func (j *job) start(d *door) *process {
	j.t.Helper()
	cmd := j.command("run", "-q", "-c", j.file)
	cmd.Env = append(cmd.Env, "BRINE_SEARCH_CONNECT="+d.url)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		j.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		j.t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			j.t.Fatalf("brine ended before it had an admin port: %v", err)
		}
		if _, rest, ok := strings.Cut(line, "http://"); ok {
			go func() { _, _ = io.Copy(io.Discard, lines) }() // ends with the process
			addr, _, _ := strings.Cut(rest, " ")
			return &process{j.t, cmd, addr}
		}
	}
}

// half gives the status of one of the halves, as /healthz tells it.
func (p *process) half(name string) ingest.Status {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, "http://"+p.http+"/healthz", nil)
	if err != nil {
		p.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	var health struct {
		Halves map[string]ingest.Status `json:"partitions"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&health); err != nil {
		p.t.Fatal(err)
	}
	return health.Halves[name]
}

// settled is how many records are below the watermarks of a half.
func (p *process) settled(half string) (n int) {
	p.t.Helper()
	for _, part := range p.half(half).Partitions {
		n += int(max(0, part.Watermark))
	}
	return n
}

// until waits until a half has settled at least n records, and gives how long that took.
func (p *process) until(half string, n int) time.Duration {
	p.t.Helper()
	start := time.Now()
	for p.settled(half) < n {
		if time.Since(start) > time.Minute {
			p.t.Fatalf("%s has settled %d of %d records: %+v", half, p.settled(half), n, p.half(half))
		}
		wait(p.t, 20*time.Millisecond)
	}
	return time.Since(start)
}

// stop asks the process to drain.
func (p *process) stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Fatalf("brine run: %v", err)
	}
}

// TestIndexOutage: while the index cannot be reached, rows are written as if nothing were, and afterwards no document is missing.
func TestIndexOutage(t *testing.T) {
	changes := orderChanges()
	want := undisturbedOrders(t, changes)
	newOutage := func(t *testing.T) (*job, *door, int) {
		j := newJobOf(t, mixedStack(t), ordersExample)
		j.replace("search:\n", "search:\n  pause: 20ms\n  max_pause: 200ms\n  retry_for: 1s\n")
		return j, newDoor(t, j.search), j.publish(slices.Values(changes))
	}
	t.Run("absent at the start", func(t *testing.T) {
		j, door, n := newOutage(t)
		p := j.start(door)
		took := p.until("orders.rows", n)
		if got := scanTable(t, j.hbase, j.table); got != want.rows {
			t.Errorf("without the index the table is %v, want %v", got, want.rows)
		}
		p.untilRetrying(devPartitions)
		if done := p.settled("orders.documents"); done != 0 {
			t.Errorf("%d documents are settled without an index", done)
		}
		door.open(t)
		t.Logf("%d rows in %v without the index; documents caught up in %v", n, took, p.until("orders.documents", n))
		p.stop()
		j.expect(want)
	})
	t.Run("stopped in mid-stream", func(t *testing.T) {
		j, door, n := newOutage(t)
		j.replace("    topic: ", "    read: { rate: 6000 }\n    topic: ") // slow enough to be stopped in the middle
		door.open(t)
		p := j.start(door)
		p.until("orders.documents", 1)
		door.shut.Store(true)
		took := p.until("orders.rows", n)
		p.untilRetrying(1)
		done := p.settled("orders.documents")
		if done == n || door.cut.Load() == 0 {
			t.Fatalf("%d of %d documents were settled, %d requests cut: the index was stopped too late", done, n, door.cut.Load())
		}
		if got := scanTable(t, j.hbase, j.table); got != want.rows {
			t.Errorf("with the index stopped the table is %v, want %v", got, want.rows)
		}
		door.open(t)
		caught := p.until("orders.documents", n)
		t.Logf("%d documents when the index stopped, then %d rows in %v; %d requests cut; documents caught up in %v", done, n, took, door.cut.Load(), caught)
		p.stop()
		j.expect(want)
	})
}

// untilRetrying waits until the documents of some partitions are being retried because the index is unavailable.
func (p *process) untilRetrying(partitions int) {
	p.t.Helper()
	for start := time.Now(); ; wait(p.t, 20*time.Millisecond) {
		status := p.half("orders.documents")
		n := 0
		for _, part := range status.Partitions {
			if part.State == ingest.Retrying && part.Reason == event.Unavailable {
				n++
			}
		}
		if n >= partitions {
			return
		}
		if time.Since(start) > 20*time.Second {
			p.t.Fatalf("documents are not being retried: %+v", status)
		}
	}
}

// TestDocumentsThatTheIndexRefuses: a change that makes a document unfit for the index is a dead letter; its row is written,
// and so is what other changes say of the same order.
func TestDocumentsThatTheIndexRefuses(t *testing.T) {
	immense := strings.Repeat("x", 40_000) // longer than any term of a keyword
	change := func(order, more string, at int) []byte {
		return fmt.Appendf(nil, `{"order":%q,"user":"u77777","created":1748736000000,"at":%d,%s}`, order, 1748736000000+at, more)
	}
	good := [][]byte{change("GOOD", `"status":"created","brand":"西湖"`, 0), change("GOOD", `"status":"paid","payment":"card"`, 2)}
	refused := [][]byte{change("BAD", `"status":"created","brand":"`+immense+`"`, 0), change("GOOD", `"brand":"`+immense+`"`, 1)}
	changes := orderChanges()[:1000]
	want := undisturbedOrders(t, append(slices.Clone(changes), good...))

	j := newJobOf(t, mixedStack(t), ordersExample)
	mixed := slices.Concat(changes[:500], [][]byte{good[0], refused[0], refused[1], good[1]}, changes[500:])
	n := j.publish(slices.Values(mixed))
	j.must("run", "-q", "-c", j.file, "--until-end")
	compare(t, j.documents(), want.docs)
	if got := scanTable(t, j.hbase, j.table); got.rows != want.rows.rows+1 {
		t.Errorf("%d rows, want %d and the one whose document was refused", got.rows, want.rows.rows)
	}
	letters := j.deadLetters()
	if len(letters) != len(refused) {
		t.Fatalf("%d dead letters of %d events, want %d", len(letters), n, len(refused))
	}
	t.Logf("%d events, %d dead letters, the first: %.200s", n, len(letters), letters[0].Detail)
	for _, l := range letters {
		if l.Reason != event.MappingRefused || l.Group != j.name+".orders.documents" || !strings.Contains(l.Detail, "field [brand]") {
			t.Errorf("dead letter of %s because of %s: %.300s", l.Group, l.Reason, l.Detail)
		}
		if !slices.ContainsFunc(refused, func(c []byte) bool { return string(c) == string(l.Record.Value) }) {
			t.Errorf("the dead letter is not one of the refused changes: %.100s", l.Record.Value)
		}
	}
}

// deadLetters reads the job's dead letters.
func (j *job) deadLetters() []ingest.DeadLetter {
	j.t.Helper()
	topic := j.topic + ".dead"
	transport := &kafka.Transport{} // the usual one remembers for a while that there was no such topic
	defer transport.CloseIdleConnections()
	client := j.client()
	client.Transport = transport
	ends, err := endOffsets(j.t.Context(), client, topic)
	if err != nil {
		j.t.Fatal(err)
	}
	var letters []ingest.DeadLetter
	for partition, end := range ends {
		if end == 0 {
			continue
		}
		reader := kafka.NewReader(kafka.ReaderConfig{Brokers: j.brokers, Topic: topic, Partition: partition, MaxWait: 100 * time.Millisecond})
		defer reader.Close()
		for range end {
			m, err := reader.ReadMessage(j.t.Context())
			if err != nil {
				j.t.Fatal(err)
			}
			rec := &event.Record{Topic: topic, Partition: partition, Offset: m.Offset, Key: m.Key, Value: m.Value}
			for _, h := range m.Headers {
				rec.Headers = append(rec.Headers, event.Header{Key: h.Key, Value: h.Value})
			}
			letter, err := ingest.ReadDeadLetter(rec)
			if err != nil {
				j.t.Fatal(err)
			}
			letters = append(letters, letter)
		}
	}
	return letters
}
