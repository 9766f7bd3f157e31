package service_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/segmentio/kafka-go"

	"brine/ingest/control"
	"brine/service/reload"
	"brine/service/replays"
	"brine/verify"
)

// withoutMoving returns lines without the pipeline moving, its table and its index.
func withoutMoving() string {
	text, _, _ := strings.Cut(lines, "  moving:\n    topic: moving")
	return strings.NewReplacer("  moving: { row: entity, key: 'md5(id, 4) + id', families: { e: {} } }\n", "",
		"indexes:\n  moving: { fields: { id: keyword, n: long } }\n", "").Replace(text)
}

// TestTwoReloadsRefuseWhatOneRefuses removes a pipeline with its table and its index, and adds it again with other keys, versions or
// meanings of what is already written: at once, or in a process that was started in between. It checks that this is refused as in one
// reload, and that what may change in one reload may change in two.
func TestTwoReloadsRefuseWhatOneRefuses(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"in one process": false, "after a restart": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startLines(t, lines)
			r.publish("moving", 0, 40)
			r.settled("moving.rows", 40)
			r.settled("moving.documents", 40)
			r.reload(withoutMoving(), reload.Applied)
			if again {
				r.stop()
				r.startAgain()
				r.joined("steady.rows")
			}
			for change, c := range map[string]struct{ old, new, want string }{
				"the key of its table":     {"moving: { row: entity, key: 'md5(id, 4)", "moving: { row: entity, key: 'md5(id, 2)", "tables.moving.key is part of"},
				"what a row is":            {"moving: { row: entity", "moving: { row: event", "tables.moving.row is part of"},
				"the type of a field":      {"topic: moving\n    fields: { id: text, at: time_ms, n: int }", "topic: moving\n    fields: { id: text, at: time_us, n: int }", "pipelines.moving.fields.at.type"},
				"the version":              {"topic: moving\n    fields: { id: text, at: time_ms, n: int }\n    version: at\n", "topic: moving\n    fields: { id: text, at: time_ms, n: int }\n", "pipelines.moving.version is part of"},
				"the field of a column":    {`table: moving, set: { "e:n": n }`, `table: moving, set: { "e:n": at }`, "pipelines.moving.rows[0].set.e:n.field is part of"},
				"the key, by another name": {"moving: { row: entity, key: 'md5(id, 4)", "moving: { row: entity, key: 'md5(id, 2)", "tables.moving.key is part of"},
			} {
				text := strings.Replace(lines, c.old, c.new, 1)
				if text == lines {
					t.Fatal(change)
				}
				if strings.HasSuffix(change, "another name") {
					text = strings.Replace(text, "  moving:\n    topic: moving", "  third:\n    topic: moving", 1)
				}
				if result := r.reload(text, reload.Refused); !strings.Contains(result.Error, c.want) || !strings.Contains(result.Error, "until it was removed") ||
					!strings.Contains(result.Fix, "brine replay") {
					t.Errorf("%s is refused by %q, fix %q; want %q", change, result.Error, result.Fix, c.want)
				}
			}
			back, halves := filtered("n % 2 == 0"), []string{"moving.rows", "moving.documents"}
			if again { // a process that has begun without documents does not take any
				back, halves = strings.Replace(back, "    documents: [ { index: moving, set: { id: id, n: n } } ]\n", "", 1), halves[:1]
			}
			r.reload(back, reload.Applied)
			r.publish("moving", 40, 40)
			for _, half := range halves {
				r.settled(half, 40)
			}
			if n := r.rows("moving"); n != 40+20 {
				t.Errorf("%d rows, want those of 40 records and half of 40 more", n)
			}
			if report := ran(t, r.checkOf(false, halves...)); report.Problems() > 0 || report.Sources[0].Unknown > 0 {
				t.Errorf("found %+v", report)
			}
		})
	}
}

// TestUnknownPipelineThatComesBackIsRefused checks that a pipeline is not added again if nobody knows any more by which configuration it
// wrote.
func TestUnknownPipelineThatComesBackIsRefused(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines)
	r.publish("moving", 0, 40)
	r.settled("moving.rows", 40)
	r.settled("moving.documents", 40)
	r.reload(withoutMoving(), reload.Applied)
	r.forget(3) // two halves of moving, and one of steady
	if result := r.reload(filtered("n % 2 == 0"), reload.Refused); !strings.Contains(result.Error, "it is not known whether its rows had other keys") {
		t.Errorf("refused by %q", result.Error)
	}
	r.reload(lines, reload.Applied) // as it was
}

