package locate

import (
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/rpc"
	"brine/hbase/internal/wire"
)

// The name of a replica, as made by HBase 2.6.4.
func TestReplicaName(t *testing.T) {
	const region, want = "t,r.25,1700000000000.1d3f4b7a0c2e4d6f8a9b0c1d2e3f4a5b.", "t,r.25,1700000000000_0001.fbad34294158add659705f1bf585b9b0."
	if got := string(replicaName([]byte(region), 1)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func FuzzReplicaColumn(f *testing.F) {
	for _, s := range []string{"server", "server_0001", "server_00FF", "seqnumDuringOpen_000", "_0001", "server_0000", "server_00zz", "server_+001"} {
		f.Add([]byte(s))
	}
	info, err := proto.Marshal(&hbasepb.RegionInfo{RegionId: proto.Uint64(1), TableName: TableName("t")})
	if err != nil {
		f.Fatal(err)
	}
	cell := func(qualifier, value []byte) wire.Cell {
		return wire.Cell{Family: []byte("info"), Qualifier: qualifier, Value: value}
	}
	region := cell([]byte("regioninfo"), append([]byte(protobufMagic), info...))
	f.Fuzz(func(t *testing.T, qualifier []byte) {
		name, n := replicaColumn(qualifier)
		at := cell(qualifier, []byte("h:1"))
		if n < 0 || n > 0xffff || len(name) > len(qualifier) || (n == 0) != (len(name) == len(qualifier)) {
			t.Errorf("%q is %q of replica %d", qualifier, name, n)
		}
		if r := FromMeta(rpc.Result{Row: []byte("t,,1.x."), Cells: []wire.Cell{at}}); r != nil && string(qualifier) != "regioninfo" {
			t.Errorf("%q alone makes a region", qualifier)
		}
		if string(qualifier) == "regioninfo" {
			return
		}
		r := FromMeta(rpc.Result{Row: []byte("t,,1.x."), Cells: []wire.Cell{region, at, at}})
		var server string
		replicas := 0
		if string(name) == "server" && n == 0 {
			server = "h:1"
		} else if string(name) == "server" {
			replicas = 1
		}
		if r == nil || r.Server != server || len(r.Replicas) != replicas {
			t.Fatalf("%q makes %+v", qualifier, r)
		}
		if replicas == 1 && (r.Replicas[0].Replica != n || r.Replicas[0].Server != "h:1") {
			t.Errorf("%q makes the replica %+v", qualifier, r.Replicas[0])
		}
	})
}

// Excess replicas are dropped, and those on no server do not count.
func TestReplicasAreBounded(t *testing.T) {
	r := &Region{Table: "t", Name: []byte("t,,1.x.")}
	for n := 1; n <= 2*maxReplicas; n++ {
		if p := r.replica(n); (p == nil) != (n > maxReplicas) {
			t.Errorf("replica %d: %+v", n, p)
		} else if p != nil && n%2 == 0 {
			p.Server = fmt.Sprintf("h:%d", n)
		}
	}
	if r.dropAbsent(); len(r.Replicas) != maxReplicas/2 {
		t.Errorf("%d replicas are on a server, expected %d", len(r.Replicas), maxReplicas/2)
	}
}
