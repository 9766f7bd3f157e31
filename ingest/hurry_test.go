package ingest

import (
	"testing"
	"time"
)

// hurrier is a store that waits long after a failure, unless it is hurried.
type hurrier struct{ *holder }

func (h hurrier) Hurry()   { h.holder.Release() }
func (h hurrier) Release() {}

// A stop must not leave events to be redelivered that the store would take now, just because the writer's pause outlasts the stop.
func TestStopHurriesWhatWaits(t *testing.T) {
	h := newHolder()
	wantSettledByStop(t, h, hurrier{h})
}

// The same holds for the loop's own pause. But a short pause is not lengthened: the group may go on without us meanwhile.
func TestStopCutsPausesShort(t *testing.T) {
	const first = 100 * time.Millisecond // the first pause, by default
	for _, c := range []struct {
		name string
		down time.Duration // until the attempt after which the stop begins; 0: it is the first
		most time.Duration // of the stop
	}{
		{"a long pause", time.Minute, 2 * time.Second}, // of at least 7.5 s
		{"a short pause", 0, 2 * first},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
				b.produce(10, 0)
				s, down := newDownStore()
				l := start(t, b.defaults(s))
				at := 0
				if c.down > 0 {
					time.Sleep(c.down)
					at = s.submits()
				}
				for s.submits() == at { // until just after an attempt
					time.Sleep(time.Millisecond)
				}
				down.Store(false)
				began := time.Now()
				l.stop()
				if took := time.Since(began); took > c.most {
					t.Errorf("the stop took %v", took)
				}
				b.wantCommitted(b.sent)
				s.wantOnce(t, 10)
			})
		})
	}
}
