package hbase

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"brine/hbase/internal/locate"
	"brine/hbase/internal/remote"
)

// inTransition returns a peer of three regions. For the given time, hbase:meta has the middle one, from "g" to "p", at noRow or at no
// address.
func inTransition(t *testing.T, at string, away time.Duration) *peer {
	p := newPeer(t, "g", "p")
	_, name := p.region(1)
	p.moved = map[string]string{string(name): at}
	time.AfterFunc(away, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.moved = nil
	})
	return p
}

// A new client uses a table with a region that is on no server, or that hbase:meta does not have. That region's mutations and reads wait,
// reported by HBase's name for it, and nothing else waits with them.
func TestRegionInTransitionWaitsAlone(t *testing.T) {
	const away = 10 * time.Second
	for _, tt := range []struct {
		name, at string
		first    []string      // rows, of which "h" is the region's
		later    time.Duration // time that others, submitted after five seconds, may take
	}{
		{"on no server", "", []string{"a", "h", "z"}, 0},
		{"on no server, and the only one asked for", "", []string{"h"}, 0},
		{"not in hbase:meta", noRow, []string{"a", "h", "z"}, 0},
		{"not in hbase:meta, and the only one asked for", noRow, []string{"h"}, lookAfter}, // nobody knows where it ends
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := inTransition(t, tt.at, away)
				opts := p.options()
				opts.Pause, opts.Retries, opts.OperationTimeout = 100*time.Millisecond, 15, time.Hour
				var mu sync.Mutex
				reasons := map[string]bool{}
				opts.Hooks.Retry = func(r RetryInfo) {
					mu.Lock()
					defer mu.Unlock()
					reasons[r.Reason()+", "+r.Remedy] = true
				}
				c := p.open(opts)
				start := time.Now()
				stuck := c.Submit(t.Context(), puts(tt.first...))
				read := make(chan error, 1)
				go func() {
					_, err := c.Get(t.Context(), "t", Get{Row: []byte("h")})
					read <- err
				}()
				synctest.Wait()
				rest := slices.DeleteFunc(slices.Clone(tt.first), func(row string) bool { return row == "h" })
				if got := slices.Sorted(slices.Values(p.appliedRows())); !slices.Equal(got, rest) {
					t.Errorf("applied at once: %q, want %q", got, rest)
				}
				time.Sleep(away / 2)
				if failed := land(t, c, puts("b", "y")); failed != nil {
					t.Error(failed)
				}
				if took := time.Since(start) - away/2; took > tt.later || isDone(stuck) {
					t.Errorf("others took %v, at most %v is right; the region's flight is done: %v", took, tt.later, isDone(stuck))
				}
				if failed, err := stuck.Wait(t.Context()); failed != nil || err != nil {
					t.Error(failed, err)
				}
				if took := time.Since(start); took < away || took > away+lookAfter {
					t.Errorf("the region was written after %v, and back after %v", took, away)
				}
				if err := <-read; err != nil {
					t.Errorf("get: %v", err)
				}
				_ = c.Close()
				p.stop()
				if len(reasons) != 1 || !reasons["NoServerForRegionException, relocate"] {
					t.Errorf("reported as %v", reasons)
				}
			})
		})
	}
}

// However many regions are on no server, few reads of hbase:meta find that out.
func TestManyRegionsInTransitionCostFewLookUps(t *testing.T) {
	const regions, most = 300, 60 // about 20 are seen
	synctest.Test(t, func(t *testing.T) {
		var rows []string
		for i := range regions {
			rows = append(rows, fmt.Sprintf("%03d", i))
		}
		p := newPeer(t, rows[1:]...)
		p.moved = map[string]string{}
		for k := 1; k < regions; k++ {
			_, name := p.region(k)
			p.moved[string(name)] = ""
		}
		opts := p.options()
		opts.Pause, opts.Retries, opts.OperationTimeout = time.Second, 15, time.Hour
		c := p.open(opts)
		f := c.Submit(t.Context(), puts(rows...))
		synctest.Wait()
		if got := p.appliedRows(); len(got) != 1 || got[0] != rows[0] {
			t.Errorf("applied at once: %q, want %q", got, rows[0])
		}
		if n := p.count("Scan"); n > most {
			t.Errorf("%d reads of hbase:meta while %d regions are on no server, want at most %d", n, regions-1, most)
		}
		p.mu.Lock()
		p.moved = nil
		p.mu.Unlock()
		if failed, err := f.Wait(t.Context()); failed != nil || err != nil {
			t.Error(failed, err)
		}
		if n := p.count("Scan"); n > most {
			t.Errorf("%d reads of hbase:meta until %d regions were written, want at most %d", n, regions, most)
		}
		_ = c.Close()
		p.stop()
	})
}

// count returns the number of calls of a method.
func (p *peer) count(method string) (n int) {
	for _, m := range p.methods() {
		if m == method {
			n++
		}
	}
	return n
}

// When its retries end, the error says what hbase:meta has.
func TestRegionInTransitionIsNamedInTheEnd(t *testing.T) {
	for at, text := range map[string]string{
		"":    `row "h" of table t: the region is not on any server at the moment`,
		noRow: `row "h" of table t: hbase:meta has no region for it at the moment`,
	} {
		synctest.Test(t, func(t *testing.T) {
			p := inTransition(t, at, time.Hour)
			c := p.open(p.options())
			failed := land(t, c, puts("a", "h"))
			if len(failed) != 1 || failed[0].Index != 1 || failed[0].Kind != Transient || failed[0].Class != remote.Package+"client.NoServerForRegionException" ||
				!strings.Contains(failed[0].Err.Error(), text) {
				t.Errorf("%+v, want %s", failed, text)
			}
			_ = c.Close()
			p.stop()
		})
	}
}

// A reverse scan does not continue past a region that hbase:meta lacks just now: rows would be left out.
func TestRegionBeforeIsNotBeyondAHole(t *testing.T) {
	p := newPeer(t, "g", "p")
	_, middle := p.region(1)
	_, last := p.region(2)
	c := p.open(p.unhurried())
	for _, tt := range []struct {
		name   []byte // of the missing region
		before []byte
	}{{middle, []byte("p")}, {middle, []byte("m")}, {last, nil}, {last, []byte("z")}} {
		p.mu.Lock()
		p.moved = map[string]string{string(tt.name): noRow}
		p.mu.Unlock()
		c.locator.ForgetTable("t")
		if r, err := c.locator.FindBefore(t.Context(), "t", tt.before); !errors.Is(err, remote.ErrHole) {
			t.Errorf("before %q without %s: %+v, %v", tt.before, tt.name, r, err)
		}
	}
}

// A row of hbase:meta that cannot be found, because no server knows where hbase:meta is, has no region.
func TestUnknownPlaceOfMeta(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		c := p.open(p.options())
		forgetMeta(t, c)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if found, err := c.locator.FindAround(ctx, locate.MetaTable, locate.Wanted{Row: []byte("t,a,")}); err == nil || len(found) > 0 {
			t.Errorf("%v, %v", found, err)
		}
	})
}
