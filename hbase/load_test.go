package hbase

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"brine/hbase/embedded"
)

// load writes to a few rows again and again with equal versions. The n-th mutation of a row has tag(n) cells, so that the server's log of
// applied mutations shows the order, and what is missing or was applied twice. The load continues while faults are injected into the
// server, and then compares the log with what was submitted.
type load struct {
	t    *testing.T
	s    *embedded.Server
	c    *Client
	rows []string

	running context.Context // ends when the load does

	mu      sync.Mutex
	applied map[string][]int // by row, as applied by the server: the number of cells of each mutation

	submitted int // per row
	most      atomic.Int64
	last      atomic.Int64 // time of the last acknowledgement, in ns since 1970
	stall     atomic.Int64 // longest time without one
	retries   atomic.Int64
}

const tags = 17

func tag(n int) int { return 1 + n%tags }

// newLoad starts a cluster with a table of four regions and a client with patient options, modified by change.
func newLoad(t *testing.T, servers int, change func(*Options)) *load {
	l := &load{t: t, running: t.Context(), applied: make(map[string][]int)}
	for i := range 16 {
		l.rows = append(l.rows, fmt.Sprintf("%x-row", i))
	}
	l.s = startEmbedded(t, embedded.Options{Servers: servers, Applied: func(a embedded.Applied) {
		if a.Table != "t" {
			return
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.applied[string(a.Row)] = append(l.applied[string(a.Row)], a.Cells)
	}})
	opts := patient("rpc://" + l.s.Addr())
	opts.MaxBufferedBytes = 256 << 10
	opts.Hooks.Buffered = func(i BufferedInfo) { raise(&l.most, int64(i.Bytes)) }
	opts.Hooks.Retry = func(RetryInfo) { l.retries.Add(1) }
	opts.Hooks.Applied = func(*AppliedInfo) {
		now := time.Now().UnixNano()
		if before := l.last.Swap(now); before != 0 {
			raise(&l.stall, now-before)
		}
	}
	if change != nil {
		change(&opts)
	}
	l.c = open(t, opts)
	createTable(t, l.c, "t", "4", "8", "c")
	return l
}

// raise sets most to the maximum of itself and n; it may be called by several goroutines.
func raise(most *atomic.Int64, n int64) {
	for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
	}
}

// batch returns the next mutation of each row.
func (l *load) batch() *Batch {
	b := NewBatch("t")
	for _, row := range l.rows {
		b.Mutate([]byte(row))
		for q := range tag(l.submitted) {
			b.Put([]byte("e"), fmt.Append(nil, q), 1, fmt.Append(nil, l.submitted))
		}
	}
	l.submitted++
	return b
}

// during writes with a window of eight flights until faults returns, and then eight flights more; then all must be acknowledged.
func (l *load) during(faults func()) {
	l.t.Helper()
	running, end := context.WithCancel(l.t.Context())
	l.running = running
	done := make(chan struct{})
	defer func() { end(); <-done }() // a flight that fails ends the test: no fault is reported after that
	go func() {
		defer close(done)
		faults()
	}()
	var flights []*Flight
	land := func(f *Flight) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if failed, err := f.Wait(ctx); err != nil || failed != nil {
			l.t.Fatalf("flight: %v, %v", failed, err)
		}
	}
	for more := 8; more > 0; {
		if len(flights) == 8 {
			land(flights[0])
			flights = flights[1:]
		}
		flights = append(flights, l.c.Submit(context.Background(), l.batch()))
		select {
		case <-done:
			more--
		default:
		}
	}
	for _, f := range flights {
		land(f)
	}
}

// report logs the course of the load, and compares its memory with the bound.
func (l *load) report() {
	l.t.Helper()
	l.t.Logf("%d mutations, %d retries, longest stall %v, at most %d bytes", l.submitted*len(l.rows), l.retries.Load(), time.Duration(l.stall.Load()), l.most.Load())
	if bound := int64(l.c.opts.MaxBufferedBytes); l.most.Load() > bound {
		l.t.Errorf("%d bytes were buffered, the bound is %d", l.most.Load(), bound)
	}
}

