package serve_test

import (
	"bytes"
	"context"
	"iter"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"brine/hbase"
	"brine/query"
	"brine/rowkey"
	"brine/serve"
	"brine/serve/written"
)

// late answers scans, once its gate is open, with what the store had when they started, and counts them.
type late struct {
	query.Client
	gate  chan struct{}
	scans atomic.Int64
}

func (l *late) Scan(ctx context.Context, table string, scan hbase.Scan) iter.Seq2[hbase.Result, error] {
	return func(yield func(hbase.Result, error) bool) {
		l.scans.Add(1)
		var rows []hbase.Result
		for r, err := range l.Client.Scan(ctx, table, scan) {
			if err != nil {
				yield(r, err)
				return
			}
			r.Cells = bytesOf(r.Cells)
			rows = append(rows, r)
		}
		if l.gate != nil {
			<-l.gate
		}
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// bytesOf copies cells, because a test changes them in place.
func bytesOf(cells []hbase.Cell) (out []hbase.Cell) {
	for _, c := range cells {
		c.Value = bytes.Clone(c.Value)
		out = append(out, c)
	}
	return out
}

type oneRow []byte

func (oneRow) Len() int         { return 1 }
func (r oneRow) Row(int) []byte { return r }

// writer is a shop whose rows this process writes.
type writer struct {
	*shop
	rows *late
	here written.Rows
}

func newWriter(t *testing.T, change func(*serve.Options)) *writer {
	w := &writer{}
	w.shop = newShop(t, func(o *serve.Options) {
		w.rows = &late{Client: o.Rows}
		o.Rows, o.Written = w.rows, &w.here
		if change != nil {
			change(o)
		}
	})
	return w
}

// writes writes the newest row of W1 as this process.
func (w *writer) writes(t *testing.T, to string) {
	t.Helper()
	row, err := rowkey.ParseBinary(w.row)
	if err != nil {
		t.Fatal(err)
	}
	w.change(to)
	w.here.Wrote("centre:scans", oneRow(row))
}

// TestWhatThisProcessWritesIsNotGivenAgain checks that an answer is reused until one of its rows is written, whatever happens to other
// rows.
func TestWhatThisProcessWritesIsNotGivenAgain(t *testing.T) {
	s := newWriter(t, func(o *serve.Options) { o.Cache = serve.Cache{MaxAge: time.Hour} })
	row := "/api/v1/tables/centre:scans/rows/" + url.PathEscape(s.row)
	for _, path := range []string{timeline, row} {
		was := s.ask("GET", path, "")
		if was.Code != 200 {
			t.Fatalf("%s: %d %s", path, was.Code, was.Body)
		}
		s.here.Wrote("centre:scans", oneRow("ffffW2|"))
		s.here.Wrote("centre:orders", oneRow(s.row))
		if w := s.ask("GET", path, ""); w.Header().Get("Age") == "" || w.Body.String() != was.Body.String() {
			t.Errorf("%s: %v %s", path, w.Header(), w.Body)
		}
		s.writes(t, "BOS"+path[len(path)-1:])
		for i, old := range []bool{false, true} {
			w := s.ask("GET", path, "")
			if !strings.Contains(w.Body.String(), "BOS"+path[len(path)-1:]) || w.Header().Get("Age") != "" != old {
				t.Errorf("%s, asked %d times: %v %s", path, i+1, w.Header(), w.Body)
			}
		}
	}
}

// TestAReadThatBeganBeforeAWriteNeverFillsTheCache checks a read that has read the old row, and ends when the new one is settled.
func TestAReadThatBeganBeforeAWriteNeverFillsTheCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWriter(t, func(o *serve.Options) { o.Cache = serve.Cache{MaxAge: time.Hour} })
		s.rows.gate = make(chan struct{})
		early := make(chan *httptest.ResponseRecorder)
		go func() { early <- s.ask("GET", timeline, "") }()
		synctest.Wait() // it has read, and not answered yet
		s.writes(t, "BOS")
		close(s.rows.gate)
		if w := <-early; w.Code != 200 || strings.Contains(w.Body.String(), "BOS") {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if w := s.ask("GET", timeline, ""); !strings.Contains(w.Body.String(), "BOS") || w.Header().Get("Age") != "" {
			t.Errorf("a row that was settled before is missing: %v %s", w.Header(), w.Body)
		}
		if w := s.ask("GET", timeline, ""); w.Header().Get("Age") == "" {
			t.Errorf("what was read afterwards is not kept: %v", w.Header())
		}
	})
}

