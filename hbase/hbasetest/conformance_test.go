package hbasetest_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"brine/hbase/embedded"
	"brine/hbase/hbasetest"
	"brine/internal/testenv"
)

var update = flag.Bool("update", false, "write the answers of the real server to the Java client into the scripts")

const scripts = "testdata/scripts/*.txt"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The answers in the scripts are those of the real server to HBase's own client; -update writes them there and only there.
func TestJavaClient(t *testing.T) {
	client := java(t)
	t.Run("on the real server", func(t *testing.T) {
		connect := testenv.HBase(t)
		hbasetest.Run(t, client, connect, prefix(t), hbasetest.Load(t, scripts), *update)
	})
	t.Run("on the embedded server", func(t *testing.T) {
		hbasetest.Run(t, client, start(t, 1), prefix(t), hbasetest.Load(t, scripts), false)
	})
	t.Run("on three embedded servers", func(t *testing.T) {
		hbasetest.Run(t, client, start(t, 3), prefix(t), hbasetest.Load(t, scripts), false)
	})
}

func TestOurClient(t *testing.T) {
	t.Run("on the real server", func(t *testing.T) {
		connect := testenv.HBase(t)
		hbasetest.Run(t, hbasetest.Go, connect, prefix(t), ours(t), false)
	})
	t.Run("on the embedded server", func(t *testing.T) {
		hbasetest.Run(t, hbasetest.Go, start(t, 1), prefix(t), ours(t), false)
	})
	t.Run("on three embedded servers", func(t *testing.T) {
		hbasetest.Run(t, hbasetest.Go, start(t, 3), prefix(t), ours(t), false)
	})
}

// start starts an embedded cluster with a data folder and gives its connect string.
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

// ours are the scripts that our client can run.
func ours(t *testing.T) (out []*hbasetest.Script) {
	for _, s := range hbasetest.Load(t, scripts) {
		if !s.OnlyJava {
			out = append(out, s)
		}
	}
	return out
}

func prefix(t *testing.T) string { return testenv.Name(t) + "_" }
