package service_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/config"
	"brine/event"
	"brine/explain"
	"brine/hbase"
	"brine/ingest"
	"brine/ingest/control"
	"brine/ingest/eras"
	"brine/service"
	"brine/service/devstack"
	"brine/service/reload"
	"brine/service/replays"
	"brine/verify"
)

// filtered returns lines with a filter in the pipeline moving.
func filtered(when string) string {
	return strings.Replace(lines, "topic: moving\n", "topic: moving\n    when: '"+when+"'\n", 1)
}

// startFiltered makes the pipeline moving write 100 records without a filter, 100 with a filter, and 100 with a looser one: 100, 50 and 67
// remain.
func startFiltered(t *testing.T) *reloadable {
	t.Helper()
	r := startLines(t, lines)
	r.publish("moving", 0, 100)
	r.settled("moving.rows", 100)
	r.settled("moving.documents", 100)
	r.reload(filtered("n % 2 == 0"), reload.Applied)
	r.publish("moving", 100, 100)
	r.settled("moving.rows", 200)
	r.settled("moving.documents", 200)
	r.reload(filtered("n % 2 == 0 || n % 3 == 0"), reload.Applied)
	r.publish("moving", 200, 100)
	r.settled("moving.rows", 300)
	r.settled("moving.documents", 300)
	return r
}

const filteredRows = 100 + 50 + 67

// check verifies all of moving, by the filters that were in force or as configured now.
func (r *reloadable) check(asConfigured bool) *verify.Check {
	r.t.Helper()
	return r.checkOf(asConfigured, "moving.rows", "moving.documents")
}