// pages are the pages of an event stream.
type pages struct {
	*httptest.ResponseRecorder
	came chan string
}

func (p pages) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("event: page")) {
		p.came <- string(b)
	}
	return len(b), nil
}

// TestWhatThisProcessWritesIsSeenAtOnce checks that watchers get it without waiting for the next query, that they get what others write
// within that second, and that writes to what nobody watches cost no query.
func TestWhatThisProcessWritesIsSeenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWriter(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		r := httptest.NewRequest("GET", watched, nil).WithContext(ctx)
		r.Host = "127.0.0.1:8090"
		out := pages{httptest.NewRecorder(), make(chan string, 1)}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.ServeHTTP(out, r)
		}()
		seen := func(what, want string, within time.Duration) {
			t.Helper()
			began := time.Now()
			if page := <-out.came; !strings.Contains(page, want) || time.Since(began) > within {
				t.Errorf("%s was seen after %v: %s", what, time.Since(began), page)
			}
		}
		seen("the first page", `"row"`, 0)
		time.Sleep(300 * time.Millisecond)
		s.writes(t, "BOS")
		seen("what is written here", "BOS", 0)
		s.writes(t, "SFO")
		seen("what is written here a moment later", "SFO", 50*time.Millisecond)
		asked := s.rows.scans.Load()
		for range 100 {
			s.here.Wrote("centre:scans", oneRow("ffffW2|"))
		}
		time.Sleep(100 * time.Millisecond)
		if n := s.rows.scans.Load(); n != asked {
			t.Errorf("rows of others have asked %d times", n-asked)
		}
		s.change("LAX") // by another member of the group
		seen("what is written elsewhere", "LAX", time.Second)
		cancel()
		<-ended
		synctest.Wait()
		asked = s.rows.scans.Load()
		s.writes(t, "DEN")
		time.Sleep(time.Minute)
		if n := s.rows.scans.Load(); n != asked {
			t.Errorf("nobody watches, and it was asked %d times", n-asked)
		}
	})
}

// TestOwnAnswersAreGivenAgainWhileNobodyElseWrites checks that, without max_age, answers are reused until one of their rows is written, and
// not once another process may have written in between.
func TestOwnAnswersAreGivenAgainWhileNobodyElseWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var since atomic.Value
		since.Store("1")
		s := newWriter(t, func(o *serve.Options) {
			o.Cache = serve.Cache{Own: time.Hour}
			o.Alone = func(string) string { return since.Load().(string) }
		})
		given := func(what string, again bool) {
			t.Helper()
			time.Sleep(time.Minute)
			if w := s.ask("GET", timeline, ""); w.Code != 200 || w.Header().Get("Age") != "" != again {
				t.Errorf("%s: %d, Age %q, given again is to be %v", what, w.Code, w.Header().Get("Age"), again)
			}
		}
		given("the first", false)
		given("the second", true)
		s.writes(t, "BOS")
		given("after a row was written", false)
		given("then", true)
		since.Store("")
		given("while others write too", false)
		given("while they do", false)
		since.Store("2")
		given("alone again", false)
		given("and still", true)
		since.Store("3") // others wrote in between, unnoticed
		given("alone once more", false)
		given("and still so", true)
		time.Sleep(time.Hour)
		given("an hour later", false)
		for range 2 {
			if w := s.ask("GET", "/api/v1/views/orders-by-status?status=paid", ""); w.Code != 200 || w.Header().Get("Age") != "" {
				t.Errorf("by the index: %d %v", w.Code, w.Header())
			}
		}
	})
}
