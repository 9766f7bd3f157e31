package hbase_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
)

func gets(keys ...string) (out []hbase.Get) {
	for _, k := range keys {
		out = append(out, hbase.Get{Row: []byte(k), Columns: []hbase.Column{{Family: []byte("e"), Qualifier: []byte("a")}}})
	}
	return out
}

// Each of many gets has its row or its own error, whatever happens to the others.
func TestGetsFailOneByOne(t *testing.T) {
	s, c := start(t, embedded.Options{})
	table(t, c, "t")
	refused := &embedded.Exception{Class: "org.apache.hadoop.hbase.DoNotRetryIOException", Message: "this row", DoNotRetry: true}
	defer s.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
		r.Keep()
		return &embedded.Outcome{Rows: map[string]*embedded.Exception{"r60": refused}}
	})()
	wanted := gets("r10", "r60", "none", "r99", "r20")
	wanted[4].Columns[0].Family = []byte("nofamily")
	bad := hbase.Get{Row: []byte("r30"), Filter: hbase.RowFilter{}} // no comparator
	reads := c.Gets(t.Context(), "t", append(wanted, bad))
	<-reads.Done()
	rows, failed, err := reads.Wait(t.Context())
	if err != nil || len(rows) != 6 {
		t.Fatal(rows, err)
	}
	for i, want := range []string{"a10", "", "", "a99", "", ""} {
		got := ""
		for _, cell := range rows[i].Cells {
			got += string(cell.Value)
		}
		if got != want {
			t.Errorf("get %d found %q, want %q", i, got, want)
		}
	}
	var indexes []int
	for _, f := range failed {
		indexes = append(indexes, f.Index)
	}
	if !slices.Equal(indexes, []int{1, 4, 5}) || !errors.Is(failed[1], hbase.ErrNoFamily) || !strings.Contains(failed[0].Error(), "this row") {
		t.Errorf("failed: %v", failed)
	}
	if _, err := c.GetAll(t.Context(), "t", wanted); err == nil || !strings.Contains(err.Error(), "this row") {
		t.Errorf("GetAll: %v, want the error of the first get that failed", err)
	}
}

// A region on no server delays only its own rows: the others are there when the time is over.
func TestGetsOfARegionThatIsAwayWaitAlone(t *testing.T) {
	s, c := start(t, embedded.Options{})
	table(t, c, "t")
	defer s.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
		r.Keep()
		away := map[string]*embedded.Exception{}
		for _, a := range r.Param.(*hbasepb.MultiRequest).RegionAction {
			if string(a.Action[0].GetGet().GetRow()) == "r80" {
				away[string(a.Region.Value)] = &embedded.Exception{Class: "org.apache.hadoop.hbase.NotServingRegionException", Message: "away"}
			}
		}
		return &embedded.Outcome{Regions: away}
	})()
	ctx := hbase.WithCallOptions(t.Context(), hbase.CallOptions{Retries: 2})
	rows, failed, err := c.Gets(ctx, "t", gets("r80", "r10")).Wait(t.Context())
	if err != nil || len(failed) != 1 || failed[0].Index != 0 || len(rows[1].Cells) != 1 {
		t.Fatal(rows, failed, err)
	}
	if e, ok := errors.AsType[*hbase.Error](failed[0].Err); !ok || e.Attempts != 3 || !strings.HasSuffix(e.Class, "NotServingRegionException") {
		t.Errorf("%v: want three tries", failed[0])
	}
}

// A scan whose filter finds nothing reports its position, and continues from there when its scanner is lost.
func TestScanCursors(t *testing.T) {
	s, c := start(t, embedded.Options{Heartbeat: 10})
	table(t, c, "t")
	nothing := hbase.ValueFilter{Op: hbase.Equal, With: hbase.Bytes("a99")}
	for _, reverse := range []bool{false, true} {
		var places, found []string
		var m hbase.ScanMetrics
		lost := 0
		remove := s.Control("Scan", func(r *embedded.Request) *embedded.Outcome {
			if q := r.Param.(*hbasepb.ScanRequest); lost > 0 || q.ScannerId == nil || q.GetCloseScanner() || len(places) < 3 {
				return nil
			}
			lost++
			return &embedded.Outcome{Exception: &embedded.Exception{Class: "org.apache.hadoop.hbase.UnknownScannerException", DoNotRetry: true}}
		})
		scan := hbase.Scan{Filter: nothing, Reverse: reverse, Cursors: true, Metrics: &m}
		for r, err := range c.Scan(t.Context(), "t", scan) {
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Cells) == 0 {
				places = append(places, string(r.Row))
			} else {
				found = append(found, string(r.Row))
			}
		}
		remove()
		sorted := slices.IsSorted(places)
		if reverse {
			sorted = slices.IsSortedFunc(places, func(a, b string) int { return strings.Compare(b, a) })
		}
		if !slices.Equal(found, []string{"r99"}) || len(places) < 4 || !sorted || m.Rows != 1 || lost != 1 || m.Lost != 1 {
			t.Errorf("reverse %v: found %v, places %v, lost %d, %+v", reverse, found, places, lost, m)
		}
		if m.RowsScanned > 120 {
			t.Errorf("reverse %v: %d rows were looked at: the scan began again, instead of at its cursor", reverse, m.RowsScanned)
		}
	}
	for r, err := range c.Scan(t.Context(), "t", hbase.Scan{Filter: nothing}) {
		if err != nil || len(r.Cells) == 0 {
			t.Errorf("%v, %v: a place in a scan without Cursors", r, err)
		}
	}
}