func (r *reloadable) checkOf(asConfigured bool, halves ...string) *verify.Check {
	r.t.Helper()
	cfg := r.Config()
	o := verify.Options{Full: true, Dir: r.t.TempDir(), Workers: 2}
	notes, err := service.Former(r.t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, h := range cfg.Halves() {
		if !slices.Contains(halves, h.Name()) {
			continue
		}
		s := service.VerifySource(cfg, h, slog.New(slog.DiscardHandler), r.Client)
		if !asConfigured {
			service.VerifyFormer(&s, notes.Written(h), r.Client)
		}
		o.Sources = append(o.Sources, s)
	}
	o.Tables = verify.Tables(o.Sources, r.Client(), r.Engine())
	check, err := verify.New(o)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(check.Close)
	return check
}

func ran(t *testing.T, c *verify.Check) *verify.Report {
	t.Helper()
	report, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestVerifyJudgesByTheFilterOfTheTime tightens a filter and loosens it again. It checks that verify finds nothing wrong in correct data,
// that missing rows of an earlier time are found and repaired as they were then, and that the current configuration finds what it would
// leave out.
func TestVerifyJudgesByTheFilterOfTheTime(t *testing.T) {
	t.Parallel()
	r := startFiltered(t)
	if n := r.rows("moving"); n != filteredRows {
		t.Fatalf("%d rows, want %d", n, filteredRows)
	}
	report := ran(t, r.check(false))
	if report.Problems() > 0 || report.Sources[0].Unknown > 0 {
		t.Errorf("found %+v", report)
	}
	if now := ran(t, r.check(true)); now.Count(verify.Extra) == 0 || now.Count(verify.Missing) == 0 {
		t.Errorf("by the configuration of now: %+v, want what it would leave out, and what it would keep", now)
	}

	r.spoil(7) // from before the first filter
	check := r.check(false)
	if report := ran(t, check); report.Problems() != 1 || report.Count(verify.Different) != 1 {
		t.Errorf("found %+v, want one cell that is different", report)
	}
	if n, err := check.Repair(t.Context(), r.writers(t)); n != 1 || err != nil {
		t.Errorf("repaired %d, %v", n, err)
	}
	if again, err := check.Again(t.Context()); err != nil || again.Problems() > 0 {
		t.Errorf("after a repair: %+v, %v", again, err)
	}

	if err := r.replay(replays.Asked{From: "earliest", Half: service.Rows, AsConfigured: true}); err != nil { // adds some of 100 to 199
		t.Fatal(err)
	}
	written := r.rows("moving")
	check = r.check(false)
	if report := ran(t, check); report.Count(verify.Extra) == 0 {
		t.Errorf("found %+v, want what the replay has written", report)
	}
	if n, err := check.DeleteExtra(t.Context()); n != 0 || err == nil || !strings.Contains(err.Error(), "400 offsets") ||
		!strings.Contains(err.Error(), "--as-configured") {
		t.Errorf("what a replay as configured has written was deleted: %d, %v", n, err)
	}
	check = r.check(true)
	ran(t, check)
	if n, err := check.DeleteExtra(t.Context()); n == 0 || err != nil { // written only under the first filter
		t.Errorf("as configured: %d deleted, %v", n, err)
	}
	if n := r.rows("moving"); n >= written || n != 67+66+67 {
		t.Errorf("%d rows, of %d", n, written)
	}
}

// spoil sets a record's cell to another value with the same version.
func (r *reloadable) spoil(record int) {
	r.t.Helper()
	m, err := r.Client().Mutator(hbase.MutatorOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	id, n := fmt.Sprintf("K%07d", record), 0
	for row, err := range r.Client().Scan(r.t.Context(), "moving", hbase.Scan{}) {
		if err != nil {
			r.t.Fatal(err)
		}
		if !strings.HasSuffix(string(row.Row), id) {
			continue
		}
		b := hbase.NewBatch("moving")
		b.Mutate(row.Row)
		b.Put([]byte("e"), []byte("n"), row.Cells[0].Timestamp, []byte("spoiled"))
		if failures, err := m.Submit(r.t.Context(), b).Wait(r.t.Context()); err != nil || len(failures) > 0 {
			r.t.Fatal(err, failures)
		}
		n++
	}
	if n != 1 {
		r.t.Fatalf("%d rows of %s", n, id)
	}
}

// writers returns the writers of a repair of moving.
func (r *reloadable) writers(t *testing.T) (out []event.Writer) {
	t.Helper()
	s, err := service.Open(t.Context(), r.Config(), service.Options{For: service.ToWrite, Halves: []string{"moving.rows", "moving.documents"},
		Log: slog.New(slog.DiscardHandler), Stores: r.Service})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	notes, err := service.Former(t.Context(), r.Config(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range r.Config().Halves() {
		if h.Pipeline.Name != "moving" {
			continue
		}
		w, err := s.FormerWriter(s.Half(h.Name()).Writer(), notes.Of(h))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

// TestVerifyFindsNothingFalseWhereTheFilterIsNotKnown removes what was stored of an earlier filter. It checks that verify reports the
// number of records without a known filter, finds nothing wrong in what they made, and neither repairs nor deletes it.
func TestVerifyFindsNothingFalseWhereTheFilterIsNotKnown(t *testing.T) {
	t.Parallel()
	r := startFiltered(t)
	r.forget(7)
	r.spoil(7)
	check := r.check(false)
	report := ran(t, check)
	if report.Problems() > 0 || report.Sources[0].Unknown != 200 || report.Sources[1].Unknown != 200 {
		t.Errorf("found %+v", report)
	}
	if n, err := check.Repair(t.Context(), r.writers(t)); n != 0 || err != nil {
		t.Errorf("repaired %d, %v", n, err)
	}
	if _, err := check.DeleteExtra(t.Context()); err == nil || !strings.Contains(err.Error(), "400 offsets") {
		t.Errorf("what is extra was deleted: %v", err)
	}
	if n := r.rows("moving"); n != filteredRows {
		t.Errorf("%d rows, want %d", n, filteredRows)
	}
	if err := r.replay(replays.Asked{From: "earliest", Half: service.Rows}); err == nil || !strings.Contains(err.Error(), "200 offsets") {
		t.Errorf("a replay by a filter that nobody knows: %v", err)
	}
	if p := r.explain(0, 1); p.Configured != explain.Unknown || p.Halves[0].Outcome != explain.NotKnown {
		t.Errorf("explained as %+v", p)
	}
}

// forget replaces the n configurations in the control topic by another one.
func (r *reloadable) forget(n int) {
	r.t.Helper()
	r.storedAll()
	k := &r.Config().Kafka
	topic := control.Open(control.Options{Kafka: k.Options(), RequestTimeout: k.RequestTimeout, Topic: k.Control()})
	defer topic.Close()
	_, kept, err := topic.Marks(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	var other []control.Configuration
	for _, c := range kept {
		c.Written = filtered("n % 5 == 0")
		other = append(other, c)
	}
	if err := topic.Keep(r.t.Context(), other); err != nil || len(other) != n {
		r.t.Fatalf("%d kept, %v", len(other), err)
	}
}

// TestMarkThatWasLostIsWrittenBeforeTheNextRecord reloads a filter while marks cannot be written, for a moment, or until the process has
// been killed and started again with the new filter. It checks that nothing is read by the new filter before the mark is written, so that
// verify does not take what the earlier filter kept for extra and delete it.
func TestMarkThatWasLostIsWrittenBeforeTheNextRecord(t *testing.T) {
	t.Parallel()
	for name, killed := range map[string]bool{"for a moment": false, "until the process is killed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startLines(t, lines)
			r.publish("moving", 0, 100)
			r.settled("moving.rows", 100)
			r.settled("moving.documents", 100)
			var fails atomic.Bool
			fails.Store(true)
			r.FailMarks(func() error {
				if fails.Load() {
					return errors.New("the topic has no leader")
				}
				return nil
			})
			if result := r.reload(filtered("n % 2 == 0"), reload.Applied); result.Unrecorded == "" {
				t.Errorf("marks were written: %+v", result)
			}
			r.publish("moving", 100, 100)
			r.unmarked()
			settled := int64(200)
			if killed { // the last commits name the new filter, and there is no mark
				r.stop()
				r.startAgain()
				settled = 100
			}
			fails.Store(false)
			r.settled("moving.rows", settled)
			r.settled("moving.documents", settled)
			check := r.check(false)
			if report := ran(t, check); report.Problems() > 0 || report.Sources[0].Unknown > 0 {
				t.Errorf("found %+v", report)
			}
			if n, err := check.DeleteExtra(t.Context()); n != 0 || err == nil {
				t.Errorf("%d rows were deleted, %v", n, err)
			}
			if n := r.rows("moving"); n != 100+50 {
				t.Errorf("%d rows, want %d", n, 100+50)
			}
		})
	}
}

// TestSecondReloadBeforeTheMarkOfTheFirst changes a filter while marks cannot be written, by a reload or by a start, so that the partitions
// wait, and reloads again: to a third filter, or back to the first. It checks that what was read before counts as read by the filter that
// read it, not by the one that never did.
func TestSecondReloadBeforeTheMarkOfTheFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		third   string
		started bool
	}{
		"reloads to a third filter":         {filtered("n % 3 == 0"), false},
		"reloads back to the first":         {lines, false},
		"a start and a reload to a third":   {filtered("n % 3 == 0"), true},
		"a start and a reload to the first": {lines, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startLines(t, lines, "moving.rows")
			r.publish("moving", 0, 100)
			r.settled("moving.rows", 100)
			r.write(filtered("n % 2 == 0"))
			never, _, err := r.source()
			if err != nil {
				t.Fatal(err)
			}
			fail := func(s *service.Service) {
				s.FailMarksOf(func(m control.Mark) error {
					if m.Is == reload.MeaningOf(never.Pipeline("moving").Halves()[0]) {
						return errors.New("the topic has no leader")
					}
					return nil
				})
			}
			if c.started {
				r.storedAll()
				r.stop()
				r.startAgain(fail)
			} else {
				fail(r.Service)
				r.reload(filtered("n % 2 == 0"), reload.Applied)
			}
			r.unmarked()
			r.reload(c.third, reload.Applied)
			r.publish("moving", 100, 60)
			r.committed(160 / devstack.Partitions)
			if report := ran(t, r.checkOf(false, "moving.rows")); report.Problems() > 0 || report.Sources[0].Unknown > 0 {
				t.Errorf("found %+v", report)
			}
		})
	}
}

// unmarked waits until all partitions of moving.rows wait because they cannot be marked.
func (r *reloadable) unmarked() {
	r.t.Helper()
	r.wait("the partitions wait until they are marked", func() bool {
		status, _ := r.Half("moving.rows").Running()
		waiting := 0
		for _, p := range status.Partitions {
			if p.Reason == ingest.OtherConfiguration && strings.Contains(p.Detail, "no leader") {
				waiting++
			}
		}
		return waiting == devstack.Partitions
	})
}

// startAgain starts the service again, which has stopped, with the configuration as it is now. What is asked for is done before it runs.
func (r *reloadable) startAgain(before ...func(*service.Service)) {
	r.t.Helper()
	cfg, _, err := r.source()
	if err != nil {
		r.t.Fatal(err)
	}
	s, err := service.Open(r.t.Context(), cfg, service.Options{For: service.ToRun, Log: slog.New(slog.DiscardHandler), Source: r.source})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, do := range before {
		do(s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.running = &running{s, r.t, cancel, make(chan error, 1)}
	go func() { r.ended <- s.Run(ctx) }()
	r.t.Cleanup(r.stop)
}

// TestReplayWritesByTheFilterOfTheTime checks that a replay writes the same rows as before, unless it is asked to write all as configured
// now.
func TestReplayWritesByTheFilterOfTheTime(t *testing.T) {
	t.Parallel()
	r := startFiltered(t)
	asked := replays.Asked{From: "earliest", Into: []string{"copy"}}
	d, err := r.diff(asked)
	if err != nil || d.New != filteredRows {
		t.Errorf("the diff says %+v, %v, want %d new rows", d, err, filteredRows)
	}
	if err := r.replay(asked); err != nil {
		t.Fatal(err)
	}
	if n := r.rows("copy"); n != filteredRows {
		t.Errorf("%d rows, want %d", n, filteredRows)
	}
	asked.AsConfigured, asked.Into = true, []string{"another"}
	if err := r.replay(asked); err != nil {
		t.Fatal(err)
	}
	if n := r.rows("another"); n != 67+66+67 { // what the current filter keeps of each hundred
		t.Errorf("%d rows as configured now, want %d", n, 67+66+67)
	}
	if p := r.explain(0, 1); p.Configured != explain.Earlier || p.Halves[0].Outcome != explain.Written {
		t.Errorf("explained as %+v", p)
	}
	if p := r.explain(0, 74); p.Configured != "" {
		t.Errorf("a record of now is explained as %+v", p)
	}
}

// set plans replays of moving with the current file.
func (r *reloadable) set(asked replays.Asked) (*config.Config, *replays.Set, error) {
	r.t.Helper()
	cfg, _, err := r.source()
	if err != nil {
		r.t.Fatal(err)
	}
	set, err := replays.New(cfg, cfg.Pipeline("moving"), asked, time.Now())
	if err != nil {
		r.t.Fatal(err)
	}
	return cfg, set, set.Plan(r.t.Context(), func(*service.Replay) {})
}

func (r *reloadable) replay(asked replays.Asked) error {
	r.t.Helper()
	cfg, set, err := r.set(asked)
	if err != nil {
		return err
	}
	left, err := set.Left()
	if err != nil {
		return err
	}
	if len(asked.Into) > 0 {
		if _, err := set.CreateShadows(r.t.Context(), r.Client()); err != nil {
			return err
		}
	}
	s, err := service.OpenReplays(r.t.Context(), cfg, service.Options{Log: slog.New(slog.DiscardHandler)}, left)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, err := range set.Run(context.WithoutCancel(r.t.Context()), left) {
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reloadable) diff(asked replays.Asked) (*replays.Diff, error) {
	r.t.Helper()
	asked.Diff = 1000
	_, set, err := r.set(asked)
	if err != nil {
		return nil, err
	}
	of, err := set.DiffOf()
	if err != nil {
		return nil, err
	}
	return set.Diff(r.t.Context(), r.Client(), of)
}

// explain explains a record through the pipeline moving.
func (r *reloadable) explain(partition int, offset int64) explain.Pipeline {
	r.t.Helper()
	report, err := r.Explain(r.t.Context(), "moving", partition, offset)
	if err != nil {
		r.t.Fatal(err)
	}
	if len(report.Pipelines) != 1 {
		r.t.Fatalf("%d pipelines", len(report.Pipelines))
	}
	return report.Pipelines[0]
}

// TestFilterThatWasChangedByARestart checks that the filter is unknown between the marks of two reloads if the second started with another
// filter than the first ended with.
func TestFilterThatWasChangedByARestart(t *testing.T) {
	t.Parallel()
	r := startFiltered(t)
	cfg := r.Config()
	k := &cfg.Kafka
	topic := control.Open(control.Options{Kafka: k.Options(), RequestTimeout: k.RequestTimeout, Topic: k.Control()})
	defer topic.Close()
	marks, _, err := topic.Marks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range marks {
		if m := &marks[i]; m.Partition == 0 && m.Offset == 50 { // of the second reload
			m.Was = "of another"
		}
	}
	if err := topic.Mark(t.Context(), marks); err != nil {
		t.Fatal(err)
	}
	notes, err := service.Former(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	h := notes.Of(cfg.Pipeline("moving").Halves()[0])
	for offset, want := range map[int64]string{24: "known", 25: "unknown", 49: "unknown", 50: "now"} {
		i, _ := h.At(0, offset)
		got := "now"
		switch {
		case i != eras.Present && h.Known(i):
			got = "known"
		case i != eras.Present:
			got = "unknown"
		}
		if got != want {
			t.Errorf("offset %d: the filter is %s, want %s", offset, got, want)
		}
	}
}
