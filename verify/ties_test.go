package verify_test

import (
	"fmt"
	"testing"

	"brine/indexer"
	"brine/sink"
	"brine/verify"
)

// ties formats the ties of a report, one line for each table and index.
func ties(r *verify.Report) (out string) {
	for _, t := range r.Tables {
		out += fmt.Sprint(t.Ties)
		if t.Tie != nil {
			out += fmt.Sprintf(" %s %s +%d", t.Tie.Key, t.Tie.Column, t.Tie.Version-base.UnixMilli())
			for _, rec := range t.Tie.Records {
				out += fmt.Sprintf(" %d@%d", rec.Partition, rec.Offset)
			}
		}
		out += "\n"
	}
	return out
}

func TestTiesAreCounted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		changes indexer.Changes
		events  bool
		records []string
		want    string // rows, then documents
	}{
		{name: "two changes of one row in one millisecond", changes: indexer.Partial,
			records: []string{change("o1", 1, `"status":"created"`), change("o1", 1, `"status":"paid"`), change("o2", 1, `"status":"paid"`)},
			want:    "1 o1 f:status +1 0@0 1@0\n1 o1 status +1 0@0 1@0\n"},
		{name: "the same change again, at another offset", changes: indexer.Partial,
			records: []string{change("o1", 1, `"status":"paid"`), change("o1", 1, `"status":"paid"`), "", change("o1", 1, `"status":"paid"`)},
			want:    "0\n0\n"},
		{name: "a repeat of one of two", changes: indexer.Partial,
			records: []string{change("o1", 1, `"status":"paid"`), change("o1", 1, `"status":"paid"`), change("o1", 1, `"status":"sent"`)},
			want:    "1 o1 f:status +1 0@0 2@0\n1 o1 status +1 0@0 2@0\n"},
		{name: "other columns", changes: indexer.Partial,
			records: []string{change("o1", 1, `"status":"paid"`), change("o1", 1, `"note":"x"`)}, want: "0\n0\n"},
		{name: "whole documents of other fields replace each other", changes: indexer.Whole,
			records: []string{change("o1", 1, `"status":"paid"`), change("o1", 1, `"note":"x"`)}, want: "0\n1 o1  +1 0@0 1@0\n"},
		{name: "a newer change decides", changes: indexer.Whole,
			records: []string{change("o1", 1, `"status":"created"`), change("o1", 1, `"status":"paid"`), change("o1", 2, `"status":"sent"`)},
			want:    "0\n0\n"},
		{name: "the first by key is shown", changes: indexer.Partial,
			records: []string{change("o6", 1, `"status":"a"`), change("o6", 1, `"status":"b"`), "", change("o4", 1, `"note":"a"`), change("o4", 1, `"note":"b"`), "",
				change("o1", 1, `"total":1`), change("o1", 1, `"total":2`)},
			want: "3 o1 f:total +1 0@2 1@2\n3 o1 total +1 0@2 1@2\n"},
		{name: "rows of events collide, and do not tie", changes: indexer.Partial, events: true,
			records: []string{change("o1", 1, `"status":"created"`), change("o1", 1, `"status":"paid"`)}, want: "0\n1 o1 status +1 0@0 1@0\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, embeddedHBase)
			w.indexed(c.changes)
			if c.events {
				w.rows.Rows[0].Table.Row = sink.RowEvent
			}
			for i, value := range c.records {
				if value == "" { // so that the positions of the others are as in the test
					c.records[i] = change("other", int64(i), `"status":"x"`)
				}
			}
			w.send(c.records...)
			w.write()
			for _, full := range []bool{true, false} {
				o := w.options()
				o.Full = full
				r := w.check(o)
				if got := ties(r); got != c.want {
					t.Errorf("full %v: ties\n%sexpected\n%s", full, got, c.want)
				}
				if r.Problems() > 0 && !c.events {
					t.Errorf("ties are no problems:\n%s", found(r))
				}
			}
		})
	}
}
