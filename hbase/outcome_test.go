package hbase

import (
	"testing"
	"testing/synctest"
	"time"
)

// A mutation fails when its retries are used up, or before a pause that would exceed its time.
func TestTransientFailureEndsAfterRetriesOrTime(t *testing.T) {
	tests := []struct {
		name     string
		retries  int
		timeout  time.Duration
		attempts int
		after    time.Duration
	}{
		{"retries", 2, time.Minute, 3, 300 * time.Millisecond},
		{"time", 1000, time.Minute, 12, 100 * (1 + 2 + 3 + 5 + 10 + 20 + 40 + 4*100) * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPeer(t)
				p.answer = tooBusy
				opts := p.options()
				opts.Pause, opts.Retries, opts.OperationTimeout = 100*time.Millisecond, tt.retries, tt.timeout
				c := p.open(opts)
				start := time.Now()
				failed := land(t, c, puts("a"))
				if len(failed) != 1 || failed[0].Kind != Transient || failed[0].Attempts != tt.attempts {
					t.Fatalf("%+v", failed)
				}
				if d := time.Since(start); d < tt.after || d > tt.after+tt.after/100 {
					t.Errorf("given up after %v, want %v to 1 %% more", d, tt.after)
				}
				c.Close()
				p.stop()
			})
		})
	}
}

// tooBusy is the answer of a region that accepts nothing.
func tooBusy(c *peerCall) *reply {
	if c.method == "Multi" {
		return exception("RegionTooBusyException", "")
	}
	return nil
}

// The pauses of a lane follow HBase's table to within 1 %, and are exactly what a throttled server requests.
func TestPausesFollowTheTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		p.answer = func(c *peerCall) *reply {
			switch {
			case c.method != "Multi":
				return nil
			case c.nth < 4:
				return exception("RegionTooBusyException", "")
			case c.nth == 4:
				return exception("quotas.RpcThrottlingException", "request size limit exceeded - wait 1mins, 2sec, 3ms")
			case c.nth == 5:
				return exception("CallQueueTooBigException", "")
			}
			return nil
		}
		var pauses []time.Duration
		opts := p.options()
		opts.Pause, opts.PauseServerOverloaded = 100*time.Millisecond, 500*time.Millisecond
		opts.Retries, opts.OperationTimeout = 6, time.Hour
		opts.Hooks.Retry = func(r RetryInfo) { pauses = append(pauses, r.Pause) }
		c := p.open(opts)
		if failed := land(t, c, puts("a")); failed != nil {
			t.Fatal(failed)
		}
		c.Close()
		want := []time.Duration{100e6, 200e6, 300e6, 500e6, 62003e6, 500e6 * 20}
		for i, w := range want {
			if i >= len(pauses) || pauses[i] < w || pauses[i] > w+w/100 {
				t.Fatalf("pauses %v, want %v", pauses, want)
			}
		}
		if pauses[4] != want[4] {
			t.Errorf("throttled for %v, the server said %v", pauses[4], want[4])
		}
		p.stop()
	})
}