// TestRestartWithAnotherFilterIsMarked starts a process with another filter than the one before, twice, without a reload. It checks that
// verify and replay go by the filter of the time.
func TestRestartWithAnotherFilterIsMarked(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines)
	r.publish("moving", 0, 100)
	r.settled("moving.rows", 100)
	r.settled("moving.documents", 100)
	for i, when := range []string{"n % 2 == 0", "n % 2 == 0 || n % 3 == 0"} {
		r.storedAll()
		r.stop()
		r.write(filtered(when))
		r.startAgain()
		r.publish("moving", 100*(i+1), 100)
		r.settled("moving.rows", 100)
		r.settled("moving.documents", 100)
	}
	if n := r.rows("moving"); n != filteredRows {
		t.Fatalf("%d rows, want %d", n, filteredRows)
	}
	report := ran(t, r.check(false))
	if report.Problems() > 0 || report.Sources[0].Unknown > 0 || report.Sources[1].Unknown > 0 {
		t.Errorf("found %+v", report)
	}
	if now := ran(t, r.check(true)); now.Count(verify.Extra) == 0 || now.Count(verify.Missing) == 0 {
		t.Errorf("by the configuration of now: %+v, want what it would leave out, and what it would keep", now)
	}
	asked := replays.Asked{From: "earliest", Into: []string{"copy"}}
	if err := r.replay(asked); err != nil {
		t.Fatal(err)
	}
	if n := r.rows("copy"); n != filteredRows {
		t.Errorf("the replay has written %d rows, want %d", n, filteredRows)
	}
	if of := r.marks(); of[0] != 2*2 { // of two halves
		t.Errorf("partitions were marked %v times, want twice for each half", of)
	}
}

// TestRestartAsBeforeLeavesNoMark checks that only another configuration is marked.
func TestRestartAsBeforeLeavesNoMark(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines)
	r.publish("moving", 0, 20)
	r.settled("moving.rows", 20)
	r.storedAll()
	r.stop()
	r.write(strings.Replace(lines, "topic: moving\n", "topic: moving\n    read: { window: 2 }\n", 1))
	r.startAgain()
	r.publish("moving", 20, 20)
	r.settled("moving.rows", 20)
	if of := r.marks(); of[0] > 0 {
		t.Errorf("partitions were marked %v times", of)
	}
}

// TestFilterThatIsNotStoredIsUnknown starts with another filter after a process whose configuration the control topic does not have, since
// somebody has deleted it. It checks that verify takes the earlier filter for unknown, rather than for that of now.
func TestFilterThatIsNotStoredIsUnknown(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines)
	r.publish("moving", 0, 100)
	r.settled("moving.rows", 100)
	r.settled("moving.documents", 100)
	r.storedAll()
	r.stop()
	transport := &kafka.Transport{}
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: kafka.TCP(r.Config().Kafka.Brokers...), Transport: transport}
	if _, err := client.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{r.Config().Kafka.Control()}}); err != nil {
		t.Fatal(err)
	}
	r.write(filtered("n % 2 == 0"))
	r.startAgain()
	r.publish("moving", 100, 100)
	r.settled("moving.rows", 100)
	r.settled("moving.documents", 100)
	if report := ran(t, r.check(false)); report.Problems() > 0 || report.Sources[0].Unknown != 100 || report.Sources[1].Unknown != 100 {
		t.Errorf("found %+v", report)
	}
}

// storedAll waits until the control topic has the configuration of each half that runs.
func (r *reloadable) storedAll() {
	r.t.Helper()
	k := &r.Config().Kafka
	topic := control.Open(control.Options{Kafka: k.Options(), RequestTimeout: k.RequestTimeout, Topic: k.Control()})
	defer topic.Close()
	r.wait("all configurations are stored", func() bool {
		_, kept, err := topic.Marks(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		for _, h := range r.Config().Halves() {
			stored := func(c control.Configuration) bool { return c.Name == reload.MeaningOf(h) }
			if !slices.ContainsFunc(kept, stored) && r.Half(h.Name()) != nil {
				return false
			}
		}
		return true
	})
}