// checkPresent requires only that everything was applied, in any order: if calls that nobody waits for any more are applied late, as they
// may be after a server was frozen, only versions order the mutations of a row.
func (l *load) checkPresent() {
	l.t.Helper()
	l.report()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, row := range l.rows {
		left := make(map[int]int)
		for i := range l.submitted {
			left[tag(i)]++
		}
		for _, cells := range l.applied[row] {
			left[cells]--
		}
		for cells, n := range left {
			if n > 0 {
				l.t.Errorf("row %s: %d mutations with tag %d were not applied: %v", row, n, cells, l.applied[row])
			}
		}
	}
}

// check compares the log, and what can be read, with what was submitted. If once is true, nothing may be applied twice.
func (l *load) check(once bool) {
	l.t.Helper()
	l.report()
	for _, row := range l.rows {
		l.mu.Lock() // not held during the Get: what the server still applies needs it too
		applied := slices.Clone(l.applied[row])
		l.mu.Unlock()
		if err := inOrder(applied, l.submitted, once); err != nil {
			l.t.Errorf("row %s: %v", row, err)
		}
		got, err := l.c.Get(l.t.Context(), "t", Get{Row: []byte(row)})
		if err != nil || len(got.Cells) == 0 || string(got.Cells[0].Value) != fmt.Sprint(l.submitted-1) {
			l.t.Errorf("row %s: read %v, %v; want the last, %d", row, got.Cells[:min(1, len(got.Cells))], err, l.submitted-1)
		}
	}
}

// inOrder returns what is wrong with the log of a row with n acknowledged mutations. Mutation i is followed by i+1 or, after a call with an
// unknown outcome, by an earlier one that was applied before. In the latter case, either all following ones may come again; or it was late,
// applied by the server when nobody waited for it any more, and the order continues without it.
func inOrder(log []int, n int, once bool) error {
	seen := 0
	ats := []int{-1} // the mutations that may have been the last, apart from late ones
	for i, cells := range log {
		var next []int
		for _, at := range ats {
			if cells == tag(at+1) {
				next = append(next, at+1)
			}
		}
		copied := seen - 1
		for copied > seen-tags && copied >= 0 && tag(copied) != cells {
			copied--
		}
		if !once && copied > seen-tags && copied >= 0 {
			next = append(next, copied)
			next = append(next, ats...)
		}
		if len(next) == 0 {
			return fmt.Errorf("entry %d of the log has tag %d, which neither follows %v nor was sent before: %v", i, cells, ats, log)
		}
		slices.Sort(next)
		ats = slices.Compact(next)
		seen = max(seen, ats[len(ats)-1]+1)
	}
	if seen != n || len(log) > 0 && log[len(log)-1] != tag(n-1) {
		return fmt.Errorf("%d of %d mutations were applied; the log is %v", seen, n, log)
	}
	return nil
}

func TestInOrderSeesWhatIsWrong(t *testing.T) {
	for _, tt := range []struct {
		log      []int
		n        int
		once, ok bool
	}{
		{[]int{1, 2, 3}, 3, true, true},
		{[]int{1, 3, 2}, 3, true, false},
		{[]int{1, 3, 2}, 3, false, false},
		{[]int{1, 2}, 3, false, false},
		{[]int{1, 2, 2, 3}, 3, true, false},
		{[]int{1, 2, 1, 2, 3}, 3, false, true},
		{[]int{1, 2, 3, 2}, 3, false, false}, // the last one applied is not the last one submitted
		{[]int{1, 2, 3, 2, 3}, 3, false, true},
		{[]int{1, 2, 3, 2, 4}, 4, false, true}, // 2 is late
		{[]int{1, 2, 3, 2, 5}, 5, false, false},
		{[]int{1, 2, 3, 2, 4}, 4, true, false},
	} {
		if err := inOrder(tt.log, tt.n, tt.once); (err == nil) != tt.ok {
			t.Errorf("%v: %v", tt, err)
		}
	}
}

// badNetwork returns an option that wraps the client's connections.
func badNetwork(wrap func(net.Conn) net.Conn) func(*Options) {
	return func(o *Options) {
		o.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return wrap(c), nil
		}
	}
}
