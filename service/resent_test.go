package service

import (
	"testing"

	"brine/config"
	"brine/hbase"
)

// TestResentNamesTheLastRetry checks that what the client sends again is counted by pipeline, with the reason of the last retry.
func TestResentNamesTheLastRetry(t *testing.T) {
	var r resent
	counted := 0
	hooks := r.watch(hbase.Hooks{Retry: func(hbase.RetryInfo) { counted++ }})
	p := &config.Pipeline{Rows: []config.Rows{{Table: "a"}, {Table: "b"}}}
	is := func(want int64, because string) {
		t.Helper()
		if n, reason := r.of(p); n != want || reason != because {
			t.Errorf("%d were sent again because of %q, expected %d because of %q", n, reason, want, because)
		}
	}
	is(0, "")
	hooks.Retry(hbase.RetryInfo{Table: "b", Class: "connection"}) // a lookup
	hooks.Retry(hbase.RetryInfo{Table: "a", Class: "org.apache.hadoop.hbase.RegionTooBusyException", Mutations: 11})
	hooks.Retry(hbase.RetryInfo{Table: "another's", Class: "timeout", Mutations: 5})
	is(12, "RegionTooBusyException")
	hooks.Retry(hbase.RetryInfo{Table: "b", Class: "timeout", Mutations: 1})
	if is(13, "timeout"); counted != 4 {
		t.Errorf("the next hook was called %d times", counted)
	}
}
