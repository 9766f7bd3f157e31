package main

import (
	"strings"
	"testing"
)

// A configuration that -c names must be there, also where the command could do without one, and though its name is that of the default.
func TestANamedConfigurationMustBeThere(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{
		{"top", "--once", "--http", "127.0.0.1:1", "-c", "brine.yaml"},
		{"offsets", "show", "--brokers", "127.0.0.1:1", "--timeout", "1s", "--config=brine.yaml"},
	} {
		if code, _, stderr := brine(t, args...); code != exitUsage || !strings.Contains(stderr, "brine.yaml") {
			t.Errorf("%v: exit %d, %s", args, code, stderr)
		}
	}
}

// What says how a file is written says nothing of a topic.
func TestAnEncodingOfATopicIsRefused(t *testing.T) {
	code, _, stderr := brine(t, "tables", "plan", "--offline", "-c", "../../examples/scans.yaml", "--sample", "topic:courier.scans", "--encoding", "latin1")
	if code != exitUsage || !strings.Contains(stderr, "--encoding latin1: ") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}
