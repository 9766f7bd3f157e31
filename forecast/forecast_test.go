package forecast

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/event"
	"brine/plan"
	"brine/rowkey"
	"brine/rowkey/eventkey"
	"brine/sink"
)

var schema = event.Schema{Fields: []event.Field{
	{Name: "id", Path: []string{"id"}, Type: event.Text}, {Name: "at", Path: []string{"at"}, Type: event.TimeMS}, {Name: "v", Path: []string{"v"}, Type: event.Text},
}, Version: 1}

// scans is a table of events with a key.
func scans(t *testing.T, expr string) Target {
	t.Helper()
	key, err := eventkey.Parse(expr, schema)
	if err != nil {
		t.Fatal(err)
	}
	return Target{
		Pipeline: "p", Schema: schema, TTL: map[string]time.Duration{"e": time.Hour},
		Rows: sink.Options{Schema: schema, Rows: []sink.Rows{{
			Table:   sink.Table{Name: "t", Row: sink.RowEvent, Keys: rowkey.One(key)},
			Columns: []sink.Column{{Family: "e", Qualifier: "v", Field: "v"}},
		}}},
		Table: plan.Table{Name: "t", Key: key, EventRows: true, Families: []plan.Family{{Name: "e", Codec: "none", BlockSize: 65536}}},
	}
}

