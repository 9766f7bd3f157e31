package query

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"brine/event"
	"brine/hbase"
	"brine/rowkey"
	"brine/search"
)

// keysTable is an index of the orders table by time and user.
func keysTable(t *testing.T) Table {
	t.Helper()
	key, err := rowkey.Parse(`asc(at, ms) + user`, []rowkey.Field{{Name: "at", Type: rowkey.Time}, {Name: "user", Type: rowkey.Text}})
	if err != nil {
		t.Fatal(err)
	}
	return Table{Name: "by_time", Keys: rowkey.One(key), Columns: []Column{{Family: "e"}}}
}

func TestLookupReadsRowsOfAnotherTable(t *testing.T) {
	index, orders := keysTable(t), ordersTable(t)
	s, keys := rowsOf(change{"u1", "paid", 1, false}, change{"u3", "sent", 1, false}, change{"u5", "gone", 1, true}), &store{}
	var answer []Found
	const n = searchPage + 2
	for i := range n {
		row, err := index.Keys.Newest().Append(nil, []rowkey.Value{{Type: rowkey.Time, Int: int64(i)}, rowkey.TextValue(fmt.Sprintf("u%d", i))})
		if err != nil {
			t.Fatal(err)
		}
		keys.rows = append(keys.rows, hbase.Result{Row: row, Cells: []hbase.Cell{{Row: row, Family: []byte("e"), Timestamp: 7}}})
	}
	for row, err := range Rows(t.Context(), keys, index, nil, Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		answer = append(answer, Found{Row: row, After: "x"})
	}
	failing := errors.New("the answer ends early")
	given := func(yield func(Found, error) bool) {
		for _, f := range answer {
			if !yield(f, nil) {
				return
			}
		}
		yield(Found{}, failing)
	}
	i, there := 0, 0
	var last error
	for f, err := range Lookup(t.Context(), s, orders, given, true) {
		if last = err; err != nil {
			break
		}
		if want := fmt.Sprintf("u%d", i); f.Fields[0].Value.Type != event.Text || string(f.Fields[0].Value.Text()) != want || f.After != "x" {
			t.Fatalf("row %d: %+v", i, f)
		}
		if f.State != NoRow {
			there++
		}
		i++
	}
	if i != n || there != 3 || s.gets != 2 || !errors.Is(last, failing) {
		t.Errorf("%d rows, %d of them there, in %d batched gets, then %v", i, there, s.gets, last)
	}
}

func TestLookupHidesWhatIsDeleted(t *testing.T) {
	s := rowsOf(change{"u1", "paid", 1, false}, change{"u2", "gone", 1, true})
	given := func(yield func(Found, error) bool) {
		for _, user := range []string{"u1", "u2"} {
			yield(Found{Row: Row{Fields: []Field{{"user", event.TextValue(user)}}}}, nil)
		}
	}
	for deleted, want := range map[bool]int{false: 1, true: 2} {
		n := 0
		for _, err := range Lookup(t.Context(), s, ordersTable(t), given, deleted) {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
		if n != want {
			t.Errorf("deleted %v: %d rows", deleted, n)
		}
	}
}

// TestLookupByAFieldThatTheKeyHashes checks that a row leads to another by a field that its key only hashes, and a column holds.
func TestLookupByAFieldThatTheKeyHashes(t *testing.T) {
	answer := func(yield func(Found, error) bool) {
		yield(Found{Row: Row{Fields: []Field{{Name: "user"}, {Name: "user", Value: event.TextValue("u1")}}}}, nil)
	}
	s := rowsOf(change{"u1", "paid", 1, false})
	n := 0
	for f, err := range Lookup(t.Context(), s, ordersTable(t), answer, false) {
		if n++; err != nil || f.State != Same {
			t.Errorf("%+v, %v", f, err)
		}
	}
	if n != 1 {
		t.Errorf("%d rows", n)
	}
}

// TestLookupPassesARowWithoutTheField checks that a row that leads to no other, because it lacks a field of the other's key, is shown as one
// that is not there, and hides none of the others.
func TestLookupPassesARowWithoutTheField(t *testing.T) {
	answer := func(yield func(Found, error) bool) {
		for i, user := range []event.Value{event.TextValue("u1"), {}, event.TextValue("u2")} {
			if !yield(Found{Row: Row{Key: []byte("its own"), Fields: []Field{{Name: "user", Value: user}}}, After: search.Cursor(fmt.Sprint(i))}, nil) {
				return
			}
		}
	}
	s := rowsOf(change{"u1", "paid", 1, false}, change{"u2", "paid", 1, false})
	var got []string
	for f, err := range Lookup(t.Context(), s, ordersTable(t), answer, false) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %s %q %t", f.After, f.State, f.Value("user").Text(), len(f.Key) > 0))
	}
	if want := `0  "u1" true, 1 not in HBase "" false, 2  "u2" true`; strings.Join(got, ", ") != want {
		t.Errorf("%s\nwant\n%s", strings.Join(got, ", "), want)
	}
}

func TestLookupNeedsTheFieldsOfTheKey(t *testing.T) {
	index, orders := keysTable(t), ordersTable(t)
	if err := index.CheckLookup(orders); err != nil {
		t.Error(err)
	}
	if err := orders.CheckLookup(index); err == nil || !strings.Contains(err.Error(), "contains at, which rows of table orders do not") {
		t.Error(err)
	}
}

func TestFamiliesAreChosen(t *testing.T) {
	table := Table{Name: "t", Deleted: "gone", Columns: []Column{{Family: "a", Qualifier: "x", Field: "x"}, {Family: "b", Qualifier: "y", Field: "y"}, {Family: "b", Qualifier: "d", Field: "gone"}}}
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{[]string{"a"}, "x gone"},
		{[]string{"b"}, "y gone"},
		{[]string{"a", "b"}, "x y gone"},
		{[]string{"c"}, "error: no pipeline writes family c of table t; there is a, b"},
	} {
		got, err := table.Families(tt.names)
		var fields []string
		for _, c := range got.Columns {
			fields = append(fields, c.Field)
		}
		shown := strings.Join(fields, " ")
		if err != nil {
			shown = "error: " + err.Error()
		}
		if shown != tt.want || len(table.Columns) != 3 {
			t.Errorf("%v: %s, want %s", tt.names, shown, tt.want)
		}
	}
}
