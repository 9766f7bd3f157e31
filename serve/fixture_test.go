package serve_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"brine/config"
	"brine/hbase"
	"brine/query"
	"brine/rowkey"
	"brine/search"
	"brine/serve"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// store is HBase and the index, as far as the API needs them, with rows of centre:scans.
type store struct {
	mu    sync.Mutex
	rows  []hbase.Result // sorted
	away  bool           // calls wait until their context is done
	gone  error          // error of calls; nil: they are answered
	fails int            // scans fail before this row; 0: never
	first chan struct{}  // closed by the first call, unless nil
	gate  chan struct{}  // calls wait until it is closed, unless nil
	late  time.Duration  // calls take this long

	found    search.Page    // the index's answer
	searched []search.Query // queries to the index
}

var errSecret = errors.New("rs-7.internal:16020 says password=hunter2")

func (s *store) call(ctx context.Context) error {
	s.mu.Lock()
	away, gate, gone, late := s.away, s.gate, s.gone, s.late
	if s.first != nil {
		close(s.first)
		s.first = nil
	}
	s.mu.Unlock()
	if gate != nil {
		<-gate
	}
	if late > 0 {
		select {
		case <-time.After(late):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if away {
		<-ctx.Done()
		return errors.Join(errSecret, ctx.Err())
	}
	return gone
}

func (s *store) Scan(ctx context.Context, _ string, scan hbase.Scan) iter.Seq2[hbase.Result, error] {
	return func(yield func(hbase.Result, error) bool) {
		if err := s.call(ctx); err != nil {
			yield(hbase.Result{}, err)
			return
		}
		s.mu.Lock()
		rows, fails := slices.Clone(s.rows), s.fails
		s.mu.Unlock()
		n := 0
		for _, r := range rows {
			if bytes.Compare(r.Row, scan.Start) < 0 || scan.Stop != nil && bytes.Compare(r.Row, scan.Stop) >= 0 {
				continue
			}
			if n++; n == fails {
				yield(hbase.Result{}, errSecret)
				return
			}
			if !yield(r, nil) || n == scan.Limit {
				return
			}
		}
	}
}

func (s *store) GetAll(ctx context.Context, _ string, gets []hbase.Get) ([]hbase.Result, error) {
	s.mu.Lock()
	rows := slices.Clone(s.rows)
	s.mu.Unlock()
	out := make([]hbase.Result, len(gets))
	s.mu.Lock()
	for i, g := range gets {
		for _, r := range rows {
			if bytes.Equal(r.Row, g.Row) {
				out[i] = r
			}
		}
	}
	s.mu.Unlock()
	return out, s.call(ctx)
}

func (s *store) Search(ctx context.Context, q search.Query) (search.Page, error) {
	s.mu.Lock()
	s.searched = append(s.searched, q)
	found := s.found
	s.mu.Unlock()
	for len(found.Facets) < len(q.Facets) {
		found.Facets = append(found.Facets, nil)
	}
	return found, s.call(ctx)
}

// scan adds a row to the store.
func (s *store) scan(t testing.TB, table query.Table, waybill, at, action, station string) (row []byte) {
	t.Helper()
	keys, err := table.RowsOf(map[string]string{"waybill": waybill, "at": at, "action": action})
	if err != nil {
		t.Fatal(err)
	}
	row = keys[0]
	s.rows = append(s.rows, hbase.Result{Row: row, Cells: []hbase.Cell{
		{Row: row, Family: []byte("e"), Qualifier: []byte("c"), Timestamp: 7, Value: []byte("c1")},
		{Row: row, Family: []byte("e"), Qualifier: []byte("s"), Timestamp: 9, Value: []byte(station)}}})
	slices.SortFunc(s.rows, func(a, b hbase.Result) int { return bytes.Compare(a.Row, b.Row) })
	return row
}

// shop is the API of examples/shop.yaml on a store with three scans of W1 and one of W2.
type shop struct {
	*serve.Server
	*store
	t     testing.TB
	row   string // newest row of W1
	scans query.Table
	base  string // where it serves; empty: not serving
	log   *bytes.Buffer
}

func newShop(t testing.TB, change func(*serve.Options)) *shop {
	t.Helper()
	return newShopOn(t, listener(t), change)
}

func newShopOn(t testing.TB, l net.Listener, change func(*serve.Options)) *shop {
	t.Helper()
	cfg, problems := config.Load("../examples/shop.yaml", func(string) (string, bool) { return "", false })
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	o, err := cfg.API()
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{store: &store{}, t: t, log: &bytes.Buffer{}}
	o.Listen, o.Rows, o.Docs, o.Version, o.Log = "127.0.0.1:0", s.store, s.store, "v0", slog.New(slog.NewTextHandler(s.log, nil))
	o.Timeout, o.SQL.Timeout = patience, patience
	if change != nil {
		change(&o)
	}
	for _, table := range o.Tables {
		if table.Name == "centre:scans" {
			s.scans = table
			s.scan(t, table, "W1", "2013-01-01T08:00:00Z", "DEPART", "EWR")
			s.scan(t, table, "W1", "2013-01-01T10:00:00Z", "ARRIVE", "MIA")
			s.row = rowkey.Binary(s.scan(t, table, "W1", "2013-01-02T00:00:00Z", "DELIVER", "<img onerror=alert(1)>"))
			s.scan(t, table, "W2", "2013-01-01T09:00:00Z", "DEPART", "=1+1")
		}
	}
	if s.Server, err = serve.New(l, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func listener(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// ask sends a request without the network. header has names and values, possibly Host.
func (s *shop) ask(method, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = "127.0.0.1:8090"
	for i := 0; i < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	w := httptest.NewRecorder()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	s.ServeHTTP(firstEvent{w, cancel}, r.WithContext(ctx))
	return w
}

// firstEvent leaves a stream after its first event.
type firstEvent struct {
	*httptest.ResponseRecorder
	leave func()
}

func (w firstEvent) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("event: ")) {
		w.leave()
	}
	return w.ResponseRecorder.Write(b)
}

// run serves until the test ends.
func (s *shop) run() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	s.base = "http://" + s.Addr()
	s.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
}

const (
	timeline = "/api/v1/views/waybill?waybill=W1"
	batch    = "/api/v1/tables/centre:scans/rows:batch"
	latest   = "/api/v1/views/waybill-latest:batch"
	jsonBody = "application/json"
	patience = time.Minute // timeout of tests, far longer than anything takes
)

func text(t testing.TB, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