// lines returns n good events, one that is too old for the TTL, one without an id, and two that share a row if the key is the id.
func lines(n int) string {
	var b strings.Builder
	now := time.Now().UnixMilli()
	for i := range n {
		fmt.Fprintf(&b, `{"id":"i%04d","at":%d,"v":"x"}`+"\n", i, now)
	}
	fmt.Fprintf(&b, `{"id":"old","at":%d,"v":"x"}`+"\n", now-7_200_000)
	fmt.Fprintf(&b, "\n"+`{"at":%d,"v":"x"}`+"\n", now)
	fmt.Fprintf(&b, `{"id":"twice","at":%d,"v":"x"}`+"\n"+`{"id":"twice","at":%d,"v":"y"}`+"\r\n", now, now+1)
	return b.String()
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func packed(t *testing.T, content string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAReportOfAFile(t *testing.T) {
	content := lines(50_000) // several blocks
	for name, content := range map[string]string{"a.jsonl": content, "a.jsonl.gz": packed(t, content)} {
		sample, err := OpenFile(write(t, name, content), "utf-8", nil)
		if err != nil {
			t.Fatal(err)
		}
		all, err := Run(t.Context(), sample, []Target{scans(t, "id")}, 0)
		if err != nil || len(all) != 1 {
			t.Fatalf("%d reports, %v", len(all), err)
		}
		r := &all[0]
		if r.Pipeline != "p" || r.Table != "t" || r.Records != 50_004 || r.Events != 50_003 || r.Expired["e"] != 1 {
			t.Errorf("%s: %+v", name, r)
		}
		var said []string
		for _, w := range r.Warnings() {
			if w.Rule == "dead-letter" || w.Rule == "expired" || w.Rule == CollisionRule {
				said = append(said, w.Rule+": "+w.Msg+": "+w.Fix)
			}
		}
		for i, want := range []string{
			"expired: 1 of 50,004 events is older than the TTL of family e of t: HBase would hide it at once: raise the ttl",
			"dead-letter: 1 of 50,004 records would become dead letters, the first (line 50,003) because of ",
			"they differ in at, v; write key: id + \"|\" + at",
		} {
			if i >= len(said) || !strings.Contains(said[i], want) {
				t.Errorf("%s: said %q, want %q", name, said, want)
			}
		}
		if got := r.FirstCollision(); !strings.Contains(got, "row twice belongs to line 50,004: {") || !strings.Contains(got, ", and to line 50,005: {") {
			t.Errorf("%s: collided are %s", name, got)
		}
	}
}

// TestReadingGoesOn checks that a file is cut into blocks only at its lines.
func TestReadingGoesOn(t *testing.T) {
	long := strings.Repeat("x", 3*blockBytes)
	sample, err := OpenFile(write(t, "long.jsonl", "1\n"+long+"\n\n2\n3"), "utf-8", nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	err = sample.read(t.Context(), func(b block) error {
		for at, r := range b.records {
			got = append(got, fmt.Sprintf("%s: %d", sample.describe(at), len(r.Value)))
		}
		return nil
	})
	if want := []string{"line 1: 1", fmt.Sprint("line 2: ", len(long)), "line 4: 1", "line 5: 1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

func TestCSVIsReadByTheFields(t *testing.T) {
	now := time.Now().UnixMilli()
	sample, err := OpenFile(write(t, "a.csv", fmt.Sprintf("id,at,v\na,%d,x\nb,%d,y\n", now, now)), "utf-8", schema.Fields)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Run(t.Context(), sample, []Target{scans(t, "id")}, 0)
	if err != nil || all[0].Records != 2 || all[0].Rows != 2 || len(all[0].Rejected) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestFilesThatAreNoSamples(t *testing.T) {
	gz := packed(t, lines(100))
	for name, content := range map[string]string{"cut.jsonl.gz": gz[:len(gz)-9], "plain.jsonl.gz": lines(1), "no.csv": "a,b\n\"", "": ""} {
		file := filepath.Dir(write(t, "other", "")) // a folder
		if name != "" {
			file = write(t, name, content)
		}
		sample, err := OpenFile(file, "utf-8", schema.Fields)
		if err == nil {
			_, err = Run(t.Context(), sample, []Target{scans(t, "id")}, 0)
		}
		if _, ok := errors.AsType[*SampleError](err); !ok || !strings.Contains(err.Error(), filepath.Base(file)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestATopicIsSampledByPartitions(t *testing.T) {
	now := time.Now().UnixMilli()
	records := func(_ context.Context, partition int, from, to int64) iter.Seq2[*event.Record, error] {
		return func(yield func(*event.Record, error) bool) {
			rec := event.Record{Partition: partition, Timestamp: now} // each is valid until the next
			for offset := from; offset < to; offset++ {
				rec.Offset = offset
				rec.Value = append(rec.Value[:0], fmt.Sprintf(`{"id":"i","at":%d,"v":"p%do%d"}`, now, partition, offset)...)
				if !yield(&rec, nil) {
					return
				}
			}
		}
	}
	sample := OfTopic(25, []int64{100, 0, 7}, []int64{200, 3, 7}, records) // 9 of each partition, if it has as many
	all, err := Run(t.Context(), sample, []Target{scans(t, "id")}, 0)
	if err != nil || all[0].Records != 12 || all[0].Rows != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	if got := all[0].FirstCollision(); !strings.Contains(got, "partition 0, offset 100") || !strings.Contains(got, "partition 0, offset 101") {
		t.Errorf("collided are %s", got)
	}
}

func TestParseTopic(t *testing.T) {
	for text, want := range map[string]string{"a": "a 100000", "a@5": "a 5", "": "names no topic", "@5": "names no topic", "a@0": "write topic:NAME@N", "a@x": "write topic:NAME@N"} {
		topic, n, err := ParseTopic(text)
		if got := fmt.Sprint(topic, " ", n, err); !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// A forecast uses the key of new events for each event, from version 0 on.
func TestAForecastIsForTheNewestKey(t *testing.T) {
	first, newest := scans(t, "id").Table.Key, scans(t, "md5(id, 4) + id").Table.Key
	keys := rowkey.Keys{{Key: first}, {From: 1000, Key: newest}}
	o := sink.Options{Rows: []sink.Rows{{Table: sink.Table{Name: "t", Keys: keys}}}}
	if got := newestKeys(o).Rows[0].Table.Keys; len(got) != 1 || got[0].From != 0 || got[0].Key != newest {
		t.Errorf("keys are %v", got)
	}
	if len(o.Rows[0].Table.Keys) != 2 {
		t.Error("the caller's options were changed")
	}
}

func TestCapacityNeedsToKnowHowLongRowsAreKept(t *testing.T) {
	now := time.Now().UnixMilli()
	sample := OfRecords([]event.Record{{Timestamp: now, Value: fmt.Appendf(nil, `{"id":"a","at":%d,"v":"x"}`, now)}})
	target := scans(t, "id")
	load := plan.Load{Rows: 1000, Server: plan.Server{Heap: 32 << 30, Disk: 16 << 40, Rows: 25_000}}
	all, err := Run(t.Context(), sample, []Target{target}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := all[0].AddCapacity(load); err != nil || all[0].Capacity.RowsKept != 3600*1000 {
		t.Errorf("%v: %+v", err, all[0].Capacity)
	}
	delete(target.TTL, "e")
	if all, err = Run(t.Context(), sample, []Target{target}, 0); err != nil {
		t.Fatal(err)
	}
	if err := all[0].AddCapacity(load); err == nil || !strings.Contains(err.Error(), "family e of t has no ttl") {
		t.Errorf("without a TTL: %v", err)
	}
	load.Keep = 2 * time.Hour
	if err := all[0].AddCapacity(load); err != nil || all[0].Capacity.RowsKept != 7200*1000 {
		t.Errorf("%v: %+v", err, all[0].Capacity)
	}
}

// TestWhatIsFilteredIsSaid checks that there is a warning for a sample of which a condition leaves nothing, and none if it leaves
// something.
func TestWhatIsFilteredIsSaid(t *testing.T) {
	some := Report{Table: "t", Records: 3, LeftOut: map[string]int64{"filtered": 2, "heartbeat": 1}, Forecast: &plan.Forecast{}}
	if w := some.Warnings(); len(w) != 1 || w[0].Msg != "none of 3 records becomes a row of t: when leaves out 2 events" {
		t.Errorf("%+v", w)
	}
	some.Rows = 1
	if w := some.Warnings(); len(w) != 0 {
		t.Errorf("%+v", w)
	}
}
