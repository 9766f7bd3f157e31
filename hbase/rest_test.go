package hbase

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A region that is open again after 10 s gets its mutations within a second of that, although its lane's pause continues for 8 s more; and
// looking uses no retries.
func TestLaneLooksForItsRegionInALongPause(t *testing.T) {
	const away = 10 * time.Second
	for _, tt := range []struct {
		name   string
		method string
		reply  *reply
		multis int // limit: those of HBase's pauses, and the one that is applied
	}{
		{"region closed", "Multi", exception("NotServingRegionException", "t,,7 is not online"), 9},
		{"server gone", "Multi", &reply{drop: true}, 10}, // one on the idle connection, which does not count
		{"hbase:meta closed too", "Scan", exception("NotServingRegionException", "hbase:meta,,1 is not online"), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPeer(t)
				start := time.Now()
				time.AfterFunc(away, func() {
					p.mu.Lock()
					defer p.mu.Unlock()
					p.opened = 3
				})
				p.answer = func(c *peerCall) *reply {
					if c.method == tt.method && time.Since(start) < away {
						return tt.reply
					}
					return nil
				}
				opts := p.options()
				opts.Pause, opts.Retries, opts.OperationTimeout = 100*time.Millisecond, 15, time.Hour
				c := p.open(opts)
				if failed := land(t, c, puts("a", "b")); failed != nil {
					t.Fatal(failed)
				}
				if took := time.Since(start); took < away || took > away+1200*time.Millisecond {
					t.Errorf("applied after %v, wanted within a second after %v", took, away)
				}
				if multis := p.count("Multi"); multis > tt.multis {
					t.Errorf("%d calls, want at most %d", multis, tt.multis)
				}
				_ = c.Close()
				p.stop()
			})
		})
	}
}

// A caller with little time left need not wait for the end of a pause that the server requested.
func TestHurryEndsAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, "m")
		var busy atomic.Bool
		busy.Store(true)
		p.answer = func(c *peerCall) *reply {
			if c.method == "Multi" && busy.Load() {
				return exception("CallQueueTooBigException", "full")
			}
			return nil
		}
		opts := p.options()
		opts.PauseServerOverloaded, opts.Retries, opts.OperationTimeout = time.Minute, 15, time.Hour
		c := p.open(opts)
		m, err := c.Mutator(MutatorOptions{Autoflush: true})
		if err != nil {
			t.Fatal(err)
		}
		f := m.Submit(t.Context(), puts("a", "z"))
		time.Sleep(10 * time.Second)
		m.Hurry() // in vain: the server is still busy
		time.Sleep(time.Second)
		busy.Store(false)
		began := time.Now()
		m.Hurry()
		if failed, err := f.Wait(t.Context()); len(failed) > 0 || err != nil {
			t.Errorf("%v, %v", failed, err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("applied after %v", took)
		}
		_ = c.Close()
		p.stop()
	})
}
