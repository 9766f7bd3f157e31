package hbase

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/remote"

	"google.golang.org/protobuf/proto"
)

func TestSubmitAppliesEachMutationOnceInOrder(t *testing.T) {
	p := newPeer(t, "g", "p")
	c := p.open(p.unhurried())
	rows := []string{"a", "h", "z", "a", "b", "h", "p", "o"}
	if failed := land(t, c, puts(rows...)); failed != nil {
		t.Fatal(failed)
	}
	got := p.appliedRows()
	slices.Sort(got)
	slices.Sort(rows)
	if !slices.Equal(got, rows) {
		t.Errorf("applied %v, want %v", got, rows)
	}
}

func TestEmptyBatchIsDoneAtOnce(t *testing.T) {
	p := newPeer(t)
	if failed := land(t, p.open(p.unhurried()), NewBatch("t")); failed != nil {
		t.Error(failed)
	}
}

func TestBadRowsFailAloneAndAreNotSent(t *testing.T) {
	p := newPeer(t)
	opts := p.unhurried()
	opts.MaxCellBytes = 1000
	b := puts("a")
	b.Mutate(nil)
	b.Put([]byte("e"), nil, 1, nil)
	b.Mutate([]byte(strings.Repeat("r", 1<<15)))
	b.Put([]byte("e"), nil, 1, nil)
	b.Mutate([]byte("large"))
	b.Put([]byte("e"), nil, 1, make([]byte, 1000))
	b.Mutate([]byte("nothing"))
	b.Mutate([]byte("family"))
	b.Put([]byte(strings.Repeat("f", 128)), nil, 1, nil)
	b.Mutate([]byte("z"))
	b.Put([]byte("e"), nil, 1, nil)
	failed := land(t, p.open(opts), b)
	if len(failed) != 5 {
		t.Fatalf("%d failed: %v", len(failed), failed)
	}
	for i, f := range failed {
		if f.Index != i+1 || f.Kind != BadRow || f.Err == nil {
			t.Errorf("failure %d: %+v", i, f)
		}
	}
	if got := p.appliedRows(); !slices.Equal(got, []string{"a", "z"}) {
		t.Errorf("applied %q", got)
	}
}

// once makes the peer answer r to the first Multi.
func once(r *reply) func(*peerCall) *reply {
	return func(c *peerCall) *reply {
		if c.method == "Multi" && c.nth == 0 {
			return r
		}
		return nil
	}
}

// Every way in which a call can fail and be remedied ends with everything applied.
func TestRemediesEndWithEverythingApplied(t *testing.T) {
	tests := []struct {
		name   string
		reply  *reply
		remedy string
	}{
		{"not serving", exception("NotServingRegionException", "t,,7 is not online"), "relocate"},
		{"moved", exception("exceptions.RegionMovedException", "Region moved to: hostname=peer.example port=16001 startCode=5. As of locationSeqNum=9."), "relocate"},
		{"too busy", exception("RegionTooBusyException", "over memstore limit"), "wait"},
		{"queue full", exception("CallQueueTooBigException", ""), "wait"},
		{"throttled", exception("quotas.RpcThrottlingException", "number of requests exceeded - wait 3ms"), "wait"},
		{"result too large", exception("MultiActionResultTooLarge", ""), "wait"},
		{"server stopping", exception("regionserver.RegionServerStoppedException", ""), "relocate"},
		{"unknown exception", exception("some.NewException", ""), "relocate"},
		{"connection dropped", &reply{drop: true}, "reconnect"},
		{"garbage", &reply{raw: []byte{0, 0, 0, 1, 0xff}}, "reconnect"},
		{"huge frame announced", &reply{raw: []byte{0x7f, 0xff, 0xff, 0xff}}, "reconnect"},
		{"no region result", &reply{param: &hbasepb.MultiResponse{}}, "relocate"},
		{"no answer for some", &reply{param: &hbasepb.MultiResponse{RegionActionResult: []*hbasepb.RegionActionResult{
			{ResultOrException: []*hbasepb.ResultOrException{applied(1), applied(1), applied(77)}},
		}}}, "relocate"},
		{"neither result nor exception", &reply{param: &hbasepb.MultiResponse{RegionActionResult: []*hbasepb.RegionActionResult{
			{ResultOrException: []*hbasepb.ResultOrException{applied(0), {Index: proto.Uint32(1)}, applied(2)}},
		}}}, "relocate"},
		{"region exception", &reply{param: &hbasepb.MultiResponse{RegionActionResult: []*hbasepb.RegionActionResult{
			{Exception: &hbasepb.NameBytesPair{Name: proto.String(remote.Package + "NotServingRegionException")}},
		}}}, "relocate"},
		{"one row too busy", &reply{param: &hbasepb.MultiResponse{RegionActionResult: []*hbasepb.RegionActionResult{
			{ResultOrException: []*hbasepb.ResultOrException{failedWith(0, "RegionTooBusyException", ""), applied(1), applied(2)}},
		}}}, "wait"},
		{"too big", exception("exceptions.RequestTooBigException", ""), "split"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPeer(t)
			p.answer = once(tt.reply)
			var retried atomic.Pointer[RetryInfo]
			opts := p.unhurried()
			opts.Hooks.Retry = func(r RetryInfo) { retried.CompareAndSwap(nil, &r) }
			if failed := land(t, p.open(opts), puts("a", "b", "c")); failed != nil {
				t.Fatal(failed)
			}
			if r := retried.Load(); r == nil || r.Remedy != tt.remedy {
				t.Errorf("retry %+v, want remedy %s", r, tt.remedy)
			}
		})
	}
}

