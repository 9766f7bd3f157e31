package main

import (
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
)

// TestStartAfterAKillSaysWhatItWaitsFor: it waits for the session of the killed process.
func TestStartAfterAKillSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	j.replace("  commit_interval: 100ms", "  session_timeout: 5m\n  rebalance_timeout: 5m\n  commit_interval: 100ms") // the test ends it
	p := j.begin()
	p.untilGeneration("scans.rows", 1)
	group := j.group("rows")
	was, err := j.client().DescribeGroups(t.Context(), &kafka.DescribeGroupsRequest{GroupIDs: []string{group}})
	if err != nil || len(was.Groups[0].Members) != 1 {
		t.Fatalf("%v: %+v", err, was)
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.read
	_ = p.cmd.Wait() // it was killed
	q := j.begin()
	const waits = "waiting for the group's other members: a process that was killed keeps its partitions until its session ends, in "
	q.health("/readyz", 503, "not yet a member of its group \\("+waits)
	said := func() bool {
		log := q.log.String()
		return strings.Contains(log, "not yet a member of the group") && strings.Contains(log, waits) &&
			strings.Contains(log, "with its own instance_id")
	}
	for start := time.Now(); !said(); wait(t, 20*time.Millisecond) {
		if time.Since(start) > standstill/2 {
			t.Fatalf("it does not say what it waits for:\n%s", &q.log)
		}
	}
	dead := []kafka.LeaveGroupRequestMember{{ID: was.Groups[0].Members[0].MemberID}}
	left, err := j.client().LeaveGroup(t.Context(), &kafka.LeaveGroupRequest{GroupID: group, Members: dead})
	if err != nil || left.Error != nil || left.Members[0].Error != nil {
		t.Fatalf("%v: %+v", err, left)
	}
	q.untilGeneration("scans.rows", 2)
	q.health("/readyz", 200, "")
	q.stop()
}
