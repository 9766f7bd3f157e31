package hbase

import (
	"testing"
	"testing/synctest"
	"time"
)

// A region that is open again after 10 s gets its mutations within a second of that, though its lane's pause goes on for 8 s more;
// and looking costs no retries.
func TestLaneLooksForItsRegionInALongPause(t *testing.T) {
	const away = 10 * time.Second
	for _, tt := range []struct {
		name   string
		method string
		reply  *reply
		multis int // at most: those of HBase's pauses, and the one that is applied
	}{
		{"region closed", "Multi", exception("NotServingRegionException", "t,,7 is not online"), 9},
		{"server gone", "Multi", &reply{drop: true}, 10}, // once on the idle connection, which counts as none
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
				multis := 0
				for _, m := range p.methods() {
					if m == "Multi" {
						multis++
					}
				}
				if multis > tt.multis {
					t.Errorf("%d calls, want at most %d", multis, tt.multis)
				}
				_ = c.Close()
				p.stop()
			})
		})
	}
}
