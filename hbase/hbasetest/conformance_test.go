package hbasetest_test

import (
	"context"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/hbase/hbasetest"
	"brine/internal/testenv"
)

var (
	update = flag.Bool("update", false, "write the answers of the real server to the Java client into the scripts")
	only   = flag.String("scripts", "*", "run the scripts of these names, a pattern without .txt")
)

// has returns the scripts that the server is set up for: BRINE_REAL_HBASE_HAS, set by deploy/devcluster, says so of the real one.
func has(scripts []*hbasetest.Script) []*hbasetest.Script {
	setUp := strings.Fields(os.Getenv("BRINE_REAL_HBASE_HAS"))
	return slices.DeleteFunc(scripts, func(s *hbasetest.Script) bool { return s.Needs != "" && !slices.Contains(setUp, s.Needs) })
}

func load(t *testing.T) []*hbasetest.Script {
	return hbasetest.Load(t, "testdata/scripts/"+*only+".txt")
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The answers in the scripts are those of the real server to HBase's own client; only this test writes them, with -update.
func TestJavaClient(t *testing.T) {
	client := java(t)
	t.Run("on the real server", func(t *testing.T) {
		connect := testenv.HBase(t)
		hbasetest.Conform(t, hbasetest.Twice(client), connect, prefix(t), has(load(t)), *update)
	})
	t.Run("on the embedded server", func(t *testing.T) {
		hbasetest.Conform(t, client, start(t, 1), prefix(t), load(t), false)
	})
	t.Run("on three embedded servers", func(t *testing.T) {
		hbasetest.Conform(t, client, start(t, 3), prefix(t), load(t), false)
	})
}

func TestOurClient(t *testing.T) {
	t.Run("on the real server", func(t *testing.T) {
		connect := testenv.HBase(t)
		hbasetest.Conform(t, hbasetest.Go, connect, prefix(t), has(ours(t)), false)
	})
	t.Run("on the embedded server", func(t *testing.T) {
		hbasetest.Conform(t, hbasetest.Go, start(t, 1), prefix(t), ours(t), false)
	})
	t.Run("on three embedded servers", func(t *testing.T) {
		hbasetest.Conform(t, hbasetest.Go, start(t, 3), prefix(t), ours(t), false)
	})
}

// The scripts with a move, on a real cluster of several region servers, where regions move to another server. `make test-moves` starts it.
func TestMovesBetweenServers(t *testing.T) {
	connect := cluster(t)
	client := java(t)
	t.Run("our client", func(t *testing.T) {
		t.Parallel() // most of the time is spent waiting for the master
		hbasetest.Conform(t, hbasetest.Go, connect, prefix(t), moving(ours(t)), false)
	})
	t.Run("Java client", func(t *testing.T) {
		t.Parallel()
		hbasetest.Conform(t, client, connect, prefix(t), moving(load(t)), false)
	})
}

// moving returns the scripts with a move.
func moving(all []*hbasetest.Script) (out []*hbasetest.Script) {
	isMove := func(words []string) bool { return slices.Contains(words, "move") }
	for _, s := range all {
		if slices.ContainsFunc(s.Ops, func(op hbasetest.Op) bool { return isMove(op.Words) || slices.ContainsFunc(op.More, isMove) }) {
			out = append(out, s)
		}
	}
	return out
}

// cluster returns the connect string of a real cluster with several region servers. They must be alive now and at the end: with only one
// server left, a script's move succeeds although the region stays where it is.
func cluster(t *testing.T) string {
	var servers []string
	for _, name := range []string{"BRINE_REAL_REGIONSERVER1", "BRINE_REAL_REGIONSERVER2"} {
		addr := os.Getenv(name)
		if addr == "" {
			t.Skipf("%s is not set: `make test-moves` starts a cluster of several region servers", name)
		}
		servers = append(servers, addr)
	}
	connect := testenv.HBase(t)
	alive := func() {
		c, err := hbase.Open(context.Background(), hbase.Options{Connect: connect})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		status, err := c.ClusterStatus(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, addr := range servers {
			if !slices.ContainsFunc(status.Servers, func(s hbase.ServerLoad) bool { return s.Addr == addr }) {
				t.Fatalf("region server %s is not alive: %d are, and regions may have had nowhere to move to", addr, len(status.Servers))
			}
		}
		t.Logf("%d region servers are alive", len(status.Servers))
	}
	alive()
	t.Cleanup(alive)
	return connect
}

// start starts an embedded cluster with a data folder and returns its connect string.
func start(t *testing.T, servers int) string {
	server, err := embedded.Start(embedded.Options{Dir: t.TempDir(), Servers: servers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return "rpc://" + server.Addr()
}

// ours returns the scripts that our client can run.
func ours(t *testing.T) (out []*hbasetest.Script) {
	for _, s := range load(t) {
		if !s.OnlyJava {
			out = append(out, s)
		}
	}
	return out
}

func prefix(t *testing.T) string { return testenv.Name(t) + "_" }
