package main

import (
	"strings"
	"testing"
)

// A configuration named by -c must exist, even for commands that could do without one, and even if it has the default name.
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

// A flag for the encoding of files does not apply to a topic.
func TestAnEncodingOfATopicIsRefused(t *testing.T) {
	code, _, stderr := brine(t, "tables", "plan", "--offline", "-c", "../../examples/scans.yaml", "--sample", "topic:courier.scans", "--encoding", "latin1")
	if code != exitUsage || !strings.Contains(stderr, "--encoding latin1: ") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}
