package main

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/protobuf/proto"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
	"brine/internal/sample"
	"brine/internal/testenv"
)

// run and check --connect name a cluster with an untested release, in one line, and no other cluster.
func TestUntestedVersionIsNamed(t *testing.T) {
	t.Parallel()
	server, err := embedded.Start(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	var version atomic.Value
	server.Control("GetClusterStatus", func(r *embedded.Request) *embedded.Outcome {
		r.Keep()
		return &embedded.Outcome{Answer: &hbasepb.GetClusterStatusResponse{ClusterStatus: &hbasepb.ClusterStatus{
			HbaseVersion: &hbasepb.HBaseVersionFileContent{Version: proto.String(version.Load().(string))},
		}}}
	})
	broker := testenv.KafkaFake(t, devPartitions)
	j := newJob(t, stack{brokers: broker.ListenAddrs(), hbase: "rpc://" + server.Addr(), search: "embedded:" + filepath.Join(t.TempDir(), "search")})
	j.publish(first(sample.Scans(), 10))
	for v, lines := range map[string]int{"2.6.4": 0, "3.0.0": 1} {
		version.Store(v)
		for _, args := range [][]string{{"check", "--connect", j.file}, {"run", "-c", j.file, "--until-end"}} {
			out, err := j.command(args...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %v\n%s", args, err, out)
			}
			const said = "the cluster runs HBase 3.0.0, which this brine has not been tested with; it has been with 2.4, 2.5, 2.6"
			if n := strings.Count(string(out), said); n != lines || n != strings.Count(string(out), "not been tested with") {
				t.Errorf("%s: %v names it %d times, want %d:\n%s", v, args, n, lines, out)
			}
		}
	}
}
