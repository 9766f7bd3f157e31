package embedded_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

var errCrashed = errors.New("the process has crashed")

// Whichever commit is the last one before a crash, the next start finds a consistent catalogue: each table's regions cover all keys once,
// hbase:meta has these regions and no others, and every row is there.
func TestCatalogueSurvivesCrash(t *testing.T) {
	for last, crashed := 0, true; crashed; last++ {
		if last > 100 {
			t.Fatal("the changes have no end")
		}
		o := embedded.Options{Dir: t.TempDir(), Servers: 2}
		s, err := embedded.Start(o)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range createOn(t, s, "t", "1", "2", "3") {
			for j := range 10 {
				if err := putRow(at(t, s, r), r.Name, fmt.Sprintf("%d%d", i, j), "v"); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		commits := 0
		s, err = embedded.StartFailing(o, func() error {
			if commits++; commits > last {
				return errCrashed
			}
			return nil
		})
		if err == nil {
			changeEverything(t, s)
			err = s.Close()
		}
		if err != nil && !errors.Is(err, errCrashed) {
			t.Fatal(err)
		}
		crashed = commits > last
		s, err = embedded.Start(o)
		if err != nil {
			t.Fatalf("start after commit %d was the last: %v", last, err)
		}
		checkCatalogue(t, s, last)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// changeEverything changes the catalogue in every way, from one goroutine, and ignores errors.
func changeEverything(t *testing.T, s *embedded.Server) {
	t.Helper()
	rs := s.Regions("t")
	low, high, _ := s.Split(rs[1].Encoded, nil)
	_ = s.Move(low, nil)
	_, _ = s.Merge(high, rs[2].Encoded)
	_, _ = s.Merge(rs[0].Encoded, low)
	_, _, _ = s.Split(rs[3].Encoded, []byte("35"))
	m := dial(t, s.Addr(), "MasterService")
	name := tableNamed("u")
	_, _ = m.call("CreateTable", &hbasepb.CreateTableRequest{TableSchema: &hbasepb.TableSchema{TableName: name, ColumnFamilies: []*hbasepb.ColumnFamilySchema{family("e")}}, SplitKeys: [][]byte{[]byte("m")}}, &hbasepb.CreateTableResponse{}, nil)
	if rs := s.Regions("u"); len(rs) > 0 {
		_, _, _ = s.Split(rs[0].Encoded, []byte("c"))
	}
	_, _ = m.call("DisableTable", &hbasepb.DisableTableRequest{TableName: name}, &hbasepb.DisableTableResponse{}, nil)
	_, _ = m.call("truncateTable", &hbasepb.TruncateTableRequest{TableName: name}, &hbasepb.TruncateTableResponse{}, nil)
	_, _ = m.call("DisableTable", &hbasepb.DisableTableRequest{TableName: name}, &hbasepb.DisableTableResponse{}, nil)
	_, _ = m.call("EnableTable", &hbasepb.EnableTableRequest{TableName: name}, &hbasepb.EnableTableResponse{}, nil)
	_, _ = m.call("DisableTable", &hbasepb.DisableTableRequest{TableName: name}, &hbasepb.DisableTableResponse{}, nil)
	_, _ = m.call("DeleteTable", &hbasepb.DeleteTableRequest{TableName: name}, &hbasepb.DeleteTableResponse{}, nil)
	snapshot := &hbasepb.SnapshotDescription{Name: proto.String("s"), Table: proto.String("t")}
	_, _ = m.call("Snapshot", &hbasepb.SnapshotRequest{Snapshot: snapshot}, &hbasepb.SnapshotResponse{}, nil)
	clone := &hbasepb.RestoreSnapshotRequest{Snapshot: &hbasepb.SnapshotDescription{Name: proto.String("s"), Table: proto.String("u")}}
	_, _ = m.call("RestoreSnapshot", clone, &hbasepb.RestoreSnapshotResponse{}, nil)
	_, _ = m.call("DisableTable", &hbasepb.DisableTableRequest{TableName: name}, &hbasepb.DisableTableResponse{}, nil)
	_, _ = m.call("RestoreSnapshot", clone, &hbasepb.RestoreSnapshotResponse{}, nil)
	_, _ = m.call("EnableTable", &hbasepb.EnableTableRequest{TableName: name}, &hbasepb.EnableTableResponse{}, nil)
	_, _ = m.call("DeleteSnapshot", &hbasepb.DeleteSnapshotRequest{Snapshot: snapshot}, &hbasepb.DeleteSnapshotResponse{}, nil)
}

func checkCatalogue(t *testing.T, s *embedded.Server, last int) {
	t.Helper()
	rows, known := map[string]int{}, map[string]bool{"": true, "t": true, "u": true, "fresh": true, "hbase:meta": true}
	for _, table := range []string{"t", "u"} {
		rs := s.Regions(table)
		for i, r := range rs {
			known[r.Encoded] = true
			if i > 0 && string(rs[i-1].End) != string(r.Start) || i == 0 && len(r.Start) > 0 || i == len(rs)-1 && len(r.End) > 0 {
				t.Errorf("commit %d was the last: the regions of %s do not cover its keys once: %+v", last, table, rs)
			}
			if r.Node >= 0 {
				rows[table] += len(scanCells(t, at(t, s, r), r.Name))
			}
		}
	}
	if n := rows["u"]; rows["t"] != 40 || n != 0 && n != 40 { // u may be a clone of t
		t.Errorf("commit %d was the last: rows %v, want 40", last, rows)
	}
	if rs := createOn(t, s, "fresh"); len(scanCells(t, at(t, s, rs[0]), rs[0].Name)) > 0 {
		t.Errorf("commit %d was the last: a new table has rows of a copy that was cut off", last)
	} else {
		known[rs[0].Encoded] = true
	}
	meta := metaRows(t, s)
	for encoded, row := range meta {
		if !known[encoded] {
			t.Errorf("commit %d was the last: hbase:meta has %s: %q", last, encoded, row)
		}
	}
	for _, r := range slices.Concat(s.Regions("t"), s.Regions("u")) {
		if row := meta[r.Encoded]; row["state"] != map[bool]string{true: "OPEN", false: "CLOSED"}[r.Node >= 0] {
			t.Errorf("commit %d was the last: %s on %d: %q", last, r.Name, r.Node, row)
		}
	}
}
