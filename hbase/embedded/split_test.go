package embedded_test

import (
	"fmt"
	"testing"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// openScan opens a scanner on a region and reads one row.
func openScan(t testing.TB, c *client, name []byte) (next func() error) {
	t.Helper()
	r := &hbasepb.ScanResponse{}
	c.must("Scan", &hbasepb.ScanRequest{Region: region(name), Scan: &hbasepb.Scan{}, NumberOfRows: proto.Uint32(1)}, r, nil)
	return func() error {
		_, err := c.call("Scan", &hbasepb.ScanRequest{ScannerId: r.ScannerId, NumberOfRows: proto.Uint32(1)}, &hbasepb.ScanResponse{}, nil)
		return err
	}
}

// waitProcedure polls a procedure until it is done and returns its exception, if any.
func waitProcedure(t testing.TB, c *client, id uint64) *hbasepb.ForeignExceptionMessage {
	t.Helper()
	for {
		r := &hbasepb.GetProcedureResultResponse{}
		c.must("getProcedureResult", &hbasepb.GetProcedureResultRequest{ProcId: &id}, r, nil)
		switch r.GetState() {
		case hbasepb.GetProcedureResultResponse_FINISHED:
			return r.Exception
		case hbasepb.GetProcedureResultResponse_NOT_FOUND:
			t.Fatalf("procedure %d is not known", id)
		}
	}
}

// A region splits in the middle of its data. Meanwhile the parent is not served, and its scanners get an exception. Then its daughters have
// its rows, and hbase:meta has parent and daughters as HBase writes them. Merging works in the same way.
func TestSplitAndMerge(t *testing.T) {
	s := start(t, embedded.Options{Servers: 2})
	parent := createOn(t, s, "t")[0]
	c, m := at(t, s, parent), dial(t, s.Addr(), "MasterService")
	for i := range 100 {
		if err := putRow(c, parent.Name, fmt.Sprintf("%03d", i), "v"); err != nil {
			t.Fatal(err)
		}
	}
	next := openScan(t, c, parent.Name)
	split := &hbasepb.SplitTableRegionRequest{RegionInfo: infoOf(t, metaRows(t, s)[parent.Encoded]["regioninfo"])}
	release, waiting := held(s)
	started := &hbasepb.SplitTableRegionResponse{}
	m.must("SplitRegion", split, started, nil)
	if tr := <-waiting; tr.Kind != "split" || len(tr.Regions) != 3 {
		t.Error(tr)
	}
	running := &hbasepb.GetProcedureResultResponse{}
	m.must("getProcedureResult", &hbasepb.GetProcedureResultRequest{ProcId: started.ProcId}, running, nil)
	if running.GetState() != hbasepb.GetProcedureResultResponse_RUNNING {
		t.Error(running)
	}
	wantException(t, putRow(c, parent.Name, "000", "v"), hbase+"NotServingRegionException", false)
	wantException(t, next(), hbase+"NotServingRegionException", false)
	wantException(t, next(), hbase+"UnknownScannerException", true)
	daughters := s.Regions("t")
	if len(daughters) != 2 || daughters[0].Node != -1 {
		t.Fatal(daughters)
	}
	wantException(t, getRow(c, daughters[0].Name, "000"), hbase+"exceptions.RegionOpeningException", false)
	_, err := m.call("SplitRegion", split, started, nil)
	wantException(t, err, hbase+"UnknownRegionException", true)
	release()
	if e := waitProcedure(t, m, started.GetProcId()); e != nil {
		t.Fatal(e)
	}
	daughters = s.Regions("t")
	if string(daughters[0].End) != "050" || string(daughters[1].Start) != "050" || len(daughters[0].Start)+len(daughters[1].End) > 0 {
		t.Fatalf("%+v", daughters)
	}
	for _, d := range daughters {
		if n := len(scanCells(t, at(t, s, d), d.Name)); n != 50 {
			t.Errorf("%d cells in %s", n, d.Name)
		}
	}
	rows := metaRows(t, s)
	row := rows[parent.Encoded]
	if info := infoOf(t, row["regioninfo"]); !info.GetOffline() || !info.GetSplit() || row["state"] != "SPLIT" {
		t.Errorf("%q", row)
	}
	for i, column := range []string{"splitA", "splitB"} {
		if got := infoOf(t, row[column]); string(got.StartKey) != string(daughters[i].Start) || got.GetRegionId() <= split.RegionInfo.GetRegionId() {
			t.Errorf("%s: %v", column, got)
		}
		if d := rows[daughters[i].Encoded]; d["state"] != "OPEN" || seqOf(d["seqnumDuringOpen"]) <= seqOf(row["seqnumDuringOpen"]) {
			t.Errorf("%q, parent %q", d, row)
		}
	}

	merged := &hbasepb.MergeTableRegionsResponse{}
	m.must("MergeTableRegions", &hbasepb.MergeTableRegionsRequest{Region: []*hbasepb.RegionSpecifier{encoded(daughters[1].Encoded), encoded(daughters[0].Encoded)}}, merged, nil)
	if e := waitProcedure(t, m, merged.GetProcId()); e != nil {
		t.Fatal(e)
	}
	whole := s.Regions("t")
	if len(whole) != 1 || len(scanCells(t, at(t, s, whole[0]), whole[0].Name)) != 100 {
		t.Fatalf("%+v", whole)
	}
	rows = metaRows(t, s)
	if rows[daughters[0].Encoded] != nil || rows[daughters[1].Encoded] != nil {
		t.Error("the rows of merged regions are still there")
	}
	for i, column := range []string{"merge0000", "merge0001"} {
		if got := infoOf(t, rows[whole[0].Encoded][column]); string(got.StartKey) != string(daughters[i].Start) {
			t.Errorf("%s: %v", column, got)
		}
	}
}

func encoded(name string) *hbasepb.RegionSpecifier {
	return &hbasepb.RegionSpecifier{Type: hbasepb.RegionSpecifier_ENCODED_REGION_NAME.Enum(), Value: []byte(name)}
}

// Splits, merges, moves and assignments that are refused, with HBase's classes.
func TestRefusedTransitions(t *testing.T) {
	s := start(t, embedded.Options{Servers: 2})
	rs := createOn(t, s, "t", "b", "c", "d")
	other := createOn(t, s, "u")[0]
	m := dial(t, s.Addr(), "MasterService")
	info := func(i int) *hbasepb.RegionInfo { return infoOf(t, metaRows(t, s)[rs[i].Encoded]["regioninfo"]) }
	merge := func(names ...string) *hbasepb.MergeTableRegionsRequest {
		q := &hbasepb.MergeTableRegionsRequest{}
		for _, n := range names {
			q.Region = append(q.Region, encoded(n))
		}
		return q
	}
	for _, k := range []struct {
		name, method string
		q            proto.Message
		class        string
	}{
		{"empty region", "SplitRegion", &hbasepb.SplitTableRegionRequest{RegionInfo: info(1)}, "DoNotRetryIOException"},
		{"at its start", "SplitRegion", &hbasepb.SplitTableRegionRequest{RegionInfo: info(1), SplitRow: []byte("b")}, "DoNotRetryIOException"},
		{"outside", "SplitRegion", &hbasepb.SplitTableRegionRequest{RegionInfo: info(1), SplitRow: []byte("c")}, "DoNotRetryIOException"},
		{"one", "MergeTableRegions", merge(rs[0].Encoded), "exceptions.MergeRegionException"},
		{"itself", "MergeTableRegions", merge(rs[0].Encoded, rs[0].Encoded), "exceptions.MergeRegionException"},
		{"not adjacent", "MergeTableRegions", merge(rs[0].Encoded, rs[2].Encoded), "exceptions.MergeRegionException"},
		{"of two tables", "MergeTableRegions", merge(rs[0].Encoded, other.Encoded), "exceptions.MergeRegionException"},
		{"unknown", "MergeTableRegions", merge(rs[0].Encoded, "x"), "UnknownRegionException"},
		{"unknown", "MoveRegion", &hbasepb.MoveRegionRequest{Region: encoded("x")}, "UnknownRegionException"},
		{"open", "AssignRegion", &hbasepb.AssignRegionRequest{Region: region(rs[0].Name)}, "client.DoNotRetryRegionException"},
		{"unknown", "UnassignRegion", &hbasepb.UnassignRegionRequest{Region: region([]byte("x"))}, "UnknownRegionException"},
	} {
		_, err := m.call(k.method, k.q, &hbasepb.SplitTableRegionResponse{}, nil)
		if e := exception(err); e.GetExceptionClassName() != hbase+k.class {
			t.Errorf("%s of %s: got %v, want %s", k.method, k.name, err, k.class)
		}
	}
	m.must("UnassignRegion", &hbasepb.UnassignRegionRequest{Region: region(rs[0].Name)}, &hbasepb.UnassignRegionResponse{}, nil)
	wantException(t, getRow(at(t, s, rs[0]), rs[0].Name, "a"), hbase+"NotServingRegionException", false)
	if row := metaRows(t, s)[rs[0].Encoded]; row["state"] != "CLOSED" {
		t.Errorf("%q", row)
	}
	_, err := m.call("MoveRegion", &hbasepb.MoveRegionRequest{Region: encoded(rs[0].Encoded)}, &hbasepb.MoveRegionResponse{}, nil)
	wantException(t, err, hbase+"client.DoNotRetryRegionException", true)
	m.must("AssignRegion", &hbasepb.AssignRegionRequest{Region: region(rs[0].Name)}, &hbasepb.AssignRegionResponse{}, nil)
	if r := s.Regions("t")[0]; r.Node < 0 || getRow(at(t, s, r), r.Name, "a") != nil {
		t.Errorf("%+v", r)
	}
}

// The balancer evens out the regions, unless it is off or the request is a dry run.
func TestBalance(t *testing.T) {
	s := start(t, embedded.Options{Servers: 3})
	for _, r := range createOn(t, s, "t", "b", "c", "d", "e", "f") {
		if r.Node != 0 {
			if err := s.Move(r.Encoded, s.Nodes()[0]); err != nil {
				t.Fatal(err)
			}
		}
	}
	m := dial(t, s.Addr(), "MasterService")
	on := func(on bool) {
		m.must("SetBalancerRunning", &hbasepb.SetBalancerRunningRequest{On: &on}, &hbasepb.SetBalancerRunningResponse{}, nil)
	}
	for _, k := range []struct {
		on, dry     bool
		calculated  uint32
		executed    uint32
		most, least int
	}{{false, false, 0, 0, 6, 0}, {true, true, 4, 0, 6, 0}, {true, false, 4, 4, 2, 2}, {true, false, 0, 0, 2, 2}} {
		on(k.on)
		r := &hbasepb.BalanceResponse{}
		m.must("Balance", &hbasepb.BalanceRequest{DryRun: &k.dry}, r, nil)
		count := make([]int, 3)
		for _, r := range s.Regions("t") {
			count[r.Node]++
		}
		if r.GetBalancerRan() != k.on || r.GetMovesCalculated() != k.calculated || r.GetMovesExecuted() != k.executed || count[0] != k.most || count[1] != k.least {
			t.Errorf("%+v: %v, regions %v", k, r, count)
		}
	}
}
