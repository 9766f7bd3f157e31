package main

import (
	"strings"
	"testing"
)

// TestStartAfterAKillSaysWhatItWaitsFor: it waits for the session of the killed process.
func TestStartAfterAKillSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	j.replace("session_timeout: 6s\n  rebalance_timeout: 6s", "session_timeout: 20s\n  rebalance_timeout: 20s") // longer than any start takes
	p := j.begin()
	p.untilGeneration("scans.rows", 1)
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.read
	_ = p.cmd.Wait() // it was killed
	q := j.begin()
	const waits = "it waits for the group's other members: a process that was killed keeps its partitions until its session ends, in "
	q.health("/readyz", 503, "not yet a member of its group \\("+waits)
	q.untilGeneration("scans.rows", 2)
	if log := q.log.String(); !strings.Contains(log, "not yet a member of the group") || !strings.Contains(log, waits) || !strings.Contains(log, "with an instance_id of its own") {
		t.Errorf("it does not say what it waits for:\n%s", log)
	}
	q.health("/readyz", 200, "")
	q.stop()
}
