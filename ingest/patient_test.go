package ingest

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/ingest/internal/broker"
)

// TestPatientLoopIsRefusedAndGoesOn: a group's refusal ends a loop at once. A patient one retries until it is accepted, and counts as
// outside the group since the first refusal.
func TestPatientLoopIsRefusedAndGoesOn(t *testing.T) {
	const refusals = 3
	for name, c := range map[string]struct {
		protocol GroupProtocol
		call     kmsg.Key
		answer   *kerr.Error
	}{
		"a session time-out that brokers do not take": {Classic, kmsg.JoinGroup, kerr.InvalidSessionTimeout},
		"a group without rights":                      {Classic, kmsg.JoinGroup, kerr.GroupAuthorizationFailed},
		"a right that is taken away":                  {Classic, kmsg.Heartbeat, kerr.GroupAuthorizationFailed},
		"a group without rights, by brokers":          {Consumer, kmsg.ConsumerGroupHeartbeat, kerr.GroupAuthorizationFailed},
		"a protocol that is turned off":               {Consumer, kmsg.ConsumerGroupHeartbeat, kerr.UnsupportedVersion},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBroker(t, 1)
			b.protocol = c.protocol
			b.Fault(kfake.Fault{Keys: []kmsg.Key{c.call}, Err: c.answer, Count: refusals})
			if err := Run(t.Context(), b.options(newStore())); !broker.Refused(err) && !errors.Is(err, broker.ErrNoConsumers) {
				t.Errorf("a loop without patience: %v", err)
			}
			s := newStore()
			o := b.options(s)
			o.Patient = true
			var refused atomic.Int64
			o.Hooks.JoinFailed = func(JoinFailedInfo) { refused.Add(1) }
			l := start(t, o)
			eventually(t, "refused again", func() bool { return refused.Load() >= refusals-1 })
			b.produce(10, 0)
			eventually(t, "written", func() bool { return s.holds(0, 10) })
			l.stop()
			b.wantCommitted(b.sent)
		})
	}
}

// TestFencedLoopHasNoPatience: of two processes with one instance id, only the other goes on.
func TestFencedLoopHasNoPatience(t *testing.T) {
	b := newBroker(t, 1)
	b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.JoinGroup}, Err: kerr.FencedInstanceID, Count: -1})
	o := b.options(newStore())
	o.Patient, o.InstanceID = true, "one"
	if err := Run(t.Context(), o); !errors.Is(err, broker.ErrFenced) {
		t.Error(err)
	}
}

// TestLoopIsApartSinceItLeft checks that this holds however often the loop has tried to rejoin.
func TestLoopIsApartSinceItLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Loop{}
		began := time.Now()
		for range 3 {
			l.parted()
			time.Sleep(time.Minute)
		}
		if !l.apart.Equal(began) {
			t.Errorf("apart since %v, want %v", l.apart, began)
		}
		l.inside(nil, 0)
		left := time.Now()
		for range 3 {
			l.parted()
			time.Sleep(time.Minute)
		}
		if !l.apart.Equal(left) {
			t.Errorf("apart since %v, want %v", l.apart, left)
		}
	})
}
