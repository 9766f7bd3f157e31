package embedded_test

import (
	"fmt"
	"strings"
	"testing"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// TestRowsThatEndAScanAreNotScanned: a row that a filter rejects by its key, ending the scan, counts as filtered but not as scanned, in the
// answer's metrics and in the region's reads.
func TestRowsThatEndAScanAreNotScanned(t *testing.T) {
	s := start(t, embedded.Options{})
	for _, k := range []struct {
		name              string
		f                 *hbasepb.Filter
		scanned, filtered int64
	}{
		{"none", nil, 5, 0},
		{"prefix in the middle", filter("PrefixFilter", &hbasepb.PrefixFilter{Prefix: []byte("b")}), 3, 2},
		{"prefix at the end", filter("PrefixFilter", &hbasepb.PrefixFilter{Prefix: []byte("d")}), 5, 4},
		{"inclusive stop", filter("InclusiveStopFilter", &hbasepb.InclusiveStopFilter{StopRowKey: []byte("b2")}), 3, 1},
		{"while match", filter("WhileMatchFilter", &hbasepb.WhileMatchFilter{Filter: filter("RowFilter",
			&hbasepb.RowFilter{CompareFilter: compare(hbasepb.CompareType_LESS, binaryOf("b2"))})}), 2, 1},
		{"row filter", filter("RowFilter", &hbasepb.RowFilter{CompareFilter: compare(hbasepb.CompareType_LESS, binaryOf("b2"))}), 5, 3},
	} {
		table := strings.ReplaceAll(k.name, " ", "_")
		name := create(t, s.Addr(), table, nil, family("e"))[0]
		c := dial(t, s.Addr(), "ClientService")
		for _, row := range []string{"a", "b1", "b2", "c", "d"} {
			c.must("Mutate", &hbasepb.MutateRequest{Region: region(name), Mutation: putOf(row, 1)}, &hbasepb.MutateResponse{}, block(cell(row, "e", "q", 1, 4, row)))
		}
		r := &hbasepb.ScanResponse{}
		c.must("Scan", &hbasepb.ScanRequest{Region: region(name), NumberOfRows: proto.Uint32(100), TrackScanMetrics: proto.Bool(true),
			Scan: &hbasepb.Scan{Filter: k.f, MaxVersions: proto.Uint32(1)}}, r, nil)
		got := map[string]int64{}
		for _, m := range r.GetScanMetrics().GetMetrics() {
			got[m.GetName()] = m.GetValue()
		}
		if got["ROWS_SCANNED"] != k.scanned || got["ROWS_FILTERED"] != k.filtered {
			t.Errorf("%s: metrics %v, want %d scanned, %d filtered", k.name, got, k.scanned, k.filtered)
		}
		loads := &hbasepb.GetRegionLoadResponse{}
		dial(t, s.Addr(), "AdminService").must("GetRegionLoad", &hbasepb.GetRegionLoadRequest{TableName: tableNamed(table)}, loads, nil)
		load := loads.RegionLoads[0]
		if int64(load.GetReadRequestsCount()) != k.scanned || int64(load.GetFilteredReadRequestsCount()) != k.filtered {
			t.Errorf("%s: region's load has %d reads, %d filtered; want %d and %d", k.name, load.GetReadRequestsCount(),
				load.GetFilteredReadRequestsCount(), k.scanned, k.filtered)
		}
	}
}

// TestTablesByExpression: without an expression all tables are listed; an empty expression matches none.
func TestTablesByExpression(t *testing.T) {
	s := start(t, embedded.Options{})
	for _, table := range []string{"t", "t2", "u"} {
		create(t, s.Addr(), table, nil, family("e"))
	}
	m := dial(t, s.Addr(), "MasterService")
	for _, k := range []struct {
		expression *string
		want       string
	}{
		{nil, "[t t2 u]"},
		{proto.String(""), "[]"},
		{proto.String(".*"), "[t t2 u]"},
		{proto.String("t"), "[t]"},
		{proto.String("default:t.*"), "[t t2]"},
	} {
		names, described := &hbasepb.GetTableNamesResponse{}, &hbasepb.GetTableDescriptorsResponse{}
		m.must("GetTableNames", &hbasepb.GetTableNamesRequest{Regex: k.expression}, names, nil)
		m.must("GetTableDescriptors", &hbasepb.GetTableDescriptorsRequest{Regex: k.expression}, described, nil)
		got, schemas := []string{}, []string{}
		for _, n := range names.TableNames {
			got = append(got, string(n.Qualifier))
		}
		for _, d := range described.TableSchema {
			schemas = append(schemas, string(d.TableName.Qualifier))
		}
		if fmt.Sprint(got) != k.want || fmt.Sprint(schemas) != k.want {
			t.Errorf("%v: names %v, descriptors %v, want %s", k.expression, got, schemas, k.want)
		}
	}
}
