package locate

import (
	"testing"

	"brine/hbase/internal/rpc"
)

// A replica's name as HBase 2.6.4 makes it.
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
	f.Fuzz(func(t *testing.T, qualifier []byte) {
		name, n := replicaColumn(qualifier)
		r := FromMeta(rpc.Result{Row: []byte("t,,1.x."), Cells: []rpc.Cell{{Family: []byte("info"), Qualifier: qualifier, Value: []byte("h:1")}}})
		if n < 0 || n > 0xffff || len(name) > len(qualifier) || (n == 0) != (len(name) == len(qualifier)) {
			t.Errorf("%q is %q of replica %d", qualifier, name, n)
		}
		if r != nil {
			t.Errorf("%q alone makes a region", qualifier)
		}
	})
}
