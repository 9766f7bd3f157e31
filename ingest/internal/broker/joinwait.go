package broker

import (
	"fmt"
	"sync"
	"time"
)

// A join waits until every member that the group knows has joined or has been silent for its session. So after a process was killed, the
// next one waits for the rest of the dead one's session. The wait is reported after joinPatience, and then every joinRepeat.
const (
	joinPatience = 3 * time.Second
	joinRepeat   = 15 * time.Second
)

// waitAloud reports that a join waits, until the returned function is called.
func (m *Member) waitAloud() (done func()) {
	began, stop := time.Now(), make(chan struct{})
	var reporter sync.WaitGroup
	reporter.Go(func() {
		timer := time.NewTimer(joinPatience)
		defer timer.Stop()
		for {
			select {
			case <-stop:
				m.Waits(time.Time{})
				return
			case <-timer.C:
			}
			m.Waits(began)
			m.Logger.Warn("not yet a member of the group", "group", m.Group, "reason", m.JoinWait(time.Since(began)))
			timer.Reset(joinRepeat)
		}
	})
	return func() {
		close(stop)
		reporter.Wait()
	}
}

// JoinWait describes what a join waits for, and for how long at most.
func (r *Membership) JoinWait(waited time.Duration) string {
	what, limit, name := "a process that was killed keeps its partitions until its session ends", r.SessionTimeout, "session_timeout"
	if waited >= limit {
		what, limit, name = "the other members are settling what they have", r.RebalanceTimeout, "rebalance_timeout"
	}
	text := fmt.Sprintf("waiting for the group's other members: %s, in at most %v (%s)", what, max(0, limit-waited).Round(time.Second), name)
	if r.InstanceID == "" {
		text += "; with its own instance_id, a process that restarts gets its partitions back at once"
	}
	return text
}
