package query

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"brine/event"
	"brine/hbase"
	"brine/rowkey"
	"brine/search"
)

// order is an order of a user, in its row and in its document.
type order struct {
	user    string
	created int64
	status  string
}

// shop fills both stores; the index returns its documents as they are, whatever the query.
func shop(t *testing.T, table Table, orders ...order) (*store, *asked) {
	t.Helper()
	s, docs := &store{}, &asked{}
	for i, o := range orders {
		row, err := table.Keys[0].Key.Append(nil, []rowkey.Value{rowkey.TextValue(o.user), rowkey.TimeValue(o.created), rowkey.TextValue(fmt.Sprint("o", o.created))})
		if err != nil {
			t.Fatal(err)
		}
		cell := func(family, qualifier, value string) hbase.Cell {
			return hbase.Cell{Row: row, Family: []byte(family), Qualifier: []byte(qualifier), Value: []byte(value), Timestamp: o.created}
		}
		s.insert(hbase.Result{Row: row, Cells: []hbase.Cell{cell("b", "s", o.status), cell("x", "n", "a note")}})
		docs.hits = append(docs.hits, search.Hit{Row: row, Version: o.created, Cursor: search.Cursor(fmt.Sprintf(`[%d,""]`, i+1)),
			Fields: map[string]any{"user": o.user, "made": o.created, "status": o.status}})
	}
	return s, docs
}

// insert inserts a row at its position.
func (s *store) insert(r hbase.Result) {
	at, _ := slices.BinarySearchFunc(s.rows, r.Row, func(have hbase.Result, row []byte) int { return bytes.Compare(have.Row, row) })
	s.rows = slices.Insert(s.rows, at, r)
}

// times formats rows by the time they were created.
func times(rows []Found) string {
	var out []string
	for _, f := range rows {
		for _, x := range f.Fields {
			if x.Name == "created" {
				out = append(out, fmt.Sprint(x.Value.Int()))
			}
		}
	}
	return strings.Join(out, " ")
}

func TestViewAnswersFromTheKeyInPages(t *testing.T) {
	v := shopView(t)
	orders := []order{{"other", 3, "paid"}}
	for i := range 8 {
		orders = append(orders, order{"u1", int64(10 + i), "paid"})
	}
	s, docs := shop(t, v.Table, orders...)
	r, err := Open(v, s, docs)
	if err != nil {
		t.Fatal(err)
	}
	ask := Request{Args: []string{"user=u1"}}
	first, err := r.Page(t.Context(), ask)
	if err != nil || times(first.Rows) != "17 16 15" || first.ByIndex || first.Next == "" || len(docs.pages) != 0 {
		t.Fatalf("%s, next %q, by the index %v (%d calls): %v", times(first.Rows), first.Next, first.ByIndex, len(docs.pages), err)
	}
	late, _ := shop(t, v.Table, order{"u1", 18, "new"}, order{"u1", 14, "again"})
	s.insert(late.rows[0])
	s.insert(late.rows[1])
	s.rows = slices.DeleteFunc(s.rows, func(r hbase.Result) bool { return bytes.Equal(r.Row, first.Rows[2].Key) })
	ask.After = first.Next
	second, err := r.Page(t.Context(), ask)
	if err != nil || !strings.HasPrefix(times(second.Rows), "14") || strings.Contains(times(second.Rows), "15") {
		t.Errorf("behind a row that is gone, with a newer one before it: %s, %v", times(second.Rows), err)
	}
	ask.After, ask.Limit = second.Rows[0].cursor(), 10
	rest, err := r.Page(t.Context(), ask)
	if err != nil || times(rest.Rows) != "14 13 12 11 10" && times(rest.Rows) != "13 12 11 10" || rest.Next != "" {
		t.Errorf("the rest: %s, next %q, %v", times(rest.Rows), rest.Next, err)
	}
	ask = Request{Args: []string{"user=u1", "created=1970-01-01T00:00:00.011Z..13"}}
	if p, err := r.Page(t.Context(), ask); err != nil || times(p.Rows) != "12 11" {
		t.Errorf("a range: %s, %v", times(p.Rows), err)
	}
}

func (f *Found) cursor() Cursor { return Cursor(f.After) }

func TestViewAsksTheIndexForWhatTheKeyLacks(t *testing.T) {
	v := shopView(t)
	s, docs := shop(t, v.Table, order{"u1", 5, "paid"}, order{"u1", 4, "paid"}, order{"u1", 3, "paid"}, order{"u1", 2, "paid"})
	r, err := Open(v, s, docs)
	if err != nil {
		t.Fatal(err)
	}
	ask := Request{Args: []string{"user=u1", `status=paid,a\,b`, "items=green tea..", "created=2..9"}, Limit: 2}
	p, err := r.Page(t.Context(), ask)
	if err != nil || times(p.Rows) != "5 4" || !p.ByIndex || s.gets != 1 {
		t.Fatalf("%s, by the index %v, %d batched gets, %v", times(p.Rows), p.ByIndex, s.gets, err)
	}
	want := `{orders [] [{user u1} {status [paid a,b]} {items green tea..} {made 2 9}] [] [{made true}] 2  false false []}`
	if got := fmt.Sprint(docs.last); got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	ask.After = p.Next
	if p, err = r.Page(t.Context(), ask); err != nil || times(p.Rows) != "3 2" {
		t.Errorf("the second page: %s, %v", times(p.Rows), err)
	}
	slices.Reverse(ask.Args)
	if _, err = r.Page(t.Context(), ask); err != nil {
		t.Errorf("arguments in another order are the same question: %v", err)
	}
	for _, other := range []Request{{Args: []string{"user=u1", "status=paid"}, After: p.Next}, {Args: []string{"user=u1"}, After: p.Next}} {
		if _, err := r.Page(t.Context(), other); err == nil || !strings.Contains(err.Error(), "cursor: belongs to another view or other arguments") {
			t.Errorf("%v: %v", other, err)
		}
	}
}

