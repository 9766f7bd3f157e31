package hbase

import (
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

// poisoned is a server that fails on mutations of rows with "bad" in them.
type poisoned struct {
	*peer
	refuse func(c *peerCall) *reply
	calls  atomic.Int32 // number of Multis
}

func newPoisoned(t *testing.T, refuse func(*peerCall) *reply) *poisoned {
	p := &poisoned{peer: newPeer(t, "m"), refuse: refuse}
	p.answer = func(c *peerCall) *reply {
		if c.method != "Multi" {
			return nil
		}
		p.calls.Add(1)
		return p.refuse(c)
	}
	return p
}

func isBad(ra *hbasepb.RegionAction) bool {
	return slices.ContainsFunc(ra.Action, func(a *hbasepb.Action) bool { return strings.Contains(string(a.GetMutation().GetRow()), "bad") })
}

// The ways in which a server refuses a batch without identifying the mutation at fault.
var refusals = map[string]func(p **poisoned, c *peerCall) *reply{
	// like HBase if a cell is too large: every mutation of the region gets the exception
	"every mutation": func(p **poisoned, c *peerCall) *reply {
		m := c.multi()
		out := acknowledgement(m)
		for i, ra := range m.RegionAction {
			if isBad(ra) {
				for j := range ra.Action {
					out.RegionActionResult[i].ResultOrException[j] = failedWith(uint32(j), "DoNotRetryIOException", "Cell with size 11 exceeds limit of 10 bytes")
				}
			} else {
				(*p).note(ra)
			}
		}
		return &reply{param: out}
	},
	"region": func(p **poisoned, c *peerCall) *reply {
		m := c.multi()
		out := acknowledgement(m)
		for i, ra := range m.RegionAction {
			if isBad(ra) {
				out.RegionActionResult[i] = &hbasepb.RegionActionResult{Exception: &hbasepb.NameBytesPair{Name: proto.String(remote.Package + "DoNotRetryIOException")}}
			} else {
				(*p).note(ra)
			}
		}
		return &reply{param: out}
	},
	"call": func(p **poisoned, c *peerCall) *reply {
		if slices.ContainsFunc(c.multi().RegionAction, isBad) {
			r := exception("NewException", "")
			r.exception.DoNotRetry = proto.Bool(true)
			return r
		}
		return nil
	},
}

// note records the rows of a region's mutations as applied.
func (p *peer) note(ra *hbasepb.RegionAction) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range ra.Action {
		p.rows = append(p.rows, string(a.GetMutation().GetRow()))
		p.cells = append(p.cells, a.GetMutation().GetAssociatedCellCount())
	}
}

// rowsOf returns n rows of both regions, including those in bad.
func rowsOf(n int, bad ...int) (rows []string, good []string) {
	for i := range n {
		row := fmt.Sprintf("%c%04d", 'a'+byte(i%2)*'m'-byte(i%2)*'a', i)
		if slices.Contains(bad, i) {
			row += "bad"
		} else {
			good = append(good, row)
		}
		rows = append(rows, row)
	}
	slices.Sort(good)
	return rows, good
}

func TestPoisonedMutationsAreIsolated(t *testing.T) {
	const n = 1000
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	for name, refuse := range refusals {
		for _, tt := range []struct {
			name  string
			bad   []int
			calls int // at most
		}{
			{"none", nil, 2},
			{"first", []int{0}, 16},
			{"last", []int{n - 1}, 16},
			{"one", []int{701}, 16},
			{"ten", []int{3, 4, 5, 100, 333, 500, 501, 640, 901, 998}, 110},
			{"all", all, n + 40},
		} {
			t.Run(name+"/"+tt.name, func(t *testing.T) {
				var p *poisoned
				p = newPoisoned(t, func(c *peerCall) *reply { return refuse(&p, c) })
				rows, good := rowsOf(n, tt.bad...)
				failed := land(t, p.open(p.unhurried()), puts(rows...))
				var guilty []int
				for _, f := range failed {
					guilty = append(guilty, f.Index)
					if f.Kind != Refused || f.Attempts < 1 || f.Attempts > 25 || f.Server != peerAddr || f.Class == "" {
						t.Fatalf("%+v", f)
					}
				}
				if !slices.Equal(guilty, tt.bad) {
					t.Fatalf("refused %v, want %v", guilty, tt.bad)
				}
				got := p.appliedRows()
				slices.Sort(got)
				if !slices.Equal(got, good) {
					t.Errorf("%d applied, want %d, each once", len(got), len(good))
				}
				if c := int(p.calls.Load()); c > tt.calls {
					t.Errorf("%d calls, want at most %d", c, tt.calls)
				}
			})
		}
	}
}

// Mutations that return during the search keep their order: equal versions would reveal a change.
func TestIsolationKeepsTheOrderOfARow(t *testing.T) {
	var p *poisoned
	p = newPoisoned(t, func(c *peerCall) *reply { return refusals["every mutation"](&p, c) })
	b := NewBatch("t")
	for i, row := range []string{"a", "x", "a", "bad", "a", "y", "a", "x", "z", "a"} {
		b.Mutate([]byte(row))
		for q := range i + 1 { // the server identifies the mutation by the number
			b.Put([]byte("e"), fmt.Append(nil, q), 1, []byte("value"))
		}
	}
	failed := land(t, p.open(p.unhurried()), b)
	if len(failed) != 1 || failed[0].Index != 3 {
		t.Fatalf("%+v", failed)
	}
	var a []int32
	for i, row := range p.appliedRows() {
		if row == "a" {
			a = append(a, p.cells[i]-1)
		}
	}
	if want := []int32{0, 2, 4, 6, 9}; !slices.Equal(a, want) {
		t.Errorf("the mutations of a were applied as %v, want %v", a, want)
	}
}

// If the server, or something in between, cuts the connection at a mutation or answers it with nonsense, that mutation is alone in the end,
// and the rest is written. Its own outcome stays unknown, so it is never refused.
func TestMutationThatCutsTheConnectionIsIsolated(t *testing.T) {
	for name, answer := range map[string]func() *reply{
		"cut":      func() *reply { return &reply{drop: true} },
		"nonsense": func() *reply { return &reply{raw: []byte{0, 0, 0, 2, 1, 0xff}} },
		"nothing":  func() *reply { return &reply{param: new(hbasepb.MultiResponse)} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPoisoned(t, func(c *peerCall) *reply {
					if slices.ContainsFunc(c.multi().RegionAction, isBad) {
						return answer()
					}
					return nil
				})
				rows, good := rowsOf(200, 77)
				opts := p.options()
				opts.Pause, opts.Retries, opts.OperationTimeout = 100*time.Millisecond, 5, time.Minute
				c := p.open(opts)
				failed := land(t, c, puts(rows...))
				if len(failed) != 1 || failed[0].Index != 77 || failed[0].Kind != Transient {
					t.Fatalf("%+v", failed)
				}
				got := p.appliedRows()
				slices.Sort(got)
				if got = slices.Compact(got); !slices.Equal(got, good) {
					t.Errorf("%d rows applied, want %d", len(got), len(good))
				}
				if n := p.calls.Load(); n > 30 {
					t.Errorf("%d calls", n)
				}
				c.Close()
				p.stop()
			})
		})
	}
}
