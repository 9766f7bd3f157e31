package hbase

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A server keeps a call of four regions. While hbase:meta has one of them there, the client leaves the call alone, however long it takes.
// Once all are open elsewhere, the client gives it up within two seconds and writes everything there.
func TestCallIsGivenUpOnceAllItsRegionsAreElsewhere(t *testing.T) {
	for _, tt := range []struct {
		moved int // number of the four regions
		at    string
		again bool
	}{
		{4, "other.example:16000", true},
		{3, "other.example:16000", false},
		{4, peerAddr, false}, // reopened where they were
	} {
		t.Run(fmt.Sprint(tt.moved, " regions at ", tt.at), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { keptCall(t, tt.moved, tt.at, tt.again) })
		})
	}
}

func keptCall(t *testing.T, moved int, at string, again bool) {
	const givenAway, answered = 10 * time.Second, 40 * time.Second
	rows := strings.Split("0123456789abcdef", "")
	p := newPeer(t, sixteen()...)
	var kept *reply
	var regions []string // of the call that the server keeps
	keep := false
	p.answer = func(c *peerCall) *reply {
		if c.method != "Multi" || !keep || kept != nil {
			return nil
		}
		for _, ra := range c.multi().RegionAction {
			regions = append(regions, string(ra.Region.Value))
		}
		late := make(chan struct{})
		time.AfterFunc(answered, func() { close(late) })
		if kept = (&reply{param: acknowledgement(c.multi())}); !again {
			kept = p.multi(c)
		}
		kept.after = late
		return kept
	}
	opts := p.options()
	opts.MaxServerCalls, opts.RPCTimeout, opts.OperationTimeout = 1, time.Minute, time.Hour
	retried := 0
	opts.Hooks.Retry = func(r RetryInfo) { retried += r.Mutations }
	c := p.open(opts)
	if failed := land(t, c, puts(rows...)); failed != nil { // now all regions are known
		t.Fatal(failed)
	}
	keep = true
	start := time.Now()
	time.AfterFunc(givenAway, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.opened, p.moved = 9, map[string]string{}
		for _, name := range regions[:moved] {
			p.moved[name] = at
		}
	})
	if failed := land(t, c, puts(rows...)); failed != nil {
		t.Fatal(failed)
	}
	took := time.Since(start)
	if len(regions) != 4 || again && (took < givenAway || took > givenAway+2*lookAfter || retried != 4) || !again && (took != answered || retried > 0) {
		t.Errorf("written after %v with %d retries; %d regions were elsewhere after %v", took, retried, len(regions), givenAway)
	}
	if applied := p.appliedRows(); len(applied) != 2*len(rows) {
		t.Errorf("applied %q", applied)
	}
	c.Close()
	p.stop()
}

// A server hangs, and its regions move to others: the load continues there, in order, long before the server does. What the server applied
// and did not answer is applied twice; when the server continues, it refuses the rest. A call may take longer than any flight is waited
// for.
func TestFrozenServerWithoutItsRegionsUnderLoad(t *testing.T) {
	l := newLoad(t, 3, func(o *Options) { o.RPCTimeout, o.DialTimeout = 15*time.Minute, time.Second })
	l.during(func() {
		l.pause() // the client knows where the regions are
		l.node(1).Freeze()
		for _, r := range l.s.Regions("t") {
			if r.Node == 1 {
				l.must(l.s.Move(r.Encoded, l.elsewhere(r)))
			}
		}
		l.until(func() bool { return l.retries.Load() > 0 }) // what the frozen server keeps is not waited for
		l.pause()
		l.node(1).Thaw() // now it refuses the calls it has received
		l.pause()
	})
	l.check(false)
}
