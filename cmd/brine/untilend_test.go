package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/hbase/embedded"
	"brine/internal/sample"
)

// TestUntilEndWaitsForAnotherMember: half of the partitions belong to a member that does nothing. The run goes on after its own are
// settled, gets the others when that member is gone, and ends when the group has committed everything.
func TestUntilEndWaitsForAnotherMember(t *testing.T) {
	t.Parallel()
	servers, _ := ownStack(t, embedded.Options{})
	j := newJob(t, servers)
	j.publish(first(sample.Scans(), 4_000))
	ends, err := endOffsets(t.Context(), j.client(), j.topic)
	if err != nil {
		t.Fatal(err)
	}
	idle := j.idleMember(j.name + ".scans.rows")
	cmd := j.command("run", "-q", "-c", j.file, "--until-end")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for complete := 0; complete < devPartitions/2; {
		wait(t, 20*time.Millisecond)
		complete = 0
		for p, offset := range j.committed(j.name + ".scans.rows") {
			if offset == ends[p] {
				complete++
			}
		}
	}
	select {
	case err := <-ended:
		t.Fatalf("it ended (%v) with %d records uncommitted", err, j.uncommitted("rows"))
	case <-time.After(time.Second): // meanwhile it checks ten times whether it is at the end
	}
	idle()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if n := j.uncommitted("rows"); n != 0 {
		t.Errorf("%d records are not committed", n)
	}
}

// idleMember is a group member that does nothing with its partitions until it leaves.
func (j *job) idleMember(group string) (leave func()) {
	j.t.Helper()
	member, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{ID: group, Brokers: j.brokers, Topics: []string{j.topic},
		HeartbeatInterval: 100 * time.Millisecond, JoinGroupBackoff: 100 * time.Millisecond})
	if err != nil {
		j.t.Fatal(err)
	}
	joined := make(chan struct{}, 1)
	go func() { // ends when the member leaves
		for {
			if _, err := member.Next(context.Background()); errors.Is(err, kafka.ErrGroupClosed) {
				return
			}
			select {
			case joined <- struct{}{}:
			default:
			}
		}
	}()
	<-joined
	return func() { _ = member.Close() } // always nil
}
