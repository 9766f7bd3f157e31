package query

import (
	"context"
	"slices"
	"testing"

	"brine/hbase"
)

// TestStatesOfNarrowTables checks that what the families that were read cannot show of a row is decided by all families.
func TestStatesOfNarrowTables(t *testing.T) {
	v := shopView(t)
	v.Families = []string{"b"}
	s, docs := shop(t, v.Table, order{"u1", 9, "paid"}, order{"u1", 8, "paid"}, order{"u1", 7, "paid"})
	for i := range s.rows {
		cells := s.rows[i].Cells
		cells[0].Timestamp, cells[1].Timestamp = 10, 30 // the note is the newest cell of the row
	}
	s.rows[2].Cells = s.rows[2].Cells[1:]     // the third row only has the note
	docs.hits[1].Fields["status"] = "created" // the index lags: at version 20 it has not seen the note
	for i := range docs.hits {
		docs.hits[i].Version = 20
	}
	r, err := Open(v, narrow{s}, docs)
	if err != nil {
		t.Fatal(err)
	}
	page, err := r.Page(t.Context(), Request{Args: []string{"user=u1", "status=paid,created"}})
	if err != nil || len(page.Rows) != 3 {
		t.Fatalf("%+v, %v", page, err)
	}
	for i, want := range []State{Same, Older, Older} {
		if got := page.Rows[i].State; got != want {
			t.Errorf("row %d is %q, want %q", i, got, want)
		}
	}
	if s.gets != 2 {
		t.Errorf("%d batched gets, want one for the page and one for what differs", s.gets)
	}
}

// narrow is a store that returns only the requested columns.
type narrow struct{ *store }

func (n narrow) GetAll(ctx context.Context, table string, gets []hbase.Get) ([]hbase.Result, error) {
	results, err := n.store.GetAll(ctx, table, gets)
	out := make([]hbase.Result, len(results))
	for i, r := range results {
		out[i].Row = r.Row
		for _, c := range r.Cells {
			asked := func(a hbase.Column) bool {
				return string(a.Family) == string(c.Family) && string(a.Qualifier) == string(c.Qualifier)
			}
			if slices.ContainsFunc(gets[i].Columns, asked) {
				out[i].Cells = append(out[i].Cells, c)
			}
		}
	}
	return out, err
}
