package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/event"
	"brine/ingest"
	"brine/ingest/deadletter"
)

// start runs the job's pipeline, with its search engine behind a door.
func (j *job) start(d *door) *process {
	j.t.Helper()
	return j.begin("BRINE_SEARCH_CONNECT=" + d.url)
}

// TestIndexOutage: while the index is unreachable, rows are written as usual, and afterwards no document is missing. The changes have no
// ties, because the last applied of tied changes wins, and that may differ after an outage.
func TestIndexOutage(t *testing.T) {
	t.Parallel()
	changes := slices.DeleteFunc(orderChanges(), func(change []byte) bool { return bytes.Contains(change, []byte(`"note":"second"`)) })
	want := undisturbedOrders(t, changes)
	newOutage := func(t *testing.T) (*job, *door, int) {
		j := newJobOf(t, mixedStack(t), ordersExample)
		j.replace("search:\n", "search:\n  pause: 20ms\n  max_pause: 200ms\n  retry_for: 1s\n")
		return j, newDoor(t, j.search), j.publish(slices.Values(changes))
	}
	t.Run("absent at the start", func(t *testing.T) {
		t.Parallel()
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
		t.Parallel()
		j, door, n := newOutage(t)
		j.replace("    topic: ", "    read: { rate: 1500 }\n    topic: ") // slow enough to be stopped in the middle
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
		if time.Since(start) > standstill {
			p.t.Fatalf("documents are not being retried: %+v", status)
		}
	}
}

// TestDocumentsThatTheIndexRefuses: a change that makes a document unfit for the index is a dead letter. Its row is written, and so are
// other changes of the same order.
func TestDocumentsThatTheIndexRefuses(t *testing.T) {
	t.Parallel()
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
func (j *job) deadLetters() []deadletter.Letter {
	j.t.Helper()
	var letters []deadletter.Letter
	for _, m := range j.messages(j.topic + ".dead") {
		rec := &event.Record{Topic: m.Topic, Partition: m.Partition, Offset: m.Offset, Key: m.Key, Value: m.Value}
		for _, h := range m.Headers {
			rec.Headers = append(rec.Headers, event.Header{Key: h.Key, Value: h.Value})
		}
		letter, err := deadletter.Read(rec)
		if err != nil {
			j.t.Fatal(err)
		}
		letters = append(letters, letter)
	}
	return letters
}

// messages reads a topic from its beginning to its present end.
func (j *job) messages(topic string) (messages []kafka.Message) {
	j.t.Helper()
	transport := &kafka.Transport{} // the usual one remembers for a while that there was no such topic
	defer transport.CloseIdleConnections()
	client := j.client()
	client.Transport = transport
	ends, err := endOffsets(j.t.Context(), client, topic)
	if err != nil {
		j.t.Fatal(err)
	}
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
			messages = append(messages, m)
		}
	}
	return messages
}