// A call's own priority and time-outs reach the server.
func TestCallOptions(t *testing.T) {
	p := newHeaders(t)
	c := p.client
	ctx := hbase.WithCallOptions(t.Context(), hbase.CallOptions{Priority: 100, Timeout: 5 * time.Second})
	if _, err := c.Get(ctx, "t", hbase.Get{Row: []byte("r10")}); err != nil {
		t.Fatal(err)
	}
	if h := p.last("Get"); h.GetPriority() != 100 || h.GetTimeout() > 5000 || h.GetTimeout() < 1 {
		t.Errorf("header %v: want priority 100 and at most 5 s", h)
	}
	if _, err := c.Get(t.Context(), "t", hbase.Get{Row: []byte("r10")}); err != nil {
		t.Fatal(err)
	}
	if h := p.last("Get"); h.Priority != nil || h.GetTimeout() < 5000 || len(h.GetTraceInfo().GetHeaders()) != 0 {
		t.Errorf("header %v: want that of the client's options", h)
	}

	defer p.server.Control("Get", func(r *embedded.Request) *embedded.Outcome {
		r.Keep()
		return &embedded.Outcome{Silent: true}
	})()
	ctx = hbase.WithCallOptions(t.Context(), hbase.CallOptions{OperationTimeout: 20 * time.Millisecond})
	if _, err := c.Get(ctx, "t", hbase.Get{Row: []byte("r10")}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the operation's own time-out", err)
	}
	ctx = hbase.WithCallOptions(t.Context(), hbase.CallOptions{Timeout: 10 * time.Millisecond, Retries: -1})
	_, err := c.Get(ctx, "t", hbase.Get{Row: []byte("r10")})
	if e, ok := errors.AsType[*hbase.Error](err); !ok || e.Attempts != 1 {
		t.Errorf("%v, want one try", err)
	}
}

// spans is a Tracer that records the nesting of spans.
type spans struct {
	mu  sync.Mutex
	all []string
}

type spanKey struct{}

func (s *spans) Operation(ctx context.Context, op, table string) (context.Context, func(error)) {
	return context.WithValue(ctx, spanKey{}, op), func(err error) { s.note("%s %s: %v", op, table, err) }
}

func (s *spans) Call(ctx context.Context, _, method string) (headers map[string]string, end func(error)) {
	in, _ := ctx.Value(spanKey{}).(string)
	return map[string]string{"traceparent": "of " + in}, func(err error) { s.note("%s in %q: %v", method, in, err) }
}

func (s *spans) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, fmt.Sprintf(format, args...))
}

// A tracer sees operations, the calls within them, and the errors of both; its headers reach the server.
func TestTracer(t *testing.T) {
	p := newHeaders(t)
	tracer := new(spans)
	c, err := hbase.Open(t.Context(), hbase.Options{Connect: "rpc://" + p.proxy, Tracer: tracer})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Get(t.Context(), "t", hbase.Get{Row: []byte("r10")}); err != nil {
		t.Fatal(err)
	}
	if got := p.last("Get").GetTraceInfo().GetHeaders()["traceparent"]; got != "of get" {
		t.Errorf("traceparent %q", got)
	}
	tracer.mu.Lock()
	defer tracer.mu.Unlock()
	for _, want := range []string{`Get in "get": <nil>`, "get t: <nil>"} {
		if !slices.Contains(tracer.all, want) {
			t.Errorf("no span %s in %q", want, tracer.all)
		}
	}
}

// A scan whose filter finds nothing reports how many rows servers have read, and ends with the caller's error. It continues from there when
// its scanner is lost.
func TestScanProgress(t *testing.T) {
	s, c := start(t, embedded.Options{Heartbeat: 10})
	table(t, c, "t")
	tooMany := errors.New("too many")
	for _, reverse := range []bool{false, true} {
		for _, most := range []int64{0, 30, 1000} {
			var m hbase.ScanMetrics
			looked, lost := int64(0), 0
			remove := s.Control("Scan", func(r *embedded.Request) *embedded.Outcome {
				if q := r.Param.(*hbasepb.ScanRequest); lost > 0 || q.ScannerId == nil || q.GetCloseScanner() || looked < 20 {
					return nil
				}
				lost++
				return &embedded.Outcome{Exception: &embedded.Exception{Class: "org.apache.hadoop.hbase.UnknownScannerException", DoNotRetry: true}}
			})
			scan := hbase.Scan{Filter: hbase.ValueFilter{Op: hbase.Equal, With: hbase.Bytes("none")}, Reverse: reverse, Metrics: &m,
				Progress: func(p hbase.ScanProgress) error {
					if looked += p.Rows; looked > most {
						return tooMany
					}
					return nil
				}}
			var ended error
			for r, err := range c.Scan(t.Context(), "t", scan) {
				if ended = err; err == nil {
					t.Errorf("it found %v", r)
				}
			}
			remove()
			ends := most < 100
			if errors.Is(ended, tooMany) != ends || !ends && (ended != nil || lost != 1) || ends && looked > most+20 || looked > m.RowsScanned || m.RowsScanned > 120 {
				t.Errorf("reverse %v, most %d: ended with %v after %d rows; lost %d, %+v", reverse, most, ended, looked, lost, m)
			}
		}
	}
}
