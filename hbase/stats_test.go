package hbase

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/remote"

	"google.golang.org/protobuf/proto"
)

// Stats show what waits where: unanswered calls, lanes that wait for their turn, a lane that rests after a failure.
func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, sixteen()...)
		gate := make(chan struct{})
		_, failing := p.region(5)
		p.answer = func(c *peerCall) *reply {
			if c.method != "Multi" {
				return nil
			}
			r := p.multi(c)
			if m := c.multi(); c.nth > 0 && string(m.RegionAction[0].Region.Value) == string(failing) {
				r.param.(*hbasepb.MultiResponse).RegionActionResult[0] = &hbasepb.RegionActionResult{
					Exception: &hbasepb.NameBytesPair{Name: proto.String(remote.Package + "RegionTooBusyException")}}
				return r
			}
			if c.nth > 0 {
				r.after = gate
			}
			return r
		}
		opts := p.options()
		opts.MaxServerCalls, opts.Pause = 1, opts.RPCTimeout/2
		c := p.open(opts)
		if failed := land(t, c, puts("0")); failed != nil { // now all regions are known
			t.Fatal(failed)
		}
		if got := c.Stats(); got.Buffered != 0 || got.Lanes != 0 || got.Fullest != 0 || !slices.Equal(got.Servers, []ServerStats{{Addr: peerAddr}}) {
			t.Errorf("at rest %+v", got)
		}
		busy := c.Submit(t.Context(), puts("5"))
		synctest.Wait() // answered as too busy
		waiting := c.Submit(t.Context(), puts("0", "1", "1", "2"))
		synctest.Wait()
		one := puts("1").Bytes()
		want := Stats{Buffered: 5 * one, Lanes: 4, Resting: 1, Fullest: 2 * one, Servers: []ServerStats{{Addr: peerAddr, Calls: 1, Lanes: 2}}}
		got := c.Stats()
		if got.Buffered != want.Buffered || got.Lanes != want.Lanes || got.Resting != want.Resting || got.Fullest != want.Fullest || got.Blocked != 0 || !slices.Equal(got.Servers, want.Servers) {
			t.Errorf("%+v, want %+v", got, want)
		}
		close(gate)
		_, _ = waiting.Wait(t.Context())
		c.Close()
		<-busy.Done()
		p.stop()
	})
}

// For each call of mutations, the Send hook reports how much is sent, how long it waited at most, and how many calls are unanswered.
func TestSendReportsWhatWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		p.answer = func(c *peerCall) *reply {
			if c.method != "Multi" || c.nth != 1 {
				return nil
			}
			after := make(chan struct{})
			time.AfterFunc(3*time.Second, func() { close(after) })
			r := p.multi(c)
			r.after = after
			return r
		}
		var sent []SendInfo
		opts := p.options()
		opts.RPCTimeout = 10 * time.Second
		opts.OperationTimeout = time.Minute
		opts.Hooks.Send = func(i SendInfo) { sent = append(sent, i) }
		c := p.open(opts)
		if failed := land(t, c, puts("a")); failed != nil { // now the region is known
			t.Fatal(failed)
		}
		first := c.Submit(t.Context(), puts("a"))
		time.Sleep(time.Second)
		second := c.Submit(t.Context(), puts("a", "b")) // waits for the lane, 2 s more
		time.Sleep(500 * time.Millisecond)
		third := c.Submit(t.Context(), puts("c")) // sent together with it
		for _, f := range []*Flight{first, second, third} {
			if failed, err := f.Wait(t.Context()); failed != nil || err != nil {
				t.Fatal(failed, err)
			}
		}
		one := puts("a").Bytes()
		want := []SendInfo{
			{Server: peerAddr, Regions: 1, Rows: 1, Bytes: one, Out: 1}, {Server: peerAddr, Regions: 1, Rows: 1, Bytes: one, Out: 1},
			{Server: peerAddr, Regions: 1, Rows: 3, Bytes: 3 * one, Waited: 2 * time.Second, Out: 1},
		}
		if !slices.Equal(sent, want) {
			t.Errorf("sent %+v, want %+v", sent, want)
		}
		c.Close()
		p.stop()
	})
}
