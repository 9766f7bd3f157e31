package hbase

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// silentRegion returns a peer with two regions. The second one, from "m" on, answers nothing until the gate is closed.
func silentRegion(t *testing.T, gate <-chan struct{}) *peer {
	p := newPeer(t, "m")
	_, silent := p.region(1)
	p.answer = func(c *peerCall) *reply {
		if c.method != "Multi" {
			return nil
		}
		for _, ra := range c.multi().RegionAction {
			if string(ra.Region.Value) == string(silent) {
				r := p.multi(c)
				r.after = gate
				return r
			}
		}
		return nil
	}
	return p
}

// wide returns a row that takes about 100 bytes with its cell.
func wide(prefix string, i int) string {
	return fmt.Sprintf("%s%05d%s", prefix, i, strings.Repeat("-", 30))
}

// A region that accepts nothing holds a quarter of the bound and no more: then writers to it wait, while writers to others continue.
func TestLaneHoldsAQuarterOfTheBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		p := silentRegion(t, gate)
		var most atomic.Int64
		opts := p.options()
		opts.RPCTimeout, opts.OperationTimeout = time.Hour, 2*time.Hour
		opts.MaxBufferedBytes = 64 << 10
		opts.Hooks.Buffered = func(i BufferedInfo) { most.Store(max(most.Load(), int64(i.Bytes))) }
		var blocked atomic.Int64
		opts.Hooks.Blocked = func(i BlockedInfo) {
			if i.Context != nil {
				blocked.Add(int64(i.Duration))
			}
		}
		c := p.open(opts)
		queued := make(chan int)
		go func() { // until its Submit blocks for good
			n := 0
			for ; ; n++ {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				f := c.Submit(ctx, puts(wide("z", n)))
				cancel()
				if isDone(f) {
					break
				}
			}
			queued <- n
		}()
		n := <-queued
		bytes := n * puts(wide("z", 0)).Bytes()
		if quarter := opts.MaxBufferedBytes / 4; bytes > quarter || bytes < quarter-200 {
			t.Errorf("the silent lane took %d bytes, a quarter of the bound is %d", bytes, quarter)
		}
		if d := time.Duration(blocked.Load()); d != time.Minute {
			t.Errorf("Submit waited for room for a minute, and reported %v", d)
		}
		start := time.Now()
		for i := range 2000 {
			if failed := land(t, c, puts(wide("a", i))); failed != nil {
				t.Fatal(failed)
			}
		}
		if d := time.Since(start); d > 0 {
			t.Errorf("the other region waited %v", d)
		}
		// A batch for both lanes waits as a whole and takes no room meanwhile.
		both := make(chan *Flight)
		go func() { both <- c.Submit(t.Context(), puts("a", wide("z", n))) }()
		synctest.Wait()
		if got := p.appliedRows(); got[len(got)-1] == "a" {
			t.Error("half of a batch went")
		}
		if now := c.Stats().Buffered; now != bytes {
			t.Errorf("%d bytes are taken, want %d", now, bytes)
		}
		close(gate)
		if failed, err := (<-both).Wait(t.Context()); failed != nil || err != nil {
			t.Error(failed, err)
		}
		if most.Load() > int64(opts.MaxBufferedBytes) {
			t.Errorf("%d bytes were buffered", most.Load())
		}
		c.Close()
		p.stop()
	})
}

// A batch with more for one lane than the lane may hold is sent when the lane is empty; what is held back does not block it.
func TestBatchLargerThanALaneGoesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		opts := p.options()
		opts.MaxBufferedBytes = 8 << 10
		c := p.open(opts)
		big := func(k int) *Batch {
			var rows []string
			for i := range 50 {
				rows = append(rows, wide(fmt.Sprint("r", k), i))
			}
			return puts(rows...)
		}
		m := mutator(t, c, MutatorOptions{Linger: time.Hour})
		first := m.Submit(t.Context(), puts("a"))
		if failed := land(t, c, big(1)); failed != nil {
			t.Error(failed)
		}
		if failed := land(t, c, big(2)); failed != nil {
			t.Error(failed)
		}
		if !isDone(first) {
			t.Error("what was held back has not left")
		}
		if rows := p.appliedRows(); len(rows) != 101 || rows[0] != "a" {
			t.Errorf("%d rows applied", len(rows))
		}
		c.Close()
		p.stop()
	})
}

// Close wakes callers that wait for room in a lane.
func TestCloseEndsTheWaitForALane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		p := silentRegion(t, gate)
		opts := p.options()
		opts.RPCTimeout, opts.OperationTimeout = time.Hour, 2*time.Hour
		opts.MaxBufferedBytes = 4 << 10
		c := p.open(opts)
		flights := make(chan *Flight, 100)
		go func() {
			defer close(flights)
			for i := range 20 {
				flights <- c.Submit(t.Context(), puts(wide("z", i)))
			}
		}()
		synctest.Wait()
		c.Close()
		n := 0
		for f := range flights {
			if failed, err := f.Wait(t.Context()); err != nil || len(failed) != 1 {
				t.Errorf("%+v %v", failed, err)
			}
			n++
		}
		if n != 20 {
			t.Errorf("%d flights", n)
		}
		close(gate)
		p.stop()
	})
}

// A batch of more than a lane may hold waits for an empty lane, and small ones that keep arriving do not overtake it.
func TestLargeBatchIsNotOvertakenForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		p.answer = func(c *peerCall) *reply {
			if c.method != "Multi" {
				return nil
			}
			after := make(chan struct{})
			time.AfterFunc(10*time.Millisecond, func() { close(after) })
			r := p.multi(c)
			r.after = after
			return r
		}
		opts := p.options()
		opts.MaxBufferedBytes, opts.MaxRequestRows = 64<<10, 20
		opts.OperationTimeout = time.Hour
		c := p.open(opts)
		stop := make(chan struct{})
		var small sync.WaitGroup
		for w := range 4 {
			small.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					default:
					}
					var rows []string
					for k := range 10 {
						rows = append(rows, wide(fmt.Sprint(w), 10*i+k))
					}
					c.Submit(t.Context(), puts(rows...))
				}
			})
		}
		time.Sleep(time.Second)
		var rows []string
		for i := range 300 {
			rows = append(rows, wide("large", i))
		}
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		f := c.Submit(ctx, puts(rows...))
		if d := time.Since(start); d > time.Second {
			t.Errorf("the large batch was let in after %v", d)
		}
		close(stop)
		small.Wait()
		if failed, err := f.Wait(t.Context()); err != nil || failed != nil {
			t.Error(err, failed)
		}
		c.Close()
		p.stop()
	})
}
