package verify_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"brine/indexer"
	"brine/rowkey"
	"brine/sink"
	"brine/verify"
)

// sourceOf returns a source that writes rows into tables, or documents into indexes.
func sourceOf(t *testing.T, name string, documents bool, targets ...string) verify.Source {
	s := verify.Source{Name: name}
	for _, target := range targets {
		if documents {
			if s.Documents == nil {
				s.Documents = &indexer.Options{}
			}
			s.Documents.Documents = append(s.Documents.Documents, indexer.Document{Index: target, Key: key(t, "id"), Changes: indexer.Whole, Keep: time.Hour})
			continue
		}
		if s.Rows == nil {
			s.Rows = &sink.Options{}
		}
		s.Rows.Rows = append(s.Rows.Rows, sink.Rows{Table: sink.Table{Name: target, Row: sink.RowEvent, Keys: rowkey.One(key(t, "id"))}})
	}
	return s
}

func TestTablesAreThoseOfTheSourcesOnce(t *testing.T) {
	tables := verify.Tables([]verify.Source{sourceOf(t, "a.rows", false, "x", "y"), sourceOf(t, "b.rows", false, "y"), sourceOf(t, "a.documents", true, "x")}, nil, nil)
	var names []string
	for _, table := range tables {
		name := table.Name
		if table.Documents {
			name = "index " + name
			if !table.Whole || table.TTL[""] != time.Hour {
				t.Errorf("the index is %+v", table)
			}
		} else if !table.Events {
			t.Errorf("the table is %+v", table)
		}
		names = append(names, name)
	}
	if want := []string{"x", "y", "index x"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}

func TestSharedTables(t *testing.T) {
	sources := []verify.Source{sourceOf(t, "a.rows", false, "x", "y"), sourceOf(t, "a.documents", true, "x")}
	for _, c := range []struct {
		other verify.Source
		table string
	}{
		{sourceOf(t, "b", false, "z", "y"), "y"}, {sourceOf(t, "b", false, "z"), ""}, {sourceOf(t, "b", true, "y"), ""}, {sourceOf(t, "b", true, "x"), "x"},
	} {
		if table, by := verify.Shared(sources, []verify.Source{c.other}); table.Name != c.table || (by != nil) != (c.table != "") {
			t.Errorf("%v, by %v, want %q", table, by, c.table)
		}
	}
}

// A round that cannot determine the groups' positions is repeated, and one without commits verifies nothing.
func TestFollowerGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		rounds, verified, failed := 0, 0, 0
		var proved []time.Duration
		f := verify.Follower{
			Options: verify.Options{Sources: []verify.Source{{Name: "a.rows"}}}, Every: time.Minute,
			Committed: func(context.Context) (next, ends []map[int]int64, err error) {
				switch rounds++; rounds {
				case 3:
					return nil, nil, errors.New("no broker")
				case 5:
					cancel()
				}
				return []map[int]int64{{0: 7}}, []map[int]int64{{0: 7}}, nil
			},
			Started: func() {}, Failed: func(error) { failed++ }, Proved: func(at time.Time) { proved = append(proved, time.Since(at)) },
			Verified: func(r *verify.Report) {
				if verified++; r != nil {
					t.Errorf("nothing was committed, and the report is %+v", r)
				}
			},
		}
		began := time.Now()
		if err := f.Run(ctx); err != nil || failed != 1 || verified != 3 || time.Since(began) != 4*time.Minute {
			t.Errorf("%v, %d failed, %d verified, after %v", err, failed, verified, time.Since(began))
		}
		if len(proved) != 3 || slices.Max(proved) != 0 { // no lag, so each time up to the time of the look
			t.Errorf("proved through %v before now", proved)
		}
	})
}
