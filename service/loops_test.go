package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"brine/config"
	"brine/event"
	"brine/ingest"
	"brine/ingest/control"
	"brine/ingest/pace"
	"brine/internal/testenv"
	"brine/service/reload"
)

// notedMarks are marks in memory.
type notedMarks struct {
	kept    map[string]control.Configuration
	written []string
	fails   int // so many writes
}

func (m *notedMarks) Keep(_ context.Context, configurations []control.Configuration) error {
	for _, c := range configurations {
		m.kept[c.Name] = c
	}
	return nil
}

func (m *notedMarks) Mark(_ context.Context, marks []control.Mark) error {
	if m.fails > 0 {
		m.fails--
		return errors.New("no leader")
	}
	for _, mark := range marks {
		text := fmt.Sprintf("%s>%s at %d", mark.Was, mark.Is, mark.Offset)
		if mark.Until > 0 {
			text += fmt.Sprintf(" until %d", mark.Until)
		}
		m.written = append(m.written, text)
	}
	return nil
}

func (m *notedMarks) Marks(context.Context) ([]control.Mark, []control.Configuration, error) {
	return nil, slices.Collect(maps.Values(m.kept)), nil
}

// TestAdmit checks which note of another reader lets a half read a partition, what the half notes then, and which mark is written before.
func TestAdmit(t *testing.T) {
	at := func(minute int) time.Time { return time.UnixMilli(int64(minute) * 60_000) }
	started, reloaded := reload.Reader{Meaning: "mine"}, reload.Reader{Meaning: "mine", Since: at(20)}
	cfg, problems := config.Parse("brine.yaml", []byte(`
kafka: { brokers: ["x:1"] }
hbase: { connect: "rpc://x:1" }
tables: { t: { row: entity, key: 'md5(id, 4) + id', families: { e: {} } } }
pipelines: { p: { topic: t, fields: { id: text }, rows: [ { table: t, set: { "e:id": id } } ] } }
`), func(string) (string, bool) { return "", false })
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	topic := openControl(cfg, slog.New(slog.DiscardHandler))
	defer topic.Close()
	p := cfg.Pipelines[0]
	early := reload.Meaning(p) // what an early version called it
	meant := reload.Reader{Meaning: reload.MeaningOf(p.Halves()[0])}
	start := func() *Half {
		return &Half{cfg: cfg, pipeline: p, kind: Rows, group: "g", opened: at(10), reads: started}
	}
	upgraded := func() *Half {
		h := start()
		h.reads = meant
		return h
	}
	again := func(from ...int64) *Half {
		o := &onward{mark: control.Mark{Group: "g", Is: "mine"}, kept: control.Configuration{Name: "former"}}
		for _, offset := range from {
			o.from, o.done = append(o.from, reload.Offset{Topic: "t", Partition: 1, Offset: offset}), true
		}
		return &Half{cfg: cfg, pipeline: p, kind: Rows, group: "g", opened: at(20), reads: reloaded, onward: o}
	}
	unsettled := func(offset, until int64, done bool) *Half {
		h := again(offset)
		h.onward.from[0].Until, h.onward.done = until, done
		return h
	}
	for _, of := range []struct {
		name  string
		half  *Half
		note  string
		notes string
		mark  string
		reach int64 // 0: as the offset
		held  bool
	}{
		{"nobody has read it", start(), "", "mine", "", 0, false},
		{"nobody has read it, and this half was reloaded", again(), "", "mine@1200000", ">mine at 7", 0, false},
		{"another start of the same", start(), "mine", "mine", "", 0, false},
		{"a reload to the same", start(), "mine@1800000", "mine@1800000", "", 0, false},
		{"an earlier reload to the same, before a restart", start(), "mine@60000", "mine@60000", "", 0, false},
		{"a start with another", start(), "other", "mine", "", 0, false},
		{"an earlier reload to another", start(), "other@60000", "mine", "", 0, false},
		{"a later reload to another", start(), "other@1800000", "", "", 0, true},
		{"a later reload to another than the reloaded one", again(), "other@1800000", "", "", 0, true},
		{"an earlier reload to another than the reloaded one", again(), "other@600000", "mine@1200000", "other>mine at 7", 0, false},
		{"a program that is not brine", start(), "x@y", "mine", "", 0, false},
		{"a start with another that is stored by its version", start(), "2.other", "mine", "2.other>mine at 7", 0, false},
		{"a start of the same by an early version", upgraded(), early, meant.Meaning, "", 0, false},
		{"a reload to the same by an early version", upgraded(), early + "@60000", meant.Meaning + "@60000", "", 0, false},
		{"a later reload to the same by an early version", upgraded(), early + "@1800000", meant.Meaning + "@1800000", "", 0, false},

		{"the reload itself has recorded it", again(7), "former>mine@1200000", "mine@1200000", "", 0, false},
		{"the reload could not record it", again(), "former>mine@1200000", "mine@1200000", "former>mine at 7", 0, false},
		{"the last commit came through after all", again(5), "former>mine@1200000", "mine@1200000", "former>mine at 7", 0, false},
		{"what was not settled in time is recorded", unsettled(7, 9, true), "former>mine@1200000", "mine@1200000", "", 9, false},
		{"what was not settled in time is not recorded", unsettled(7, 9, false), "former>mine@1200000", "mine@1200000", "former>mine at 7 until 9", 9, false},
		{"a later commit of what was not settled in time", unsettled(5, 9, true), "former>mine@1200000", "mine@1200000", "former>mine at 7 until 9", 9, false},
		{"a commit behind what was not settled in time", unsettled(5, 7, true), "former>mine@1200000", "mine@1200000", "former>mine at 7", 0, false},
		{"one whose last commit is not known", unsettled(7, 9, true), "former>mine@1200000", "mine@1200000", "former>mine at 7 until 12", 12, false},
		{"one that was killed", start(), "2.other", "mine", "2.other>mine at 7 until 12", 12, false},
		{"one of the same that was killed", start(), "mine", "mine", "", 12, false},
		{"a member that was not reloaded and was killed", again(7), "former", "mine@1200000", "former>mine at 7 until 12", 12, false},
		{"a member that was not reloaded", again(5), "former", "mine@1200000", "former>mine at 7", 0, false},
		{"a start after a reload that was cut short", start(), "former>mine@60000", "mine@60000", "former>mine at 7", 0, false},
		{"a start with what it was before a reload that was cut short", start(), "mine>other@60000", "mine", "", 0, false},
		{"a start before a reload that was cut short", start(), "mine>other@1800000", "", "", 0, true},
		{"a start after a reload that was cut short before its commit", start(), "kept", "mine", "kept>mine at 7", 0, false},
		{"a start with a third one after a reload that was cut short", start(), "kept>other@60000", "mine", "kept>mine at 7", 0, false},
	} {
		t.Run(of.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				var why []event.Reason
				marks := &notedMarks{kept: map[string]control.Configuration{"kept": {Name: "kept"}}}
				if of.mark != "" {
					marks.fails = 2
				}
				s := &Service{log: slog.New(slog.NewTextHandler(&testenv.Text{}, nil)), marks: marks, control: topic}
				notes, err := s.admit(of.half)(ctx, ingest.Taken{Topic: "t", Partition: 1, Offset: 7, Reach: max(7, of.reach), Reader: of.note,
					Held: func(reason event.Reason, _ error) { why = append(why, reason) }})
				switch {
				case of.held && (err == nil || len(why) != 1 || why[0] != ingest.OtherConfiguration):
					t.Errorf("admitted with %q, or held without a reason: %v, %v", notes, why, err)
				case !of.held && (err != nil || notes != of.notes || (len(why) > 0) != (of.mark != "")):
					t.Errorf("noted as %q, %v, held for %v; want %q", notes, err, why, of.notes)
				}
				if got := strings.Join(marks.written, ", "); got != of.mark {
					t.Errorf("marked %q, want %q", got, of.mark)
				}
			})
		})
	}
}

