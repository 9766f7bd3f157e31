package service_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"brine/ingest"
	"brine/ingest/control"
	"brine/service"
	"brine/service/devstack"
	"brine/service/reload"
)

// another starts a second process of the same group, with the configuration that the first one has now.
func (r *reloadable) another() *reloadable {
	r.t.Helper()
	b := &reloadable{on: r.on, log: r.log, text: r.text}
	cfg, _, err := b.source()
	if err != nil {
		r.t.Fatal(err)
	}
	s, err := service.Open(r.t.Context(), cfg, service.Options{For: service.ToRun, Halves: []string{"moving.rows"}, Log: slog.New(slog.DiscardHandler),
		Source: b.source})
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.running = &running{s, r.t, cancel, make(chan error, 1)}
	go func() { b.ended <- s.Run(ctx) }()
	r.t.Cleanup(b.stop)
	return b
}

// owns waits until the half moving.rows owns n partitions of which as many are held.
func (r *reloadable) owns(n, held int) {
	r.t.Helper()
	r.wait("moving.rows owns its partitions, and waits for what is held", func() bool {
		status, _ := r.Half("moving.rows").Running()
		waiting := 0
		for _, p := range status.Partitions {
			if p.Reason == ingest.OtherConfiguration {
				waiting++
				if p.State != ingest.Waiting || !p.Held || !strings.Contains(p.Detail, "reload this process") {
					r.t.Errorf("a partition is held as %+v", p)
				}
			}
		}
		return status.Joined && len(status.Partitions) == n && waiting == held
	})
}

// marks returns how often each partition of moving was marked.
func (r *reloadable) marks() []int {
	r.t.Helper()
	k := &r.Config().Kafka
	topic := control.Open(control.Options{Kafka: k.Options(), RequestTimeout: k.RequestTimeout, Topic: k.Control()})
	defer topic.Close()
	marks, _, err := topic.Marks(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	of := make([]int, devstack.Partitions)
	for _, m := range marks {
		of[m.Partition]++
	}
	return of
}

// The grounds of eachProtocol: the embedded Kafka, or a real one too.
const (
	embedded    = 2
	andRealOnes = 3
)

func eachProtocol(t *testing.T, grounds int, test func(t *testing.T, on ground, lines string)) {
	for _, of := range []struct {
		name, protocol string
		ground         func(t *testing.T) ground
	}{
		{"embedded, classic", "classic", embeddedGround},
		{"embedded, consumer", "consumer", embeddedGround},
		{"real, consumer", "consumer", realGround},
	}[:grounds] {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			test(t, of.ground(t), strings.Replace(lines, "group: brine,", "group: brine, group_protocol: "+of.protocol+",", 1))
		})
	}
}

// thirds are lines in which moving keeps every third record.
func thirds(lines string) string {
	return strings.Replace(lines, "topic: moving\n", "topic: moving\n    when: 'n % 3 == 0'\n", 1)
}

const half = devstack.Partitions / 2

// startTwo starts two members of the half moving.rows, which share its partitions, and have 100 records written.
func startTwo(t *testing.T, on ground, lines string) (a, b *reloadable) {
	t.Helper()
	a = startOn(t, on, lines, service.Options{Halves: []string{"moving.rows"}})
	b = a.another()
	a.owns(half, 0)
	b.owns(half, 0)
	a.publish("moving", 0, 100)
	a.committed(25, b)
	return a, b
}

// committed waits until a member of moving.rows, or its other member, has committed an offset in each partition.
func (r *reloadable) committed(offset int64, others ...*reloadable) {
	r.t.Helper()
	r.wait("all partitions are committed", func() bool {
		n := 0
		for _, of := range append(others, r) {
			status, _ := of.Half("moving.rows").Running()
			for _, p := range status.Partitions {
				if p.Committed >= offset {
					n++
				}
			}
		}
		return n == devstack.Partitions
	})
}

// TestMemberThatIsNotReloadedWaitsBeforeTheReloadedOneReads: the partitions of a half that a reload changes may be another member's before
// the half that continues has joined the group. That member must not go on with them by the old filter.
func TestMemberThatIsNotReloadedWaitsBeforeTheReloadedOneReads(t *testing.T) {
	eachProtocol(t, embedded, func(t *testing.T, on ground, lines string) {
		a, b := startTwo(t, on, lines)
		a.reload(thirds(lines), reload.Applied)
		a.stop() // it has read nothing by the new filter, and may not have joined
		b.owns(devstack.Partitions, half)
		b.publish("moving", 100, 100)
		b.reload(thirds(lines), reload.Applied)
		b.owns(devstack.Partitions, 0)
		b.publish("moving", 200, 100)
		b.committed(75)
		if report := ran(t, b.checkOf(false, "moving.rows")); report.Problems() > 0 {
			t.Errorf("found %+v", report)
		}
	})
}

// TestMemberThatIsNotReloadedLeavesAloneWhatAReloadedOneHasRead reloads one of two members with a filter and stops it. The other member,
// which has not been reloaded, must not read what the first one has read by the filter, but goes on with its own partitions; once it is
// reloaded too, it reads all.
func TestMemberThatIsNotReloadedLeavesAloneWhatAReloadedOneHasRead(t *testing.T) {
	eachProtocol(t, andRealOnes, func(t *testing.T, on ground, lines string) {
		a, b := startTwo(t, on, lines)
		a.reload(thirds(lines), reload.Applied)
		a.owns(half, 0)
		b.owns(half, 0)
		a.publish("moving", 100, 100)
		a.committed(50, b)
		a.stop()
		b.owns(devstack.Partitions, half)
		before := b.Half("moving.rows").Counts().Settled
		b.publish("moving", 200, 100)
		b.wait("it goes on with its own partitions", func() bool { return b.Half("moving.rows").Counts().Settled == before+100/2 })
		b.owns(devstack.Partitions, half)

		b.reload(thirds(lines), reload.Applied)
		b.owns(devstack.Partitions, 0)
		b.publish("moving", 300, 100)
		b.committed(100)
		if of := b.marks(); slices.Min(of) < 1 {
			t.Errorf("partitions were marked %v times, want each", of)
		}
		if report := ran(t, b.checkOf(false, "moving.rows")); report.Problems() > 0 || report.Sources[0].Unknown > 0 {
			t.Errorf("found %+v", report)
		}
	})
}

// TestPartitionOfAMemberThatWasNotReloadedIsMarked reloads one of two members with a filter and stops the other one, whose partitions the
// first one takes: what the other has read of them is judged by the configuration of that time.
func TestPartitionOfAMemberThatWasNotReloadedIsMarked(t *testing.T) {
	eachProtocol(t, embedded, func(t *testing.T, on ground, lines string) {
		a, b := startTwo(t, on, lines)
		a.reload(thirds(lines), reload.Applied)
		b.stop()
		a.owns(devstack.Partitions, 0)
		a.publish("moving", 100, 100)
		a.committed(50)
		if of := a.marks(); slices.Min(of) < 1 {
			t.Errorf("partitions were marked %v times, want each", of)
		}
		if n := a.rows("moving"); n != 100+33 {
			t.Errorf("%d rows, want 100 and a third of 100 more", n)
		}
		report := ran(t, a.checkOf(false, "moving.rows"))
		if report.Problems() > 0 || report.Sources[0].Unknown > 0 {
			t.Errorf("found %+v", report)
		}
		if report := ran(t, a.checkOf(true, "moving.rows")); report.Problems() == 0 {
			t.Error("the filter of now found nothing extra, so this test shows nothing")
		}
	})
}
