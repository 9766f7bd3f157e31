package ingest

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestJoinThatWaitsForADeadMemberSaysSo checks that the log and Status report what a join waits for and how long at most, until it is over.
func TestJoinThatWaitsForADeadMemberSaysSo(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.produce(10, 0)
		s := newStore()
		o := b.defaults(s)
		o.StopTimeout = time.Millisecond // a kill allows no time
		first := start(t, o)
		eventually(t, "all written", func() bool { return s.holds(0, 10) })
		first.kill()

		var log bytes.Buffer
		o = b.defaults(s)
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		second := start(t, o)
		time.Sleep(10 * time.Second)
		status := second.Status()
		const hint = "; with its own instance_id, a process that restarts gets its partitions back at once"
		if want := "waiting for the group's other members: a process that was killed keeps its partitions until its session ends, in at most 20s (session_timeout)" + hint; status.Joined || status.Detail != want {
			t.Errorf("after 10 s: %+v", status)
		}
		time.Sleep(25 * time.Second)
		if status := second.Status(); !status.Joined || status.Detail != "" {
			t.Errorf("after 35 s: %+v", status)
		}
		second.stop()
		if n := strings.Count(log.String(), "not yet a member of the group"); n != 2 || !strings.Contains(log.String(), "in at most 27s (session_timeout)"+hint) {
			t.Errorf("said %d times:\n%s", n, log.String())
		}
	})
}

// TestJoinThatIsSoonDoneSaysNothing also checks a process that returns with its instance id after a kill.
func TestJoinThatIsSoonDoneSaysNothing(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		var log bytes.Buffer
		o := b.defaults(newStore())
		o.InstanceID = "one"
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		first := start(t, o)
		eventually(t, "joined", func() bool { return first.Status().Joined })
		first.kill()
		second := start(t, o)
		time.Sleep(10 * time.Second)
		if !second.Status().Joined || strings.Contains(log.String(), "not yet a member") {
			t.Errorf("%+v\n%s", second.Status(), log.String())
		}
		second.stop()
	})
}
