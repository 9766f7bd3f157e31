package verify_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"brine/event"
	"brine/sink"
	"brine/verify"
)

// TestRecordsAreRowsOrDeadLetters puts records into the topic that cannot be written: each must be a dead letter, and one that is not is
// lost.
func TestRecordsAreRowsOrDeadLetters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, embeddedHBase)
	w.send(change("o1", 0, `"status":"created"`), `no JSON`, `{"at":5}`, change("o2", 0, `"status":"created"`))
	w.write()
	r := w.check(w.options())
	if got := found(r); got != "" || r.Rejected != 2 || r.Lost != 0 {
		t.Errorf("found %s%d rejected, %d lost, expected 2 and 0", got, r.Rejected, r.Lost)
	}
	o := w.options()
	o.Sources[0].Letters = only(o.Sources[0].Letters, 1)
	want := "lost row   2@0: the record cannot be written (missing_field), but there is no dead letter for it; a purge may have deleted that\n"
	if r := w.check(o); found(r) != want || r.Rejected != 1 || r.Lost != 1 || r.Problems() != 1 {
		t.Errorf("found %s%d rejected, %d lost", found(r), r.Rejected, r.Lost)
	}
}

// TestNothingIsExtraWhileARecordHasNoDeadLetter: a replay may have fixed the record before its dead letter was deleted, with the fix in it.
// Then a row that no record accounts for is that record's.
func TestNothingIsExtraWhileARecordHasNoDeadLetter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, embeddedHBase)
	w.send(change("o1", 0, `"status":"created"`), `{"at":5}`)
	w.write()
	w.put("fixed", "f", "status", 5, "paid")
	o := w.options()
	o.Full, o.Sources[0].Letters = true, only(o.Sources[0].Letters, -1)
	c, r := w.verify(o)
	if r.Lost != 1 || r.Tables[0].Found[verify.Extra] != 1 {
		t.Fatalf("found %s%d lost", found(r), r.Lost)
	}
	refused := func(when string) {
		t.Helper()
		if n, err := c.DeleteExtra(t.Context()); n != 0 || err == nil || !strings.Contains(err.Error(), "no dead letter for 1 of the records") {
			t.Errorf("%s: %d rows are deleted, %v", when, n, err)
		}
	}
	refused("before a repair")
	if _, err := c.Again(t.Context()); err != nil {
		t.Fatal(err)
	}
	refused("after it was looked at again")
}

// only returns the dead letters of one partition.
func only(all func(context.Context) iter.Seq2[verify.Letter, error], partition int) func(context.Context) iter.Seq2[verify.Letter, error] {
	return func(ctx context.Context) iter.Seq2[verify.Letter, error] {
		return func(yield func(verify.Letter, error) bool) {
			for l, err := range all(ctx) {
				if l.Partition == partition && !yield(l, err) {
					return
				}
			}
		}
	}
}

// TestWhatIsMissingMayBeADeadLetter verifies an event that a store refused when it was written, and would accept now.
func TestWhatIsMissingMayBeADeadLetter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, embeddedHBase)
	w.send(change("o1", 0, `"status":"created"`), change("o2", 0, `"status":"created","note":"very long, and longer than any cell of this table may be at all"`))
	w.rows.MaxCellBytes = 64
	w.write()
	w.rows.MaxCellBytes = 0
	r := w.check(w.options())
	if got := found(r); got != "" || r.DeadLettered != 1 || r.Problems() != 0 {
		t.Errorf("found %s%d are dead letters, expected 1", got, r.DeadLettered)
	}
	if _, after, records := w.repaired(w.options(), false); after != "" || records != 0 {
		t.Errorf("a dead letter was written again: %d records\n%s", records, after)
	}
}

// TestWhatAReplayHasFixedIsNoDeadLetter checks that if a replay has written a record with a fix, a missing row of it is reported and
// written again with the fix, and that what the pipeline then filters is not expected.
func TestWhatAReplayHasFixedIsNoDeadLetter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, embeddedHBase)
	w.send(change("o1", 0, `"total":"7"`), change("o2", 0, `"total":"8"`), change("o3", 0, `"total":9`))
	w.write()
	fixed := w.schema
	fixed.Fields = slices.Clone(fixed.Fields)
	fixed.Fields[4].Convert.FromText = true
	const missingFixed = "missing row o1  expected 0 0@0: all of it is missing\nmissing row o2  expected 0 1@0: all of it is missing\n"
	for _, c := range []struct {
		name   string
		filter event.Deriver
		full   bool
		want   string
	}{
		{"what is missing", nil, false, missingFixed},
		{"what is missing, with --full", nil, true, missingFixed},
		{"what is filtered", nothing{}, true, ""},
	} {
		o := w.options()
		o.Full = c.full
		letters := o.Sources[0].Letters
		o.Sources[0].Letters = func(ctx context.Context) iter.Seq2[verify.Letter, error] {
			return func(yield func(verify.Letter, error) bool) {
				for l, err := range letters(ctx) {
					l.Let = "total = total"
					l.Record = &event.Record{Topic: w.topic, Partition: l.Partition, Offset: l.Offset, Timestamp: base.UnixMilli(),
						Value: []byte(change(fmt.Sprintf("o%d", l.Partition+1), 0, fmt.Sprintf(`"total":"%d"`, l.Partition+7)))}
					if !yield(l, err) {
						return
					}
				}
			}
		}
		o.Sources[0].Fixed = func(string) (event.Schema, error) {
			s := fixed
			s.Derive = c.filter
			return s, nil
		}
		before, after, records := w.repaired(o, false)
		if before != c.want || after != "" || records != int64(strings.Count(c.want, "\n")) {
			t.Errorf("%s: found\n%safter a repair of %d records\n%s", c.name, before, records, after)
		}
		if err := w.client.DisableTable(t.Context(), w.table); err != nil {
			t.Fatal(err)
		}
		if err := w.client.TruncateTable(t.Context(), w.table, true); err != nil {
			t.Fatal(err)
		}
		w.write()
	}
}

// nothing keeps no event.
type nothing struct{}

func (n nothing) Evaluator() event.Evaluator { return n }

func (nothing) Reads(string) ([]int, bool) { return nil, false }

func (nothing) Sources(string, ...string) []int { return nil }

func (nothing) Derive([]event.Value) (bool, *event.Error) { return false, nil }

func (nothing) DeriveUpdate([]event.Value, []bool, []bool) (bool, *event.Error) { return false, nil }
func (nothing) DeriveFormer([]event.Value) bool                                 { return false }
func (nothing) DeriveDelete([]event.Value, []bool) (bool, *event.Error)         { return false, nil }

// TestTwoEventsOnOneKeyAreNamed writes events into a table whose rows are events: other content on a key is a collision, the same content
// is a repeat.
func TestTwoEventsOnOneKeyAreNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, embeddedHBase)
	w.rows.Rows[0].Table.Row = sink.RowEvent
	w.send(change("o1", 0, `"status":"created"`), change("o2", 0, `"status":"created"`), change("o1", 0, `"status":"created"`),
		change("o1", 5, `"status":"paid"`), change("o2", 0, `"status":"paid"`))
	w.write()
	r := w.check(w.options())
	want := "collided row o1  0@0 0@1: two different events have this key, and one hides the other\n" +
		"collided row o2  1@0 1@1: two different events have this key, and one hides the other\n"
	if got := found(r); got != want {
		t.Errorf("found\n%sexpected\n%s", got, want)
	}
	if n := r.Tables[0].Repeats; n != 3 {
		t.Errorf("%d records beyond the first of a row, expected 3", n)
	}
}
