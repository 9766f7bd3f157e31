package pipeline

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/locate"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/rpc"
	"brine/hbase/internal/wire"

	"google.golang.org/protobuf/proto"
)

// bench is an Env with two regions, one below "m" and one from "m" on, each on its own server. fail decides the result of a row.
type bench struct {
	mu      sync.Mutex
	applied []string
	calls   int
	lookups int
	fail    func(row string) (class string)
	wg      sync.WaitGroup
}

var regions = []*locate.Region{
	{Table: "t", Name: []byte("t,,1.a."), Encoded: "a", ID: 1, End: []byte("m"), Server: "one:1"},
	{Table: "t", Name: []byte("t,m,1.b."), Encoded: "b", ID: 1, Start: []byte("m"), Server: "two:1"},
}

func (b *bench) find(row []byte) *locate.Region {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lookups++
	if string(row) < "m" {
		return regions[0]
	}
	return regions[1]
}

func (b *bench) send(_ context.Context, server string, encode rpc.Encoder) (wire.Response, error) {
	frame, err := encode(nil, wire.Call{ID: 1, Method: "Multi"})
	if err != nil {
		return wire.Response{}, err
	}
	q, err := wire.DecodeRequest(frame[wire.PrefixLen:])
	if err != nil {
		return wire.Response{}, err
	}
	var in hbasepb.MultiRequest
	if err := proto.Unmarshal(q.Param, &in); err != nil {
		return wire.Response{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	out := new(hbasepb.MultiResponse)
	for _, ra := range in.RegionAction {
		result := new(hbasepb.RegionActionResult)
		for _, a := range ra.Action {
			row := string(a.Mutation.Row)
			one := &hbasepb.ResultOrException{Index: a.Index}
			if class := b.failing(row); class != "" {
				one.Exception = &hbasepb.NameBytesPair{Name: proto.String(remote.Package + class)}
			} else {
				one.Result = new(hbasepb.Result)
				b.applied = append(b.applied, row)
			}
			result.ResultOrException = append(result.ResultOrException, one)
		}
		out.RegionActionResult = append(out.RegionActionResult, result)
	}
	param, err := proto.Marshal(out)
	return wire.Response{Param: param}, err
}

func (b *bench) failing(row string) string {
	if b.fail == nil {
		return ""
	}
	return b.fail(row)
}

// onBench runs f with a mutator on a bench in a synctest bubble.
func onBench(t *testing.T, hooks Hooks, f func(t *testing.T, b *bench, m *Mutator)) {
	hooks.Send, hooks.Sent, hooks.Applied = func(SendInfo) {}, func(*SentInfo) {}, func(*AppliedInfo) {}
	hooks.Flush, hooks.Buffered = func(FlushInfo) {}, func(BufferedInfo) {}
	if hooks.Retry == nil {
		hooks.Retry = func(RetryInfo) {}
	}
	synctest.Test(t, func(t *testing.T) {
		b := &bench{}
		ctx, cancel := context.WithCancelCause(t.Context())
		w := New(Env{
			Ctx: ctx, Go: b.wg.Go, Send: b.send,
			Find: func(_ context.Context, _ string, row []byte) (*locate.Region, error) { return b.find(row), nil },
			FindAround: func(_ context.Context, _ string, w locate.Wanted) ([]*locate.Region, error) {
				return []*locate.Region{b.find(w.Row)}, nil
			},
			Read:         func(_ context.Context, r *locate.Region) (*locate.Region, error) { return r, nil },
			Disabled:     func(context.Context, string) (bool, error) { return false, nil },
			Correct:      func(*locate.Region, remote.Diagnosis) *locate.Region { return nil },
			Forget:       func(*locate.Region) {},
			ForgetServer: func(string) {},
		}, Options{
			MaxRequestRows: 100, MaxRequestBytes: 1 << 20, MaxBufferedBytes: 1 << 20, MaxServerCalls: 2, MaxCellBytes: 1 << 10, OperationTimeout: time.Minute,
		}, hooks)
		f(t, b, w.Mutator(MutatorOptions{
			Autoflush: true, WriteBuffer: 1, Retries: 3, Pauses: remote.Pauses{Pause: time.Millisecond, Overloaded: time.Millisecond}, Timeout: time.Minute,
		}))
		w.Close()
		cancel(remote.ErrClosed)
		b.wg.Wait()
	})
}

// The whole path without a client: mutations are located, sent by region, and applied in the order given.
func TestMutationsOfARowKeepTheirOrder(t *testing.T) {
	onBench(t, Hooks{}, func(t *testing.T, b *bench, m *Mutator) {
		rows := []string{"a", "z", "a", "b", "z", "a"}
		failed, err := m.Submit(t.Context(), puts(rows...)).Wait(t.Context())
		if err != nil || failed != nil {
			t.Fatal(failed, err)
		}
		below := slices.DeleteFunc(slices.Clone(b.applied), func(row string) bool { return row >= "m" })
		if len(b.applied) != len(rows) || !slices.Equal(below, []string{"a", "a", "b", "a"}) {
			t.Errorf("applied %q", b.applied)
		}
	})
}

// What fails for a while is retried and applied, and does not delay its neighbours.
func TestFailingRegionDelaysOnlyItsLane(t *testing.T) {
	var retries []RetryInfo
	var mu sync.Mutex
	hooks := Hooks{Retry: func(i RetryInfo) {
		mu.Lock()
		defer mu.Unlock()
		retries = append(retries, i)
	}}
	onBench(t, hooks, func(t *testing.T, b *bench, m *Mutator) {
		busy := 2
		b.fail = func(row string) string {
			if row == "z" && busy > 0 {
				busy--
				return "RegionTooBusyException"
			}
			return ""
		}
		failed, err := m.Submit(t.Context(), puts("z", "a")).Wait(t.Context())
		if err != nil || failed != nil {
			t.Fatal(failed, err)
		}
		if !slices.Equal(b.applied, []string{"a", "z"}) {
			t.Errorf("applied %q", b.applied)
		}
		if len(retries) != 2 || retries[0].Region != "b" || retries[0].Remedy != "wait" {
			t.Errorf("%d retries: %+v", len(retries), retries)
		}
	})
}

// A mutation that can never be written fails with its kind; the rest of its batch is written.
func TestBadMutationFailsAlone(t *testing.T) {
	onBench(t, Hooks{}, func(t *testing.T, b *bench, m *Mutator) {
		batch := puts("a", "b", "c")
		batch.Mutate([]byte("d"))
		batch.Put([]byte("e"), []byte("q"), 1, make([]byte, 2<<10))
		b.fail = func(row string) string {
			if row == "b" {
				return "regionserver.NoSuchColumnFamilyException"
			}
			return ""
		}
		failed, err := m.Submit(t.Context(), batch).Wait(t.Context())
		if err != nil || len(failed) != 2 || failed[0].Index != 1 || failed[0].Kind != remote.NoTable || failed[1].Index != 3 || failed[1].Kind != remote.BadRow {
			t.Errorf("%v, %v", failed, err)
		}
		if strings.Join(b.applied, "") != "ac" {
			t.Errorf("applied %q", b.applied)
		}
	})
}

// What is queued when the pipeline closes fails as Closed.
func TestCloseFailsWhatIsQueued(t *testing.T) {
	onBench(t, Hooks{}, func(t *testing.T, b *bench, m *Mutator) {
		m.opts.Autoflush, m.opts.WriteBuffer, m.opts.Linger = false, 1<<10, time.Hour
		f := m.Submit(t.Context(), puts("a"))
		m.w.Close()
		failed, err := f.Wait(t.Context())
		if err != nil || len(failed) != 1 || failed[0].Kind != remote.Closed || !errors.Is(&failed[0], remote.ErrClosed) {
			t.Errorf("%v, %v", failed, err)
		}
		if b.calls != 0 {
			t.Errorf("%d calls", b.calls)
		}
	})
}