func TestViewReadsTheOtherFamiliesLater(t *testing.T) {
	v := shopView(t)
	v.Families = []string{"b"}
	s, docs := shop(t, v.Table, order{"u1", 5, "paid"})
	r, err := Open(v, s, docs)
	if err != nil {
		t.Fatal(err)
	}
	show := func(row Row) (out string) {
		for _, f := range row.Fields {
			out += f.Name + " "
		}
		return out
	}
	p, err := r.Page(t.Context(), Request{Args: []string{"user=u1"}})
	if err != nil || show(p.Rows[0].Row) != "user created order status deleted " {
		t.Fatalf("a page shows %s, %v", show(p.Rows[0].Row), err)
	}
	whole, err := r.Whole(t.Context(), p.Rows[0].Row)
	if err != nil || show(whole[0]) != "user created order status deleted note " {
		t.Errorf("opened: %v, %v", whole, err)
	}
	if p, err = r.Page(t.Context(), Request{Args: []string{"user=u1"}, Whole: true}); err != nil || show(p.Rows[0].Row) != "user created order status deleted note " {
		t.Errorf("a whole page shows %s, %v", show(p.Rows[0].Row), err)
	}
}

func TestViewCounts(t *testing.T) {
	v := shopView(t)
	v.Counts = []string{"status"}
	s, docs := shop(t, v.Table, order{"u1", 5, "paid"}, order{"u1", 4, "paid"})
	r, err := Open(v, s, docs)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Count(t.Context(), Request{Args: []string{"user=u1"}})
	if err != nil || fmt.Sprint(got) != "{2 true [{status [{paid 2}]}]}" || docs.last.Size != 1 || !docs.last.Count {
		t.Errorf("by the index: %v, %+v, %v", got, docs.last, err)
	}
	r.docs = nil
	if got, err = r.Count(t.Context(), Request{Args: []string{"user=u1"}}); err != nil || got.Rows != 2 || got.ByIndex {
		t.Errorf("by the key: %v, %v", got, err)
	}
	for _, args := range [][]string{{"created=5"}, {"user=u1", "status=paid"}} {
		if got, err = r.Count(t.Context(), Request{Args: args}); err == nil {
			t.Errorf("%v: counted %v, without what it needs", args, got)
		}
	}
}

func TestViewShowsRowsOfAnotherTable(t *testing.T) {
	orders, s := ordersTable(t), rowsOf(change{"u1", "paid", 1, false}, change{"u2", "gone", 1, true})
	key, err := rowkey.Parse(`reverse(id)`, []rowkey.Field{{Name: "id", Type: rowkey.Text}})
	if err != nil {
		t.Fatal(err)
	}
	ids := Table{Name: "ids", Keys: rowkey.One(key), Columns: []Column{{Family: "k", Qualifier: "u", Field: "user", Type: event.Text}}}
	for id, user := range map[string]string{"21": "u1", "22": "u2"} {
		row, _ := key.Append(nil, []rowkey.Value{rowkey.TextValue(id)})
		s.insert(hbase.Result{Row: row, Cells: []hbase.Cell{{Row: row, Family: []byte("k"), Qualifier: []byte("u"), Value: []byte(user), Timestamp: 1}}})
	}
	r, err := Open(View{Name: "order", Table: ids, Where: args(t, "id"), Get: &orders, Limit: 1}, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"21": "u1", "22": "", "2": ""} {
		p, err := r.Page(t.Context(), Request{Args: []string{"id=" + id}})
		got := ""
		if len(p.Rows) > 0 {
			got = string(p.Rows[0].Key)
		}
		if got != want || err != nil {
			t.Errorf("id %s is %q, want %q: %v", id, got, want, err)
		}
	}
}

func FuzzViewCursor(f *testing.F) {
	v := shopView(f)
	q, err := v.Question(Request{Args: []string{"user=u1"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(q.cursor("place")))
	f.Add("")
	f.Add(strings.Repeat("A", 20))
	f.Fuzz(func(t *testing.T, s string) {
		place, err := q.open(Cursor(s))
		if err == nil && s != "" && q.cursor(place) != Cursor(s) {
			t.Fatalf("%q opens as %q, whose cursor is %q", s, place, q.cursor(place))
		}
		_, _ = v.Question(Request{Args: []string{"user=u1"}, After: Cursor(s)})
	})
}

// FuzzViewArguments checks that any input is either a question that the stores accept, or a fault.
func FuzzViewArguments(f *testing.F) {
	v := shopView(f)
	for _, s := range []string{"2025-01-01..", "==", "..=", "a,b", `\,`, "\x00", "1..2..3"} {
		f.Add("u", s, s, s)
	}
	f.Fuzz(func(t *testing.T, user, created, items, status string) {
		_, err := v.Question(Request{Args: []string{"user=" + user, "created=" + created, "items=" + items, "status=" + status}})
		if _, ok := err.(*Fault); err != nil && !ok { //nolint:errorlint // the type itself is wanted
			t.Fatalf("%T: %v", err, err)
		}
	})
}
