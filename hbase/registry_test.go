package hbase

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A master that accepts connections and is then silent is given up after the connect time-out, not that of a call: a user who starts brine
// with a wrong address gets an error at once.
func TestSilentMasterIsNotWaitedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		p.answer = func(c *peerCall) *reply { return &reply{silent: c.method == "GetMetaRegionLocations"} }
		opts := p.options()
		opts.DialTimeout, opts.RPCTimeout, opts.OperationTimeout = 5*time.Second, time.Minute, time.Hour
		start := time.Now()
		_, err := Open(context.Background(), opts)
		if err == nil || !strings.Contains(err.Error(), "no master answered") || !strings.Contains(err.Error(), peerAddr) {
			t.Errorf("error: %v", err)
		}
		if d := time.Since(start); d != 5*time.Second {
			t.Errorf("took %v", d)
		}
		p.stop()
	})
}
