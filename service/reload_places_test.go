package service_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"brine/hbase"
	"brine/ingest/control"
	"brine/publish"
	"brine/service"
	"brine/service/brokers"
	"brine/service/devstack"
	"brine/service/reload"
	"brine/service/replays"
	"brine/service/verifications"
	"brine/verify"
)

// verified verifies moving, or one kind of its halves, with the current file, as brine verify does. It returns the report and what was shown.
func (r *reloadable) verified(asked verifications.Asked, kind string) (report *verify.Report, notes string, err error) {
	r.t.Helper()
	return r.verifiedWhile(asked, kind, func() {})
}

// verifiedWhile is verified, and confirms that what is extra be deleted after it has called confirm.
func (r *reloadable) verifiedWhile(asked verifications.Asked, kind string, confirm func()) (report *verify.Report, notes string, err error) {
	r.t.Helper()
	cfg, _, err := r.source()
	if err != nil {
		r.t.Fatal(err)
	}
	asked.Full = true
	if err := asked.Check(time.Now()); err != nil {
		r.t.Fatal(err)
	}
	client := brokers.Open(&cfg.Kafka)
	defer client.Close()
	halves, err := verifications.Halves(cfg, "moving", kind)
	if err != nil {
		r.t.Fatal(err)
	}
	groups, err := brokers.Groups(r.t.Context(), client, cfg, halves, "")
	if err != nil {
		r.t.Fatal(err)
	}
	v, err := verifications.Open(r.t.Context(), cfg, asked, client, groups, service.Options{Log: slog.New(slog.DiscardHandler), Stores: r.Service})
	if err != nil {
		r.t.Fatal(err)
	}
	defer v.Service.Close()
	note := func(format string, _ ...any) { notes += format + "\n" }
	if err := v.Expect(r.t.Context(), note); err != nil {
		r.t.Fatal(err)
	}
	report, err = v.Once(context.WithoutCancel(r.t.Context()), &verifications.Shown{
		Note: note, Report: func(found *verify.Report) { report = found }, Repaired: func(int64, error) {}, Deleted: func(int64, error) {},
		Again: func(*verify.Report) {}, During: func(do func()) { do() }, Confirm: func(int64) error { confirm(); return nil },
	})
	return report, notes, err
}

// reject publishes a record to each partition of moving that cannot be decoded.
func (r *reloadable) reject() {
	r.t.Helper()
	k := &r.Config().Kafka
	sender := publish.NewSender(k.Options(), k.RequestTimeout)
	defer sender.Close()
	for p := range devstack.Partitions {
		if _, err := sender.Send(r.t.Context(), r.on.prefix+"moving", p, []publish.Record{{Value: []byte("no JSON")}}, "", nil); err != nil {
			r.t.Fatal(err)
		}
	}
}

// TestLettersOfAFormerTopicAreNotLost has records rejected before and after the topic of the dead letters is changed by a reload, and by a
// start. It checks that verify finds all of their dead letters.
func TestLettersOfAFormerTopicAreNotLost(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines)
	r.reject()
	r.settled("moving.rows", devstack.Partitions)
	r.settled("moving.documents", devstack.Partitions)
	into := func(topic string) string {
		return strings.Replace(lines, "topic: moving\n", "topic: moving\n    dead_letters: "+topic+"\n", 1)
	}
	r.reload(into("second"), "applied")
	r.reject()
	r.settled("moving.rows", 2*devstack.Partitions)
	r.settled("moving.documents", 2*devstack.Partitions)
	r.stop()
	r.write(into("last"))
	r.startAgain()
	r.reject()
	r.settled("moving.rows", devstack.Partitions)
	r.settled("moving.documents", devstack.Partitions)
	for offset := range int64(3) {
		if p := r.explain(0, offset); len(p.Letters) != 2 {
			t.Errorf("the record at %d has the dead letters %+v, want those of two halves", offset, p.Letters)
		}
	}
	for _, asked := range []verifications.Asked{{}, {AsConfigured: true}} {
		report, _, err := r.verified(asked, "")
		if err != nil || report.Lost != 0 || report.Rejected != 2*3*devstack.Partitions {
			t.Errorf("as configured %v: %+v, %v; want %d dead letters", asked.AsConfigured, report, err, 2*3*devstack.Partitions)
		}
	}
}

