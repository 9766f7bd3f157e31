package main

import (
	"strings"
	"testing"

	"brine/config"
	"brine/hbase"
)

// The live line tells how much was sent again, and why the last time.
func TestLiveLineNamesTheLastRetry(t *testing.T) {
	var r resent
	counted := 0
	hooks := r.watch(hbase.Hooks{Retry: func(hbase.RetryInfo) { counted++ }})
	p := &config.Pipeline{Rows: []config.Rows{{Table: "a"}, {Table: "b"}}}
	line := func() string {
		n, reason := r.of(p)
		return reading{Name: "scans.rows", Retries: n, Retried: reason, Dead: 2}.line()
	}
	if got := line(); !strings.Contains(got, "retries 0  dead letters 2") {
		t.Errorf("before any: %s", got)
	}
	hooks.Retry(hbase.RetryInfo{Table: "b", Class: "connection"}) // a look-up
	hooks.Retry(hbase.RetryInfo{Table: "a", Class: "org.apache.hadoop.hbase.RegionTooBusyException", Mutations: 11})
	hooks.Retry(hbase.RetryInfo{Table: "another's", Class: "timeout", Mutations: 5})
	if got := line(); !strings.Contains(got, "retries 12 (RegionTooBusyException)  dead letters 2") {
		t.Errorf("after 12: %s", got)
	}
	hooks.Retry(hbase.RetryInfo{Table: "b", Class: "timeout", Mutations: 1})
	if got := line(); !strings.Contains(got, "retries 13 (timeout)") || counted != 4 {
		t.Errorf("after 13: %s, and the next hook was called %d times", got, counted)
	}
}
