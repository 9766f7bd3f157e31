package query

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/rowkey"
	"brine/search"
)

// store is a table in memory. It counts the requests.
type store struct {
	mu       sync.Mutex
	rows     []hbase.Result // in order
	gets     int            // batched gets
	scanned  int            // rows returned to scans
	open     int            // scans that have not ended
	mostOpen int
	pause    time.Duration // before the first row of a scan
	fail     []byte        // the row at which scans fail
}

var errStore = errors.New("the store fails")

func (s *store) Scan(ctx context.Context, _ string, scan hbase.Scan) iter.Seq2[hbase.Result, error] {
	return func(yield func(hbase.Result, error) bool) {
		rows := s.begin(scan)
		defer s.end()
		if s.pause > 0 {
			time.Sleep(s.pause)
		}
		if ctx.Err() != nil {
			yield(hbase.Result{}, ctx.Err())
			return
		}
		for n, r := range rows {
			if s.fail != nil && bytes.Equal(r.Row, s.fail) {
				yield(hbase.Result{}, errStore)
				return
			}
			s.mu.Lock()
			s.scanned++
			s.mu.Unlock()
			if scan.Metrics != nil {
				scan.Metrics.RowsScanned++
			}
			if !yield(r, nil) || n+1 == scan.Limit {
				return
			}
		}
	}
}

// begin returns the rows from a scan's start to its stop.
func (s *store) begin(scan hbase.Scan) []hbase.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open++
	s.mostOpen = max(s.mostOpen, s.open)
	if scan.Metrics != nil {
		scan.Metrics.Calls++
		scan.Metrics.Regions++
	}
	at := func(row []byte) int {
		i, _ := slices.BinarySearchFunc(s.rows, row, func(r hbase.Result, row []byte) int { return bytes.Compare(r.Row, row) })
		return i
	}
	to := len(s.rows)
	if scan.Stop != nil {
		to = at(scan.Stop)
	}
	return slices.Clone(s.rows[at(scan.Start):to])
}

func (s *store) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
}

func (s *store) GetAll(_ context.Context, _ string, gets []hbase.Get) ([]hbase.Result, error) {
	s.gets++
	out := make([]hbase.Result, len(gets))
	for i, g := range gets {
		if at := slices.IndexFunc(s.rows, func(r hbase.Result) bool { return bytes.Equal(r.Row, g.Row) }); at >= 0 {
			out[i] = s.rows[at]
		}
	}
	return out, nil
}

// documents is an index in memory, whose cursors are positions.
type documents struct {
	hits  []search.Hit
	pages []int // their requested sizes
	fail  error // of the second page
}

func (d *documents) Search(_ context.Context, q search.Query) (search.Page, error) {
	if len(d.pages) == 1 && d.fail != nil {
		return search.Page{}, d.fail
	}
	from, _ := strconv.Atoi(string(q.After)) // empty is 0
	d.pages = append(d.pages, q.Size)
	page := search.Page{Hits: d.hits[from:min(len(d.hits), from+q.Size)]}
	if len(page.Hits) == q.Size {
		page.Next = page.Hits[q.Size-1].Cursor
	}
	return page, nil
}

// change is the state of one order, in its row or in its document.
type change struct {
	user, status string
	version      int64
	deleted      bool
}

func ordersTable(t *testing.T) Table {
	t.Helper()
	key, err := rowkey.Parse(`user`, []rowkey.Field{{Name: "user", Type: rowkey.Text}})
	if err != nil {
		t.Fatal(err)
	}
	return Table{Name: "orders", Keys: rowkey.One(key), Index: ordersIndex, Deleted: "deleted", Columns: []Column{
		{Family: "b", Qualifier: "s", Field: "status", Type: event.Text},
		{Family: "b", Qualifier: "d", Field: "deleted", Type: event.Bool},
	}}
}

func rowsOf(changes ...change) *store {
	s := &store{}
	for _, c := range changes {
		cell := func(qualifier string, v event.Value) hbase.Cell {
			return hbase.Cell{Row: []byte(c.user), Family: []byte("b"), Qualifier: []byte(qualifier), Value: event.AppendValue(nil, v), Timestamp: c.version}
		}
		r := hbase.Result{Row: []byte(c.user), Cells: []hbase.Cell{cell("s", event.TextValue(c.status))}}
		if c.deleted {
			r.Cells = append(r.Cells, cell("d", event.BoolValue(true)))
		}
		s.rows = append(s.rows, r)
	}
	return s
}

