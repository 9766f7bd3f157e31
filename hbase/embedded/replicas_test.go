package embedded_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
)

func replicated(table string, replication int) *hbasepb.TableSchema {
	return &hbasepb.TableSchema{
		TableName: tableNamed(table), ColumnFamilies: []*hbasepb.ColumnFamilySchema{family("e")},
		Attributes: []*hbasepb.BytesBytesPair{{First: []byte("REGION_REPLICATION"), Second: fmt.Append(nil, replication)}},
	}
}

// replicatedTable creates a table of one region with the row r, and returns that region.
func replicatedTable(t *testing.T, s *embedded.Server, replication int) embedded.Region {
	t.Helper()
	dial(t, s.Addr(), "MasterService").must("CreateTable", &hbasepb.CreateTableRequest{TableSchema: replicated("t", replication)}, &hbasepb.CreateTableResponse{}, nil)
	r := s.Regions("t")[0]
	if err := putRow(at(t, s, r), r.Name, "r", "v"); err != nil {
		t.Fatal(err)
	}
	return r
}

// readStale reads row r from a replica, whose answer must be marked as possibly stale.
func readStale(t *testing.T, s *embedded.Server, r embedded.Region) error {
	t.Helper()
	out := &hbasepb.GetResponse{}
	cells, err := at(t, s, r).call("Get", &hbasepb.GetRequest{Region: region(r.Name), Get: &hbasepb.Get{Row: []byte("r")}}, out, nil)
	if err == nil && (!out.Result.GetStale() || len(cellsOf(t, cells)) != 1) {
		t.Errorf("%s answers %v with %d bytes of cells", r.Name, out, len(cells))
	}
	return err
}

func TestReplicasAreReadOnly(t *testing.T) {
	s := start(t, embedded.Options{Servers: 3})
	r := replicatedTable(t, s, 3)
	if len(r.Replicas) != 2 || !bytes.Contains(r.Replicas[1].Name, []byte("_0002.")) {
		t.Fatalf("%+v", r)
	}
	if on := []int{r.Node, r.Replicas[0].Node, r.Replicas[1].Node}; !slices.Equal(slices.Sorted(slices.Values(on)), []int{0, 1, 2}) {
		t.Errorf("region and replicas are on %v, want each on its own", on)
	}
	row := metaRows(t, s)[r.Encoded]
	for i, p := range r.Replicas {
		if got, want := row[fmt.Sprintf("server_%04X", i+1)], s.Nodes()[p.Node].Addr(); got != want || row[fmt.Sprintf("state_%04X", i+1)] != "OPEN" {
			t.Errorf("replica %d is on %s, hbase:meta says %q", i+1, want, got)
		}
		if err := readStale(t, s, p); err != nil {
			t.Error(err)
		}
		wantException(t, putRow(at(t, s, p), p.Name, "r", "w"), hbase+"DoNotRetryIOException", true)
		if s.TableOf(string(p.Name)) != "t" {
			t.Error(p.Encoded, "is of no table")
		}
	}
}

// A replica answers even while its region is on no server.
func TestAReplicaStaysWhenItsRegionMoves(t *testing.T) {
	s := start(t, embedded.Options{Servers: 3})
	r := replicatedTable(t, s, 2)
	release, waiting := held(s)
	done := make(chan error, 1)
	to := 3 - r.Node - r.Replicas[0].Node
	go func() { done <- s.Move(r.Encoded, s.Nodes()[to]) }()
	<-waiting
	read := readStale(t, s, r.Replicas[0])
	release()
	if err := errors.Join(read, <-done); err != nil {
		t.Fatal(err)
	}
	if now := s.Regions("t")[0]; now.Node != to || now.Replicas[0].Node != r.Replicas[0].Node {
		t.Errorf("%+v", now)
	}
}

func TestAReplicaGoesElsewhereWhenItsNodeEnds(t *testing.T) {
	s := start(t, embedded.Options{Servers: 3, DetectAfter: time.Millisecond})
	r := replicatedTable(t, s, 2)
	s.Nodes()[r.Replicas[0].Node].Stop()
	now := s.Regions("t")[0]
	if now.Replicas[0].Node == r.Replicas[0].Node || now.Node != r.Node {
		t.Fatalf("%+v", now)
	}
	if err := readStale(t, s, now.Replicas[0]); err != nil {
		t.Error(err)
	}
}

// With one node, region and replica are both on it.
func TestReplicasFollowTheirTable(t *testing.T) {
	dir := t.TempDir()
	s := start(t, embedded.Options{Dir: dir})
	r := replicatedTable(t, s, 2)
	master := dial(t, s.Addr(), "MasterService")
	master.must("DisableTable", &hbasepb.DisableTableRequest{TableName: tableNamed("t")}, &hbasepb.DisableTableResponse{}, nil)
	p := r.Replicas[0]
	wantException(t, readStale(t, s, p), hbase+"NotServingRegionException", false)
	master.must("EnableTable", &hbasepb.EnableTableRequest{TableName: tableNamed("t")}, &hbasepb.EnableTableResponse{}, nil)
	if err := readStale(t, s, p); err != nil {
		t.Error(err)
	}

	low, _, err := s.Split(r.Encoded, []byte("s"))
	if err != nil {
		t.Fatal(err)
	}
	wantException(t, readStale(t, s, p), hbase+"NotServingRegionException", false)
	if r = s.Regions("t")[0]; r.Encoded != low || readStale(t, s, r.Replicas[0]) != nil {
		t.Errorf("%+v", r)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = start(t, embedded.Options{Dir: dir})
	if r = s.Regions("t")[0]; len(r.Replicas) != 1 || readStale(t, s, r.Replicas[0]) != nil {
		t.Errorf("%+v", r)
	}
	p, master = r.Replicas[0], dial(t, s.Addr(), "MasterService")
	master.must("ModifyTable", &hbasepb.ModifyTableRequest{TableName: tableNamed("t"), TableSchema: replicated("t", 1)}, &hbasepb.ModifyTableResponse{}, nil)
	wantException(t, readStale(t, s, p), hbase+"NotServingRegionException", false)
	if row := metaRows(t, s)[r.Encoded]; row["server_0001"] != "" || row["server"] == "" {
		t.Errorf("hbase:meta has %q", row)
	}
	_, err = master.call("ModifyTable", &hbasepb.ModifyTableRequest{TableName: tableNamed("t"), TableSchema: replicated("t", 0)}, &hbasepb.ModifyTableResponse{}, nil)
	wantException(t, err, "java.lang.IllegalArgumentException", true)
}
