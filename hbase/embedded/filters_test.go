package embedded_test

import (
	"fmt"
	"strings"
	"testing"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// filter returns a filter with a class and a message (nil: none).
func filter(class string, m proto.Message) *hbasepb.Filter {
	raw, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return &hbasepb.Filter{Name: proto.String(hbase + "filter." + class), SerializedFilter: raw}
}

func binaryOf(value string) *hbasepb.Comparator {
	f := filter("BinaryComparator", &hbasepb.BinaryComparator{Comparable: &hbasepb.ByteArrayComparable{Value: []byte(value)}})
	return &hbasepb.Comparator{Name: f.Name, SerializedComparator: f.SerializedFilter}
}

func substringOf(value string) *hbasepb.Comparator {
	f := filter("SubstringComparator", &hbasepb.SubstringComparator{Substr: &value})
	return &hbasepb.Comparator{Name: f.Name, SerializedComparator: f.SerializedFilter}
}

func compare(op hbasepb.CompareType, c *hbasepb.Comparator) *hbasepb.CompareFilter {
	return &hbasepb.CompareFilter{CompareOp: &op, Comparator: c}
}

func list(op hbasepb.FilterList_Operator, fs ...*hbasepb.Filter) *hbasepb.Filter {
	return filter("FilterList", &hbasepb.FilterList{Operator: &op, Filters: fs})
}

func column(value string, missing, latest bool) *hbasepb.SingleColumnValueFilter {
	return &hbasepb.SingleColumnValueFilter{
		ColumnFamily: []byte("e"), ColumnQualifier: []byte("q"), CompareOp: hbasepb.CompareType_EQUAL.Enum(), Comparator: binaryOf(value), FilterIfMissing: &missing, LatestVersionOnly: &latest,
	}
}

// Rows a to d have e:p, e:q and f:r. The value is the row's letter, and twice that for e:q. Row c has no e:q, and d's e:q has an older
// version, d.
func TestFilters(t *testing.T) {
	s := start(t, embedded.Options{})
	name := create(t, s.Addr(), "t", nil, family("e", "VERSIONS", "2"), family("f"))[0]
	c := dial(t, s.Addr(), "ClientService")
	for _, row := range []string{"a", "b", "c", "d"} {
		cells := block(cell(row, "e", "p", 2, 4, row), cell(row, "f", "r", 2, 4, row))
		n := 2
		if row != "c" {
			n, cells = n+1, append(cells, block(cell(row, "e", "q", 2, 4, row+row))...)
		}
		if row == "d" {
			n, cells = n+1, append(cells, block(cell(row, "e", "q", 1, 4, row))...)
		}
		c.must("Mutate", &hbasepb.MutateRequest{Region: region(name), Mutation: putOf(row, n)}, &hbasepb.MutateResponse{}, cells)
	}
	const all, one = hbasepb.FilterList_MUST_PASS_ALL, hbasepb.FilterList_MUST_PASS_ONE
	firstKey := filter("FirstKeyOnlyFilter", nil)
	prefix := func(p string) *hbasepb.Filter {
		return filter("PrefixFilter", &hbasepb.PrefixFilter{Prefix: []byte(p)})
	}
	columnPrefix := func(p string) *hbasepb.Filter {
		return filter("ColumnPrefixFilter", &hbasepb.ColumnPrefixFilter{Prefix: []byte(p)})
	}
	page := func(n int64) *hbasepb.Filter { return filter("PageFilter", &hbasepb.PageFilter{PageSize: &n}) }
	equal, less := hbasepb.CompareType_EQUAL, hbasepb.CompareType_LESS
	for _, k := range []struct {
		name, want string
		f          *hbasepb.Filter
	}{
		{"none", "a:p=a,q=aa,r=a b:p=b,q=bb,r=b c:p=c,r=c d:p=d,q=dd,r=d", nil},
		{"first key", "a:p=a b:p=b c:p=c d:p=d", firstKey},
		{"key only", "a:p=,q=,r= b:p=,q=,r= c:p=,r= d:p=,q=,r=", filter("KeyOnlyFilter", &hbasepb.KeyOnlyFilter{LenAsVal: proto.Bool(false)})},
		{"page", "a:p=a,q=aa,r=a b:p=b,q=bb,r=b", page(2)},
		{"prefix", "b:p=b,q=bb,r=b", prefix("b")},
		{"inclusive stop", "a:p=a,q=aa,r=a b:p=b,q=bb,r=b", filter("InclusiveStopFilter", &hbasepb.InclusiveStopFilter{StopRowKey: []byte("b")})},
		{"row less", "a:p=a,q=aa,r=a b:p=b,q=bb,r=b", filter("RowFilter", &hbasepb.RowFilter{CompareFilter: compare(less, binaryOf("c"))})},
		{"family", "a:r=a b:r=b c:r=c d:r=d", filter("FamilyFilter", &hbasepb.FamilyFilter{CompareFilter: compare(equal, binaryOf("f"))})},
		{"qualifier", "a:q=aa b:q=bb d:q=dd", filter("QualifierFilter", &hbasepb.QualifierFilter{CompareFilter: compare(equal, binaryOf("q"))})},
		{"value", "d:p=d,q=dd,r=d", filter("ValueFilter", &hbasepb.ValueFilter{CompareFilter: compare(equal, substringOf("D"))})},
		{"column value", "b:p=b,q=bb,r=b c:p=c,r=c", filter("SingleColumnValueFilter", column("bb", false, true))},
		{"column value, missing ones out", "b:p=b,q=bb,r=b", filter("SingleColumnValueFilter", column("bb", true, true))},
		{"column value, older version", "", filter("SingleColumnValueFilter", column("d", true, true))},
		{"column value excluded", "b:p=b,r=b", filter("SingleColumnValueExcludeFilter", &hbasepb.SingleColumnValueExcludeFilter{SingleColumnValueFilter: column("bb", true, true)})},
		{"column prefix", "a:q=aa b:q=bb d:q=dd", columnPrefix("q")},
		{"column prefixes", "a:q=aa,r=a b:q=bb,r=b c:r=c d:q=dd,r=d", filter("MultipleColumnPrefixFilter", &hbasepb.MultipleColumnPrefixFilter{SortedPrefixes: [][]byte{[]byte("q"), []byte("r")}})},
		{"column range", "a:q=aa b:q=bb d:q=dd", filter("ColumnRangeFilter", &hbasepb.ColumnRangeFilter{MinColumn: []byte("p"), MaxColumn: []byte("q"), MaxColumnInclusive: proto.Bool(true)})},
		{"column pagination", "a:q=aa b:q=bb c:r=c d:q=dd", filter("ColumnPaginationFilter", &hbasepb.ColumnPaginationFilter{Limit: proto.Int32(1), Offset: proto.Int32(1)})},
		{"timestamps", "d:q=d", filter("TimestampsFilter", &hbasepb.TimestampsFilter{Timestamps: []int64{1}})},
		{"skip", "c:p=c,r=c", filter("SkipFilter", &hbasepb.SkipFilter{Filter: filter("QualifierFilter", &hbasepb.QualifierFilter{CompareFilter: compare(hbasepb.CompareType_NOT_EQUAL, binaryOf("q"))})})},
		{"while match", "a:p=a,q=aa,r=a b:p=b,q=bb,r=b", filter("WhileMatchFilter", &hbasepb.WhileMatchFilter{Filter: filter("RowFilter", &hbasepb.RowFilter{CompareFilter: compare(less, binaryOf("c"))})})},
		{"wrapped", "a:p=a b:p=b c:p=c d:p=d", filter("FilterWrapper", &hbasepb.FilterWrapper{Filter: firstKey})},
		{"all of: count of a page", "a:p= b:p=", list(all, firstKey, filter("KeyOnlyFilter", &hbasepb.KeyOnlyFilter{LenAsVal: proto.Bool(false)}), page(2))},
		{"all of nothing", "a:p=a,q=aa,r=a b:p=b,q=bb,r=b c:p=c,r=c d:p=d,q=dd,r=d", list(all)},
		{"one of: rows", "a:p=a,q=aa,r=a d:p=d,q=dd,r=d", list(one, prefix("a"), prefix("d"))},
		{"one of: first key or q", "a:p=a,q=aa b:p=b,q=bb c:p=c d:p=d,q=dd", list(one, firstKey, columnPrefix("q"))},
		{"nothing", "", filter("FilterAllFilter", nil)},
	} {
		q := &hbasepb.ScanRequest{Region: region(name), Scan: &hbasepb.Scan{Filter: k.f}, NumberOfRows: proto.Uint32(100)}
		var rows []string
		for _, cell := range cellsOf(t, c.must("Scan", q, &hbasepb.ScanResponse{}, nil)) {
			text := fmt.Sprintf("%s=%s", cell.Qualifier, cell.Value)
			if n := len(rows); n > 0 && strings.HasPrefix(rows[n-1], string(cell.Row)+":") {
				rows[n-1] += "," + text
			} else {
				rows = append(rows, string(cell.Row)+":"+text)
			}
		}
		if got := strings.Join(rows, " "); got != k.want {
			t.Errorf("%s:\ngot  %s\nwant %s", k.name, got, k.want)
		}
	}
}

// The refusal of an unsupported filter or comparator names it, and the depth of nesting is limited.
func TestUnsupportedFilters(t *testing.T) {
	s := start(t, embedded.Options{})
	spec := region(create(t, s.Addr(), "t", nil, family("e"))[0])
	c := dial(t, s.Addr(), "ClientService")
	deep := filter("FirstKeyOnlyFilter", nil)
	for range 100 {
		deep = filter("SkipFilter", &hbasepb.SkipFilter{Filter: deep})
	}
	regex := &hbasepb.Comparator{Name: proto.String(hbase + "filter.RegexStringComparator")}
	for want, f := range map[string]*hbasepb.Filter{
		"FuzzyRowFilter":        filter("FuzzyRowFilter", nil),
		"com.example.Mine":      {Name: proto.String("com.example.Mine")},
		"RegexStringComparator": filter("RowFilter", &hbasepb.RowFilter{CompareFilter: compare(hbasepb.CompareType_EQUAL, regex)}),
		"deep":                  deep,
		"PageFilter":            {Name: proto.String(hbase + "filter.PageFilter"), SerializedFilter: []byte{1}},
	} {
		_, err := c.call("Scan", &hbasepb.ScanRequest{Region: spec, Scan: &hbasepb.Scan{Filter: f}}, &hbasepb.ScanResponse{}, nil)
		wantException(t, err, hbase+"DoNotRetryIOException", true)
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
}