// TestExplainFindsLettersOfEachHalf has a record rejected by the documents alone while the dead letters went elsewhere, and by the rows
// later. It checks that explain finds the dead letters of both.
func TestExplainFindsLettersOfEachHalf(t *testing.T) {
	t.Parallel()
	r := startLines(t, strings.Replace(lines, "topic: moving\n", "topic: moving\n    dead_letters: second\n", 1), "moving.documents")
	r.reject()
	r.settled("moving.documents", devstack.Partitions)
	r.storedAll()
	r.stop()
	r.write(lines)
	r.startAgain()
	r.settled("moving.rows", devstack.Partitions)
	if p := r.explain(0, 0); len(p.Letters) != 2 {
		t.Errorf("the record has the dead letters %+v, want those of two halves", p.Letters)
	}
}

// TestRowsOfAFormerTopicAreNotDeleted has a pipeline write from one topic, and then from another, or has another pipeline write the same
// table, which is removed then. It checks that verify --delete-extra leaves alone what came from the topic that is no longer read.
func TestRowsOfAFormerTopicAreNotDeleted(t *testing.T) {
	t.Parallel()
	other := strings.Replace(thirdLine, "table: third", "table: moving", 1)
	for name, c := range map[string]struct{ before, after, first, half, others string }{
		"another topic":               {lines, strings.Replace(lines, "topic: moving\n", "topic: third\n", 1), "moving", "moving.rows", "pipeline moving from topic moving"},
		"a pipeline that was removed": {lines + other, lines, "third", "third.rows", "pipeline third from topic third"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startLines(t, c.before)
			r.publish(c.first, 0, 40)
			r.settled(c.half, 40)
			if c.first == "moving" {
				r.settled("moving.documents", 40)
			}
			r.storedAll()
			r.reload(c.after, "applied")
			report, _, err := r.verified(verifications.Asked{DeleteExtra: true}, "")
			if err == nil || !strings.Contains(err.Error(), c.others) || !strings.Contains(err.Error(), "nothing is deleted") {
				t.Errorf("deleting what is extra ends with %v, want that %s is named", err, c.others)
			}
			if report == nil || report.Problems() > 0 || report.Others() == 0 {
				t.Errorf("found %+v", report)
			}
			if n := r.rows("moving"); n != 40 {
				t.Errorf("%d rows, want 40", n)
			}
		})
	}
}

// TestReloadStoresThePlaceOfWhatItRemoves removes a pipeline by a reload before the start could store where it reads and writes. It checks
// that verify --delete-extra leaves alone what it has written.
func TestReloadStoresThePlaceOfWhatItRemoves(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines)
	r.stop()
	r.write(lines + strings.Replace(thirdLine, "table: third", "table: moving", 1))
	r.startAgain(func(s *service.Service) {
		s.FailKeepOf(func(c control.Configuration) error {
			if c.Pipeline == "steady" { // the start stores all at once
				return errors.New("no leader")
			}
			return nil
		})
	})
	r.publish("third", 0, 40)
	r.settled("third.rows", 40)
	r.reload(lines, reload.Applied)
	_, _, err := r.verified(verifications.Asked{DeleteExtra: true}, "")
	if err == nil || !strings.Contains(err.Error(), "pipeline third from topic third") || r.rows("moving") != 40 {
		t.Errorf("deleting what is extra ends with %v and leaves %d rows, want 40", err, r.rows("moving"))
	}
}