// A mutation that goes back takes along the later ones of its row, so that it is applied before them.
func TestLaterMutationsOfARowGoBackWithIt(t *testing.T) {
	p := newPeer(t)
	p.answer = once(&reply{param: &hbasepb.MultiResponse{RegionActionResult: []*hbasepb.RegionActionResult{
		{ResultOrException: []*hbasepb.ResultOrException{failedWith(0, "RegionTooBusyException", ""), applied(1), applied(2), applied(3)}},
	}}})
	if failed := land(t, p.open(p.unhurried()), puts("a", "b", "a", "c")); failed != nil {
		t.Fatal(failed)
	}
	if got := p.appliedRows(); !slices.Equal(got, []string{"a", "a"}) {
		t.Errorf("sent again %q, want both mutations of a", got)
	}
}

func TestFinalFailuresSayWhy(t *testing.T) {
	tests := []struct {
		class string
		kind  Kind
		is    error
	}{
		{"regionserver.NoSuchColumnFamilyException", NoTable, ErrNoFamily},
		{"TableNotFoundException", NoTable, ErrNoTable},
		{"TableNotEnabledException", NoTable, ErrDisabled},
		{"security.AccessDeniedException", Denied, ErrDenied},
		{"DoNotRetryIOException", Refused, nil},
		{"regionserver.RowTooBigException", BadRow, nil},
	}
	for _, tt := range tests {
		t.Run(tt.class, func(t *testing.T) {
			p := newPeer(t)
			p.answer = once(&reply{param: &hbasepb.MultiResponse{RegionActionResult: []*hbasepb.RegionActionResult{
				{ResultOrException: []*hbasepb.ResultOrException{applied(0), failedWith(1, tt.class, "the reason\n\tat a.stack"), applied(2)}},
			}}})
			failed := land(t, p.open(p.unhurried()), puts("a", "b", "c"))
			if len(failed) != 1 || failed[0].Index != 1 || failed[0].Kind != tt.kind || failed[0].Class != remote.Package+tt.class {
				t.Fatalf("%+v", failed)
			}
			if tt.is != nil && !errors.Is(&failed[0], tt.is) {
				t.Errorf("%v is not %v", failed[0].Err, tt.is)
			}
			if !strings.Contains(failed[0].Err.Error(), "the reason") || strings.Contains(failed[0].Err.Error(), "a.stack") {
				t.Errorf("message: %v", failed[0].Err)
			}
		})
	}
}

// The server's do-not-retry flag also counts for unknown classes.
func TestDoNotRetryFlagCounts(t *testing.T) {
	p := newPeer(t)
	r := exception("some.NewException", "no")
	r.exception.DoNotRetry = proto.Bool(true)
	p.answer = once(r)
	failed := land(t, p.open(p.unhurried()), puts("a"))
	if len(failed) != 1 || failed[0].Kind != Refused || failed[0].Attempts != 1 {
		t.Errorf("%+v", failed)
	}
}

// A request that is too big is halved until it fits; only a mutation that is too big by itself is a bad row.
func TestRequestTooBigIsSplitDownToTheOneMutation(t *testing.T) {
	p := newPeer(t)
	p.answer = func(c *peerCall) *reply {
		if c.method != "Multi" {
			return nil
		}
		for _, ra := range c.multi().RegionAction {
			for _, a := range ra.Action {
				if string(a.GetMutation().GetRow()) == "giant" {
					return exception("exceptions.RequestTooBigException", "")
				}
			}
		}
		return nil
	}
	rows := []string{"a", "b", "c", "d", "giant", "e", "f"}
	failed := land(t, p.open(p.unhurried()), puts(rows...))
	if len(failed) != 1 || failed[0].Index != 4 || failed[0].Kind != BadRow {
		t.Fatalf("%+v", failed)
	}
	if got := p.appliedRows(); len(got) != 6 {
		t.Errorf("applied %q", got)
	}
}

