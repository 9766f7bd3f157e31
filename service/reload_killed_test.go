package service_test

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/ingest"
	"brine/ingest/control"
	"brine/service"
	"brine/service/devstack"
)

// until returns how far each mark says that both configurations may have written, without those that say nothing of it.
func (r *reloadable) until() (until []int64) {
	r.t.Helper()
	k := &r.Config().Kafka
	topic := control.Open(control.Options{Kafka: k.Options(), RequestTimeout: k.RequestTimeout, Topic: k.Control()})
	defer topic.Close()
	marks, _, err := topic.Marks(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	for _, m := range marks {
		if m.Until > 0 {
			until = append(until, m.Until)
		}
	}
	return until
}

// commits waits until a half has committed an offset in each partition.
func (r *reloadable) commits(half string, offset int64) {
	r.t.Helper()
	r.wait(half+" has committed", func() bool {
		status, _ := r.Half(half).Running()
		return len(status.Partitions) == devstack.Partitions &&
			!slices.ContainsFunc(status.Partitions, func(p ingest.PartitionStatus) bool { return p.Committed < offset })
	})
}

// TestRowsOfAKilledProcessAreAccepted ends a process whose commits no longer succeed, as if it had been killed between a write and its
// commit, and starts another one with a filter. What the first one has written behind its last commit is not wrong. After a stop that has
// settled and committed all, nothing is in doubt, also of what came before the next start.
func TestRowsOfAKilledProcessAreAccepted(t *testing.T) {
	eachProtocol(t, embedded, func(t *testing.T, on ground, lines string) {
		r := startOn(t, on, lines, service.Options{})
		r.publish("moving", 0, 20)
		r.commits("moving.rows", 20/devstack.Partitions)
		r.commits("moving.documents", 20/devstack.Partitions)
		r.storedAll()
		fault := r.on.servers.Kafka().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.GroupAuthorizationFailed, Count: -1})
		r.publish("moving", 20, 40)
		r.settled("moving.rows", 60)
		r.settled("moving.documents", 60)
		r.stop()
		fault.Remove()

		r.write(thirds(lines))
		r.startAgain()
		r.settled("moving.rows", 40)
		r.settled("moving.documents", 40)
		check := r.check(false)
		report := ran(t, check)
		if report.Problems() > 0 || report.Sources[0].Unknown != 40 || report.Sources[1].Unknown != 40 {
			t.Errorf("found %+v, want 40 records that either filter may have written", report)
		}
		if n, err := check.DeleteExtra(t.Context()); n != 0 || err == nil {
			t.Errorf("%d rows were deleted, %v", n, err)
		}
		if n := r.rows("moving"); n != 60 {
			t.Errorf("%d rows, want 60", n)
		}
		if got := r.until(); len(got) != 2*devstack.Partitions || got[0] != 60/devstack.Partitions {
			t.Errorf("marked until %v", got)
		}

		r.stop()
		r.publish("moving", 60, 40)
		r.write(lines)
		r.startAgain()
		r.settled("moving.rows", 40)
		r.settled("moving.documents", 40)
		if got := r.until(); len(got) != 2*devstack.Partitions {
			t.Errorf("a stop that settled all has left marks until %v", got)
		}
		if report := ran(t, r.check(false)); report.Problems() > 0 || report.Sources[0].Unknown != 40 {
			t.Errorf("found %+v, want the same 40 records as before", report)
		}
	})
}