// TestReloadDuringAVerificationDeletesNothing reloads a wider filter, or adds a pipeline to the table, after a verification has read
// everything, and before it deletes what is extra. It checks that nothing is deleted then, and that the error says what has changed.
func TestReloadDuringAVerificationDeletesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ after, changed string }{
		"a wider filter": {filtered("n % 2 == 0 || n % 3 == 0"), "the configuration that moving.rows reads by changed"},
		"another pipeline": {filtered("n % 2 == 0") + strings.Replace(thirdLine, "table: third", "table: moving", 1),
			"what else writes moving (pipeline third from topic third) changed"},
		"nothing": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startLines(t, filtered("n % 2 == 0"))
			r.storedAll()
			r.publish("moving", 0, 40)
			r.settled("moving.rows", 40)
			r.settled("moving.documents", 40)
			r.stray()
			report, _, err := r.verifiedWhile(verifications.Asked{DeleteExtra: true}, service.Rows, func() {
				if c.after != "" {
					r.reload(c.after, "applied")
				}
			})
			want := 21
			if c.after == "" {
				want = 20
				if err != nil {
					t.Error(err)
				}
			} else if err == nil || !strings.Contains(err.Error(), c.changed) || report.Count(verify.Extra) != 1 {
				t.Errorf("deleting what is extra ends with %v after %+v, want %q", err, report, c.changed)
			}
			if n := r.rows("moving"); n != want {
				t.Errorf("%d rows, want %d", n, want)
			}
		})
	}
}

// TestFileThatWasNotReloadedDeletesNothing edits the file of a running brine without a reload. It checks that verify, its --delete-extra and
// replay go by the configuration that reads, and say so, and that nothing is deleted where that is not known any more.
func TestFileThatWasNotReloadedDeletesNothing(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines, "moving.rows")
	r.publish("moving", 0, 100)
	r.settled("moving.rows", 100)
	r.committed(100 / devstack.Partitions)
	r.storedAll()
	r.write(filtered("n % 2 == 0"))
	asked := verifications.Asked{DeleteExtra: true}
	report, notes, err := r.verified(asked, service.Rows)
	if err != nil || report.Problems() > 0 || report.Sources[0].Unknown > 0 || !strings.Contains(notes, "another configuration") {
		t.Errorf("%+v, %v; shown: %s", report, err, notes)
	}
	if err := r.replay(replays.Asked{From: "earliest", Half: service.Rows, Into: []string{"copy"}}); err != nil {
		t.Fatal(err)
	}
	if n := r.rows("copy"); n != 100 {
		t.Errorf("a replay wrote %d rows, want 100", n)
	}
	r.stray()
	if report, _, err = r.verified(asked, service.Rows); err == nil || !strings.Contains(err.Error(), "nothing is deleted") || report.Count(verify.Extra) != 1 {
		t.Errorf("what is extra was deleted: %+v, %v", report, err)
	}
	r.forget(1)
	report, _, err = r.verified(asked, service.Rows)
	if err == nil || !strings.Contains(err.Error(), "nothing is deleted") || report.Problems() != 1 || report.Sources[0].Unknown != 100 {
		t.Errorf("by a configuration that is not known: %+v, %v", report, err)
	}
	if n := r.rows("moving"); n != 101 {
		t.Errorf("%d rows, want 100 and one that is extra", n)
	}
	report, notes, err = r.verified(verifications.Asked{AsConfigured: true}, service.Rows)
	if err != nil || report.Count(verify.Extra) != 51 || notes != "" {
		t.Errorf("as configured: %+v, %v; shown: %s", report, err, notes)
	}
}

// stray puts a row into moving that no record accounts for.
func (r *reloadable) stray() {
	r.t.Helper()
	m, err := r.Client().Mutator(hbase.MutatorOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	b := hbase.NewBatch("moving")
	b.Mutate([]byte("stray"))
	b.Put([]byte("e"), []byte("n"), 1, []byte("stray"))
	if failures, err := m.Submit(r.t.Context(), b).Wait(r.t.Context()); err != nil || len(failures) > 0 {
		r.t.Fatal(err, failures)
	}
}