// TestReloadWithTheSameFilterIsNoNewerConfiguration checks that a half which a reload changed without changing what it makes of records
// still waits where a member with a newer filter has read.
func TestReloadWithTheSameFilterIsNoNewerConfiguration(t *testing.T) {
	at := func(second int64, o *onward) *Half {
		return &Half{opened: time.Unix(second, 0), onward: o, opts: ingest.Options{Pace: pace.New(pace.Order{})}}
	}
	before, after := at(10, nil), at(30, nil)
	after.inherit(before)
	if !after.opened.Equal(before.opened) {
		t.Errorf("it counts as configured at %v", after.opened)
	}
	changed := at(30, &onward{})
	if changed.inherit(before); changed.opened.Equal(before.opened) {
		t.Error("one with another filter does not count as newer")
	}
}

// marksBehind has a mark at offset 9 of the configuration "mine".
type marksBehind struct{ *notedMarks }

func (marksBehind) Marks(context.Context) ([]control.Mark, []control.Configuration, error) {
	return []control.Mark{{Group: "g", Topic: "t", Partition: 1, Offset: 9, Was: "other", Is: "mine"}}, nil, nil
}

// TestAuditSaysWhoReadsAPartitionWhoseOffsetWasSet checks that the audit line names another configuration only if there is one.
func TestAuditSaysWhoReadsAPartitionWhoseOffsetWasSet(t *testing.T) {
	cfg, problems := config.Parse("brine.yaml", []byte(`
kafka: { brokers: ["x:1"] }
hbase: { connect: "rpc://x:1" }
tables: { t: { row: entity, key: 'md5(id, 4) + id', families: { e: {} } } }
pipelines: { p: { topic: t, fields: { id: text }, rows: [ { table: t, set: { "e:id": id } } ] } }
`), func(string) (string, bool) { return "", false })
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	for note, want := range map[string]string{"mine": "the same configuration as before", "2.other": "read by another configuration"} {
		log := &testenv.Text{}
		s := &Service{log: slog.New(slog.NewTextHandler(log, nil)), marks: marksBehind{&notedMarks{}}}
		h := &Half{cfg: cfg, pipeline: cfg.Pipelines[0], kind: Rows, group: "g", reads: reload.Reader{Meaning: "mine"},
			onward: &onward{mark: control.Mark{Group: "g", Is: "mine"}}}
		taken := ingest.Taken{Topic: "t", Partition: 1, Offset: 7, Reach: 7, Reader: note, Moved: true}
		if _, err := s.admit(h)(t.Context(), taken); err != nil || !strings.Contains(log.String(), want) {
			t.Errorf("after %s: %v, %s", note, err, log)
		}
	}
}
