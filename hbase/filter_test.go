package hbase_test

import (
	"errors"
	"strings"
	"testing"

	"brine/hbase"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

func TestFilters(t *testing.T) {
	onBoth(t, func(t *testing.T, c *hbase.Client, table string) {
		create(t, c, table, "b")
		put(t, c, table,
			"a1 e:p1 1 x", "a1 e:p2 2 y", "a1 f:q 3 z",
			"a2 e:p1 1 y", "b1 e:p2 2 x", "b1 f:r 4 xyz", "c1 e:p3 1 w")
		b := func(s string) []byte { return []byte(s) }
		all := "a1 e:p1=x, a1 e:p2=y, a1 f:q=z, a2 e:p1=y, b1 e:p2=x, b1 f:r=xyz, c1 e:p3=w"
		first := hbase.FirstKeyOnlyFilter{}
		for _, tt := range []struct {
			name   string
			filter hbase.Filter
			want   string
		}{
			{"none", nil, all},
			{"prefix", hbase.PrefixFilter{Prefix: b("b")}, "b1 e:p2=x, b1 f:r=xyz"},
			{"inclusive stop", hbase.InclusiveStopFilter{Stop: b("a2")}, "a1 e:p1=x, a1 e:p2=y, a1 f:q=z, a2 e:p1=y"},
			{"row", hbase.RowFilter{Op: hbase.GreaterOrEqual, With: hbase.Bytes("b1")}, "b1 e:p2=x, b1 f:r=xyz, c1 e:p3=w"},
			{"row less", hbase.RowFilter{Op: hbase.Less, With: hbase.Bytes("a2")}, "a1 e:p1=x, a1 e:p2=y, a1 f:q=z"},
			{"row substring", hbase.RowFilter{With: hbase.Substring("C")}, "c1 e:p3=w"},
			{"family", hbase.FamilyFilter{With: hbase.Bytes("f")}, "a1 f:q=z, b1 f:r=xyz"},
			{"qualifier", hbase.QualifierFilter{Op: hbase.Greater, With: hbase.Bytes("p2")}, "a1 f:q=z, b1 f:r=xyz, c1 e:p3=w"},
			{"value", hbase.ValueFilter{Op: hbase.NotEqual, With: hbase.Bytes("x")}, "a1 e:p2=y, a1 f:q=z, a2 e:p1=y, b1 f:r=xyz, c1 e:p3=w"},
			{"value prefix", hbase.ValueFilter{With: hbase.Prefix("x")}, "a1 e:p1=x, b1 e:p2=x, b1 f:r=xyz"},
			{"single value", hbase.SingleColumnValueFilter{Family: b("e"), Qualifier: b("p1"), With: hbase.Bytes("x")}, "a1 e:p1=x, a1 e:p2=y, a1 f:q=z"},
			{"single value or missing", hbase.SingleColumnValueFilter{Family: b("e"), Qualifier: b("p1"), With: hbase.Bytes("x"), KeepIfMissing: true}, "a1 e:p1=x, a1 e:p2=y, a1 f:q=z, b1 e:p2=x, b1 f:r=xyz, c1 e:p3=w"},
			{"column prefix", hbase.ColumnPrefixFilter{Prefix: b("q")}, "a1 f:q=z"},
			{"column prefixes", hbase.MultipleColumnPrefixFilter{Prefixes: [][]byte{b("p1"), b("r")}}, "a1 e:p1=x, a2 e:p1=y, b1 f:r=xyz"},
			{"column range", hbase.ColumnRangeFilter{Min: b("p2"), Max: b("q"), MinExclusive: true, MaxInclusive: true}, "a1 f:q=z, c1 e:p3=w"},
			{"column range open", hbase.ColumnRangeFilter{Max: b("p2")}, "a1 e:p1=x, a2 e:p1=y"},
			{"column pagination", hbase.ColumnPaginationFilter{Limit: 1, Offset: 1}, "a1 e:p2=y, b1 f:r=xyz"},
			{"timestamps", hbase.TimestampsFilter{Timestamps: []int64{2, 4}}, "a1 e:p2=y, b1 e:p2=x, b1 f:r=xyz"},
			{"key only", hbase.FilterList{Filters: []hbase.Filter{hbase.PrefixFilter{Prefix: b("c")}, hbase.KeyOnlyFilter{}}}, "c1 e:p3="},
			{"first key only", first, "a1 e:p1=x, a2 e:p1=y, b1 e:p2=x, c1 e:p3=w"},
			{"page, of each region", hbase.FilterList{Filters: []hbase.Filter{hbase.PageFilter{Rows: 1}, first}}, "a1 e:p1=x, b1 e:p2=x"},
			{"any", hbase.FilterList{Any: true, Filters: []hbase.Filter{hbase.RowFilter{With: hbase.Bytes("c1")}, hbase.ColumnPrefixFilter{Prefix: b("q")}}}, "a1 f:q=z, c1 e:p3=w"},
			{"skip", hbase.SkipFilter{Filter: hbase.ValueFilter{Op: hbase.NotEqual, With: hbase.Bytes("xyz")}}, "a1 e:p1=x, a1 e:p2=y, a1 f:q=z, a2 e:p1=y, c1 e:p3=w"},
			{"while match", hbase.WhileMatchFilter{Filter: hbase.RowFilter{Op: hbase.Less, With: hbase.Bytes("b")}}, "a1 e:p1=x, a1 e:p2=y, a1 f:q=z, a2 e:p1=y"},
			{"regex", hbase.RowFilter{With: hbase.Regex("^[bc]1$")}, "b1 e:p2=x, b1 f:r=xyz, c1 e:p3=w"},
			{"fuzzy", hbase.FuzzyRowFilter{Patterns: []hbase.FuzzyPattern{{Row: b("?1"), Any: []bool{true, false}}}}, "a1 e:p1=x, a1 e:p2=y, a1 f:q=z, b1 e:p2=x, b1 f:r=xyz, c1 e:p3=w"},
			{"ranges", hbase.MultiRowRangeFilter{Ranges: []hbase.RowRange{{Start: b("a1"), Stop: b("a2")}, {Start: b("b1"), Stop: b("c1"), StartExclusive: true, StopInclusive: true}}}, "a1 e:p1=x, a1 e:p2=y, a1 f:q=z, c1 e:p3=w"},
		} {
			if missing := hasNot(t, c, table, tt.filter); missing != "" {
				t.Logf("%s: %s", tt.name, missing)
				continue
			}
			for _, caching := range []int{0, 1} {
				if got := read(t, c, table, hbase.Scan{Filter: tt.filter, Caching: caching}); got != tt.want {
					t.Errorf("%s, caching %d:\n got %s\nwant %s", tt.name, caching, got, tt.want)
				}
			}
		}
		row, err := c.Get(t.Context(), table, hbase.Get{Row: b("a1"), Filter: hbase.ColumnPrefixFilter{Prefix: b("p2")}})
		if err != nil || len(row.Cells) != 1 {
			t.Errorf("get: %v %v", row, err)
		}
		many, err := c.GetAll(t.Context(), table, []hbase.Get{{Row: b("a1"), Filter: first}, {Row: b("b1"), Filter: first}})
		if err != nil || len(many[0].Cells) != 1 || len(many[1].Cells) != 1 {
			t.Errorf("get all: %v %v", many, err)
		}
		for _, err := range c.Scan(t.Context(), table, hbase.Scan{Filter: hbase.SkipFilter{}}) {
			if err == nil || !contains(err.Error(), "is nil") {
				t.Errorf("a filter of nothing: %v", err)
			}
		}
	})
}

// hasNot returns the error if a server lacks a filter, or "". Only the embedded server lacks any, and its error names the filter.
func hasNot(t *testing.T, c *hbase.Client, table string, f hbase.Filter) string {
	for _, err := range c.Scan(t.Context(), table, hbase.Scan{Filter: f, Limit: 1}) {
		var e *hbase.Error
		if errors.As(err, &e) && contains(e.Error(), "the embedded HBase server does not support") {
			return e.Error()
		}
	}
	return ""
}
