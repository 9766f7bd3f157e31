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

// load writes to a few rows again and again, with equal versions: the n-th mutation of a row has tag(n) cells, so that the
// server's log of what it applied shows the order, and what is missing or came twice. It goes on while faults are done to
// the server, and then holds the log against what was submitted.
type load struct {
	t    *testing.T
	s    *embedded.Server
	c    *Client
	rows []string

	mu      sync.Mutex
	applied map[string][]int // by row, as the server applied them: cells of each mutation

	submitted int // of each row
	most      atomic.Int64
	last      atomic.Int64 // when something was acknowledged, in ns since 1970
	stall     atomic.Int64 // the longest time without
	retries   atomic.Int64
}

const tags = 17

func tag(n int) int { return 1 + n%tags }

// newLoad starts a cluster with a table of four regions, and a client with these options on top of patient ones.
func newLoad(t *testing.T, servers int, change func(*Options)) *load {
	l := &load{t: t, applied: make(map[string][]int)}
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

// raise keeps the greatest of all that are given, by however many goroutines.
func raise(most *atomic.Int64, n int64) {
	for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
	}
}

// batch is the next mutation of each row.
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

// during writes with a window of eight flights until the faults are done, and eight flights more; then all must be
// acknowledged.
func (l *load) during(faults func()) {
	l.t.Helper()
	done := make(chan struct{})
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

// report logs what the load went through, and holds its memory against the bound.
func (l *load) report() {
	l.t.Helper()
	l.t.Logf("%d mutations, %d retries, longest stall %v, at most %d bytes", l.submitted*len(l.rows), l.retries.Load(), time.Duration(l.stall.Load()), l.most.Load())
	if bound := int64(l.c.opts.MaxBufferedBytes); l.most.Load() > bound {
		l.t.Errorf("%d bytes were buffered, the bound is %d", l.most.Load(), bound)
	}
}

// checkPresent requires only that everything was applied, in whatever order: where calls that nobody waits for any
// more are carried out late, as they may when a server was frozen, only versions order the mutations of a row.
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

// check holds the log, and what can be read, against what was submitted. once: nothing came twice.
func (l *load) check(once bool) {
	l.t.Helper()
	l.report()
	for _, row := range l.rows {
		l.mu.Lock() // and not over the Get: what the server still carries out takes it too
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

// inOrder returns what is wrong with the log of a row of which n mutations were acknowledged: after mutation i comes i+1, or,
// where a call's outcome was unknown, an earlier one that was applied already. From that one on all others may come again; or
// it came late, carried out by the server when nobody waited for it any more, and the order goes on as if it had not.
func inOrder(log []int, n int, once bool) error {
	seen := 0
	ats := []int{-1} // the mutations that may have been the last, late ones aside
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
		{[]int{1, 2, 3, 2}, 3, false, false}, // the last applied is not the last
		{[]int{1, 2, 3, 2, 3}, 3, false, true},
		{[]int{1, 2, 3, 2, 4}, 4, false, true}, // 2 came late
		{[]int{1, 2, 3, 2, 5}, 5, false, false},
		{[]int{1, 2, 3, 2, 4}, 4, true, false},
	} {
		if err := inOrder(tt.log, tt.n, tt.once); (err == nil) != tt.ok {
			t.Errorf("%v: %v", tt, err)
		}
	}
}

// badNetwork wraps the client's connections.
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