// A region that fails for a long time does not delay its neighbours on the same server.
func TestFailingRegionWaitsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, "g", "p")
		_, failing := p.region(1)
		p.answer = func(c *peerCall) *reply {
			if c.method != "Multi" {
				return nil
			}
			for _, ra := range c.multi().RegionAction {
				if string(ra.Region.Value) == string(failing) {
					return &reply{silent: true}
				}
			}
			return nil
		}
		c := p.open(p.options())
		stuck := c.Submit(t.Context(), puts("h", "i"))
		synctest.Wait() // the failing region has been found, and its call is unanswered
		start := time.Now()
		for i := range 50 {
			if failed := land(t, c, puts("a", fmt.Sprint("b", i), "z")); failed != nil {
				t.Fatal(failed)
			}
		}
		if took := time.Since(start); took != 0 || isDone(stuck) {
			t.Errorf("the others took %v; the failing region's flight is done: %v", took, isDone(stuck))
		}
		c.Close()
		p.stop()
	})
}

// While a lane's call is unanswered, its mutations gather, and are sent together.
func TestGroupCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		gate := make(chan struct{})
		p.answer = func(c *peerCall) *reply {
			if c.method != "Multi" || c.nth > 0 {
				return nil
			}
			r := p.multi(c)
			r.after = gate
			return r
		}
		var multis atomic.Int32
		opts := p.options()
		opts.Hooks.Call = func(i CallInfo) {
			if i.Method == "Multi" {
				multis.Add(1)
			}
		}
		c := p.open(opts)
		var flights []*Flight
		var want []string
		for i := range 100 {
			row := fmt.Sprintf("r%03d", i)
			want = append(want, row)
			flights = append(flights, c.Submit(t.Context(), puts(row)))
			if i == 0 {
				synctest.Wait() // until the first call is sent
			}
		}
		close(gate)
		for _, f := range flights {
			if failed, err := f.Wait(t.Context()); err != nil || failed != nil {
				t.Fatal(failed, err)
			}
		}
		if n := multis.Load(); n != 2 {
			t.Errorf("%d calls, want 2", n)
		}
		if got := p.appliedRows(); !slices.Equal(got, want) {
			t.Errorf("order %v", got)
		}
		c.Close()
		p.stop()
	})
}

func TestSubmitBlocksWhileTheByteBoundIsSpent(t *testing.T) {
	p := newPeer(t)
	gate := make(chan struct{})
	p.answer = func(c *peerCall) *reply {
		if c.method != "Multi" {
			return nil
		}
		r := p.multi(c)
		r.after = gate
		return r
	}
	opts := p.unhurried()
	opts.MaxBufferedBytes = 1 << 10
	var buffered atomic.Int64
	opts.Hooks.Buffered = func(i BufferedInfo) { buffered.Add(int64(i.Change)) }
	c := p.open(opts)
	first := c.Submit(t.Context(), puts(strings.Repeat("r", 2000))) // larger than the bound: sent alone
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	failed, err := c.Submit(ctx, puts("a")).Wait(t.Context())
	if err != nil || len(failed) != 1 || failed[0].Kind != Transient || failed[0].Attempts != 0 {
		t.Fatalf("%+v %v", failed, err)
	}
	close(gate)
	if failed, err := first.Wait(t.Context()); failed != nil || err != nil {
		t.Fatal(failed, err)
	}
	if failed := land(t, c, puts("b", "c")); failed != nil {
		t.Fatal(failed)
	}
	if n := buffered.Load(); n != 0 {
		t.Errorf("%d bytes are still buffered", n)
	}
}

// Close gives every mutation its result, whether it was sent or still queued.
func TestCloseFailsWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		p.answer = func(c *peerCall) *reply {
			if c.method == "Multi" {
				return &reply{silent: true}
			}
			return nil
		}
		c := p.open(p.options())
		out := c.Submit(t.Context(), puts("a"))
		synctest.Wait()
		queued := c.Submit(t.Context(), puts("b"))
		c.Close()
		for f, kind := range map[*Flight]Kind{out: Transient, queued: Closed, c.Submit(t.Context(), puts("c")): Closed} {
			failed, err := f.Wait(t.Context())
			if err != nil || len(failed) != 1 || failed[0].Kind != kind || !errors.Is(failed[0].Err, ErrClosed) {
				t.Errorf("want %v: %+v %v", kind, failed, err)
			}
		}
		if _, err := c.Get(t.Context(), "t", Get{Row: []byte("a")}); !errors.Is(err, ErrClosed) {
			t.Errorf("get after close: %v", err)
		}
		c.Close()
		p.stop()
	})
}

func (p *peer) methods() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.calls)
}

func TestNoTable(t *testing.T) {
	p := newPeer(t)
	p.answer = func(c *peerCall) *reply {
		if c.method == "Scan" {
			return &reply{param: &hbasepb.ScanResponse{MoreResults: proto.Bool(false)}}
		}
		return nil
	}
	c := p.open(p.unhurried())
	failed := land(t, c, puts("a", "b"))
	if len(failed) != 2 || failed[0].Kind != NoTable || !errors.Is(failed[0].Err, ErrNoTable) {
		t.Errorf("%+v", failed)
	}
	if _, err := c.Get(t.Context(), "t", Get{Row: []byte("a")}); !errors.Is(err, ErrNoTable) {
		t.Errorf("get: %v", err)
	}
}