func documentsOf(changes ...change) *documents {
	d := &documents{}
	for i, c := range changes {
		d.hits = append(d.hits, search.Hit{Row: []byte(c.user), Version: c.version, Fields: map[string]any{"status": c.status}, Cursor: search.Cursor(strconv.Itoa(i + 1))})
	}
	return d
}

// found runs a search and formats each row as user:status, its version and its state.
func found(t *testing.T, s *store, d *documents, q search.Query, limit int) (string, error) {
	t.Helper()
	var out []string
	for f, err := range Search(t.Context(), d, s, ordersTable(t), q, limit) {
		if err != nil {
			return strings.Join(out, " "), err
		}
		out = append(out, fmt.Sprintf("%s:%s@%d%s", f.Fields[0].Value.Text(), f.Fields[1].Value.Text(), f.Version, strings.ReplaceAll(string(f.State), " ", "-")))
	}
	return strings.Join(out, " "), nil
}

func TestSearchSaysHowDocumentsStandToTheirRows(t *testing.T) {
	rows := rowsOf(change{"a", "paid", 2, false}, change{"b", "paid", 2, false}, change{"c", "paid", 2, false}, change{"d", "paid", 2, false}, change{"e", "gone", 3, true})
	docs := documentsOf(change{"a", "paid", 2, false}, change{"b", "created", 1, false}, change{"c", "shipped", 3, false},
		change{"d", "cancelled", 2, false}, change{"e", "paid", 2, false}, change{"f", "paid", 7, false})
	got, err := found(t, rows, docs, search.Query{}, 0)
	want := "a:paid@2 b:paid@2index-behind-HBase c:paid@2HBase-behind-index d:paid@2index-and-row-differ f:@7not-in-HBase"
	if got != want || err != nil {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	if rows.gets != 1 {
		t.Errorf("%d batched gets for one page", rows.gets)
	}
	if got, _ := found(t, rows, docs, search.Query{Deleted: true}, 0); !strings.Contains(got, "e:gone@3index-behind-HBase") {
		t.Errorf("deleted rows are wanted: %s", got)
	}
}

func TestSearchPages(t *testing.T) {
	var all []change
	for i := range 1203 {
		all = append(all, change{fmt.Sprintf("u%04d", i), "paid", 1, i%3 == 0})
	}
	rows := rowsOf(all...)
	docs := documentsOf(all...) // as if the index did not know the deletes yet
	got, err := found(t, rows, docs, search.Query{}, 0)
	if n := len(strings.Fields(got)); n != 802 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
	if !slices.Equal(docs.pages, []int{500, 500, 500}) || rows.gets != 3 {
		t.Errorf("pages %v, %d batched gets", docs.pages, rows.gets)
	}
	docs.pages = nil
	if got, err = found(t, rows, docs, search.Query{After: "1"}, 3); got != "u0001:paid@1 u0002:paid@1 u0004:paid@1" || err != nil {
		t.Errorf("the first page behind a cursor is %s, %v", got, err)
	}
	if !slices.Equal(docs.pages, []int{3, 1}) {
		t.Errorf("pages %v: no more is asked for than is missing", docs.pages)
	}
	docs.pages, docs.fail = nil, errors.New("gone")
	if got, err = found(t, rows, docs, search.Query{}, 0); len(strings.Fields(got)) != 333 || !errors.Is(err, docs.fail) {
		t.Errorf("%d rows, then %v", len(strings.Fields(got)), err)
	}
}

func TestDocumentOfAnotherTableIsAnError(t *testing.T) {
	docs := documentsOf(change{user: ""})
	if _, err := found(t, rowsOf(), docs, search.Query{}, 0); err == nil || !strings.Contains(err.Error(), "index orders: table orders: row") {
		t.Errorf("got %v", err)
	}
}

func TestRowsHideWhatIsDeleted(t *testing.T) {
	s := rowsOf(change{"a1", "x", 1, true}, change{"a2", "x", 1, false}, change{"a3", "x", 1, true}, change{"a4", "x", 1, false}, change{"a5", "x", 1, false})
	read := func(o Options) (users string) {
		for row, err := range Rows(t.Context(), s, ordersTable(t), nil, o) {
			if err != nil {
				t.Fatal(err)
			}
			users += string(row.Key) + " "
		}
		return users
	}
	if got := read(Options{Limit: 2}); got != "a2 a4 " {
		t.Errorf("hidden: %s", got)
	}
	s.scanned = 0
	if got := read(Options{Limit: 2, Deleted: true}); got != "a1 a2 " || s.scanned != 2 {
		t.Errorf("shown: %s, %d rows read", got, s.scanned)
	}
}
