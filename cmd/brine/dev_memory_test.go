//go:build !race

package main

import "testing"

// TestDevMemory checks that brine dev, three servers and both pipelines in one process, stays below 200 MiB while it ingests the samples.
func TestDevMemory(t *testing.T) {
	notShort(t)
	const most = 200 << 20
	_, peak := devJSON(t, settledAll(nil))
	if peak == 0 {
		t.Skip("the system does not tell a process's largest resident set")
	}
	t.Logf("the largest resident set is %d MiB", peak>>20)
	if peak > most {
		t.Errorf("the largest resident set is %d MiB, more than %d", peak>>20, most>>20)
	}
}
