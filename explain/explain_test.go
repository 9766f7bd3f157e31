package explain

import (
	"bytes"
	"strings"
	"testing"

	"brine/event"
	"brine/hbase"
	"brine/sink"
)

// TestOutcomes checks that the outcome of a record in a half follows from its dead letters, its rejects, what it awaits, and the states of
// what it writes.
func TestOutcomes(t *testing.T) {
	wrote := func(states ...State) Pipeline {
		row := Row{}
		for _, s := range states {
			row.Cells = append(row.Cells, Cell{State: s})
		}
		return Pipeline{Events: []Event{{Rows: []Row{row}}}}
	}
	replayed := int64(1)
	rejected := &Reject{Reason: event.Undecodable}
	fixed := func(f Fixed) Pipeline {
		return Pipeline{Rejected: rejected, Letters: []Letter{{Half: Rows, Replayed: &replayed, Let: "n = 1", Fixed: &f}}}
	}
	for _, c := range []struct {
		name     string
		pipeline Pipeline
		settled  bool
		want     Outcome
		why      string
	}{
		{"as it was written", wrote(Same, Gone), true, Written, ""},
		{"overwritten", wrote(Same, Newer, Hidden), true, Written, "a later change has overwritten some of it; a later delete hides some of it"},
		{"tied and expired", wrote(Tied, Expired), true, Written, "another change of the same version has overwritten some of it; some of it is older than its TTL"},
		{"not there", wrote(Same, Missing), true, NotThere, "its offset is committed; brine verify --repair writes what is missing"},
		{"a delete without effect", wrote(There), true, NotThere, "its offset is committed; brine verify --repair writes what is missing"},
		{"no table", wrote(""), false, NotYet, ""},
		{"not settled", wrote(Older), false, NotYet, ""},
		{"settled by another process a moment ago", wrote(Same), false, Written, ""},
		{"nothing is written", Pipeline{Events: []Event{{LeftOut: event.Tombstone}}}, true, LeftOut, "tombstone"},
		{"a condition", Pipeline{Events: []Event{{Conditions: []Condition{{Place: Place{Setting: "rows[0].when", Env: "BRINE_X"}, Half: Rows}, {Half: Documents}}}}},
			true, LeftOut, "filtered: rows[0].when (BRINE_X)"},
		{"a dead letter", Pipeline{Rejected: rejected, Letters: []Letter{{Half: Rows, Reason: event.Undecodable}}}, true, DeadLetter, "reason undecodable"},
		{"one of the other half", Pipeline{Rejected: rejected, Letters: []Letter{{Half: Documents}}}, true, LetterLost,
			"reason undecodable, and no dead letter holds it; check whether another configuration than this one read it"},
		{"one that was replayed", Pipeline{Rejected: rejected, Letters: []Letter{{Half: Rows, Replayed: &replayed}}}, true, Written,
			"its dead letter was replayed, by a configuration other than this one"},
		{"one that was fixed", Pipeline{Rejected: rejected, Letters: []Letter{{Half: Rows, Replayed: &replayed, Let: "w = w.trim()\nn = 1"}}}, true, Written,
			"its dead letter was replayed, fixed by w = w.trim(), n = 1"},
		{"one that was fixed, and overwritten", fixed(Fixed{Events: wrote(Newer).Events}), true, Written,
			"its dead letter was replayed, fixed by n = 1; a later change has overwritten some of it"},
		{"one that was fixed, and is not there", fixed(Fixed{Events: wrote(Missing).Events}), true, NotThere,
			"its dead letter was replayed, fixed by n = 1; its offset is committed; brine verify --repair writes what is missing"},
		{"one that was fixed, and is left out", fixed(Fixed{Events: []Event{{LeftOut: event.Filtered}}}), true, LeftOut,
			"its dead letter was replayed, fixed by n = 1; filtered"},
		{"one that was fixed before a field was renamed", fixed(Fixed{Problem: "no field n"}), true, Written,
			"its dead letter was replayed, fixed by n = 1; no field n"},
		{"one whose fix is rejected now", fixed(Fixed{Rejected: rejected}), true, Written,
			"its dead letter was replayed, fixed by n = 1; the current configuration rejects it even so: reason undecodable"},
		{"one that is to be", Pipeline{Rejected: rejected}, false, WillBeOne, "reason undecodable"},
		{"letters that were not read", Pipeline{Rejected: rejected, Unread: "many"}, true, LetterMaybe, "reason undecodable"},
		{"rejected by the documents alone", Pipeline{Events: []Event{{Rejected: []Reject{{Half: Documents}}, Rows: []Row{{Cells: []Cell{{State: Same}}}}}}}, true, Written, ""},
		{"its schema is awaited", Pipeline{Awaits: &Reject{Reason: event.Unavailable, Detail: "down"}}, false, NotYet, "unavailable: down"},
		{"its row is awaited", Pipeline{Events: []Event{{Awaits: &Reject{Reason: event.Awaited, Detail: "no row"}}}}, false, NotYet, "awaited: no row"},
	} {
		got, why := c.pipeline.outcome(&Half{Half: Rows, Settled: c.settled})
		if got != c.want || why != c.why {
			t.Errorf("%s: %s, %q; expected %s, %q", c.name, got, why, c.want, c.why)
		}
	}
}

