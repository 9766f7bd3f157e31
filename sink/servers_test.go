package sink_test

import (
	"context"
	"testing"
	"time"

	"brine/hbase"
	"brine/internal/testenv"
)

// onBoth runs a test on the embedded server and on a real one.
func onBoth(t *testing.T, test func(*testing.T, *hbase.Client)) {
	t.Run("embedded", func(t *testing.T) { test(t, store(t)) })
	t.Run("real", func(t *testing.T) {
		client, err := hbase.Open(t.Context(), hbase.Options{Connect: testenv.HBase(t)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { client.Close() })
		test(t, client)
	})
}

func background() context.Context { return context.Background() }

func testNow() int64 { return time.Now().UnixMilli() }

// compact flushes a table and runs a major compaction, and waits until that is done.
func compact(t *testing.T, client *hbase.Client, table string) {
	t.Helper()
	if err := client.FlushTable(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	if err := client.CompactTable(t.Context(), table, true); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	for quiet := 0; quiet < 3; { // it may not have started yet
		running, err := client.TableCompactions(t.Context(), table)
		if err != nil {
			t.Fatal(err)
		}
		if quiet++; running["NONE"] != 1 {
			quiet = 0
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is still compacted: %v", table, running)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