// TestDeletesAreUndone checks that what a delete of the mutation hides must not exist, and that puts of the same mutation do not count.
func TestDeletesAreUndone(t *testing.T) {
	cell := func(typ hbase.CellType, column string, version int64) hbase.Cell {
		family, qualifier, _ := strings.Cut(column, ":")
		c := hbase.Cell{Family: []byte(family), Timestamp: version, Type: typ}
		if qualifier != "" {
			c.Qualifier = []byte(qualifier)
		}
		return c
	}
	put := cell(hbase.Put, "e:a", 5)
	for _, c := range []struct {
		name  string
		del   hbase.Cell
		found hbase.Cell
		want  bool
	}{
		{"an older cell", cell(hbase.DeleteFamily, "e", 4), cell(hbase.Put, "e:b", 3), true},
		{"of another family", cell(hbase.DeleteFamily, "e", 4), cell(hbase.Put, "f:b", 3), false},
		{"a newer one", cell(hbase.DeleteFamily, "e", 4), cell(hbase.Put, "e:b", 5), false},
		{"its own", cell(hbase.DeleteFamily, "e", 5), put, false},
		{"the column's", cell(hbase.DeleteColumn, "e:b", 5), cell(hbase.Put, "e:b", 5), true},
		{"another column's", cell(hbase.DeleteColumn, "e:b", 5), cell(hbase.Put, "e:c", 5), false},
	} {
		if got := undone(&mutation{cells: []hbase.Cell{put, c.del}}, &c.del, []hbase.Cell{c.found}); got != c.want {
			t.Errorf("%s: %t, expected %t", c.name, got, c.want)
		}
	}
}

func shownText(text string) *sink.Shown {
	s := sink.ShownText(text)
	return &s
}

// TestPrintEscapes checks that nothing in a record controls a terminal, and that long texts are shortened.
func TestPrintEscapes(t *testing.T) {
	at, hostile := int64(0), "a\x1b[2J\nb"
	r := Report{Topic: "t", Timestamp: &at, Key: &hostile, Pipelines: []Pipeline{{Pipeline: "p", Events: []Event{{
		Fields: []Field{{Name: "f", Type: "text", text: hostile}, {Name: "long", Type: "text", text: strings.Repeat("é", 200)}},
		Rows:   []Row{{Table: "t", Row: hostile, Cells: []Cell{{Column: "e:a", Write: "delete_column", State: There}, {Column: "e:b", Write: "put", Value: shownText(hostile)}}}},
	}}, Letters: []Letter{{Half: Rows, Detail: hostile}}, Rejected: &Reject{Detail: hostile}}}}
	var out bytes.Buffer
	r.Print(&out)
	if text := out.String(); strings.Contains(text, "\x1b") || strings.Contains(text, "\nb") || !strings.Contains(text, "… (400 bytes)") {
		t.Errorf("printed\n%s", text)
	}
}
