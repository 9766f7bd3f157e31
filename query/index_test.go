package query

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/rowkey"
	"brine/search"
)

var ordersIndex = &Index{Name: "orders", Newest: "created", Fields: []IndexField{
	{Name: "customer", Field: "user", Type: rowkey.Text},
	{Name: "created", Field: "created", Type: rowkey.Time},
	{Name: "status", Field: "status", Type: rowkey.Text},
	{Name: "items", Field: "items", Type: rowkey.Text, Words: true},
	{Name: "lines", Field: "lines", Type: rowkey.Int},
	{Name: "total", Field: "total", Type: rowkey.Float},
	{Name: "gift", Field: "gift", Type: rowkey.Bool},
	{Name: "day", Field: "day", Type: rowkey.Int, Unit: 24 * time.Hour},
	{Name: "paid", Field: "paid", Type: rowkey.Int, Unit: time.Microsecond},
}}

func TestConditionsBecomeClauses(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want search.Clause
	}{
		{"status=paid", search.Term{Field: "status", Value: "paid"}},
		{"status=paid,shipped", search.Terms{Field: "status", Values: []any{"paid", "shipped"}}},
		{`customer=a\,b,c`, search.Terms{Field: "customer", Values: []any{"a,b", "c"}}},
		{"customer=a\x00b,c\\\\,,", search.Terms{Field: "customer", Values: []any{"a\x00b", `c\,`, ""}}},
		{"text=绿茶 250g, red", search.Match{Field: "items", Text: "绿茶 250g, red"}},
		{"items=a..b", search.Match{Field: "items", Text: "a..b"}},
		{"customer==a..b", search.Term{Field: "customer", Value: "a..b"}},
		{"customer==a,b", search.Term{Field: "customer", Value: "a,b"}},
		{"lines=1..3", search.Range{Field: "lines", From: int64(1), To: int64(3)}},
		{"total=10..", search.Range{Field: "total", From: 10.0}},
		{"total=1,2.5", search.Terms{Field: "total", Values: []any{1.0, 2.5}}},
		{"created=..2025-06-01", search.Range{Field: "created", To: int64(1748736000000)}},
		{"gift=true", search.Term{Field: "gift", Value: true}},
		{"day=2013-01-31", search.Term{Field: "day", Value: int64(1359590400000)}}, // as documents hold it
		{"day=15736..", search.Range{Field: "day", From: int64(1359590400000)}},
		{"paid=2013-01-31T08:00:00.000001Z", search.Term{Field: "paid", Value: int64(1359619200000001)}},
	} {
		q, err := ordersIndex.Query([]string{tt.in})
		want := search.Query{Index: "orders", Filter: []search.Clause{tt.want}, Sort: []search.Order{{Field: "created", Desc: true}}}
		if diff := cmp.Diff(want, q); err != nil || diff != "" {
			t.Errorf("%s: %v, -want +got:\n%s", tt.in, err, diff)
		}
	}
}

func TestConditionsOnTheIndexSayWhatIsWrong(t *testing.T) {
	wordless := &Index{Name: "w", Fields: ordersIndex.Fields[:2]}
	wordy := &Index{Name: "w", Fields: []IndexField{{Name: "items", Type: rowkey.Text, Words: true}, {Name: "note", Type: rowkey.Text, Words: true}}}
	for _, tt := range []struct {
		index *Index
		in    []string
		want  string
	}{
		{ordersIndex, []string{"status"}, `"status" is not a condition: write field=value or field=from..to`},
		{ordersIndex, []string{"state=paid"}, `index orders has no field "state"; it has customer, created, status, items, lines, total, gift, day, paid`},
		{ordersIndex, []string{"status=a", "status=b"}, `field "status" is given twice: write status=a,b for several values or status=from..to for a range`},
		{ordersIndex, []string{"text=a", "items=b"}, `field "items" is given twice: write items=a,b for several values or items=from..to for a range`},
		{ordersIndex, []string{"lines=1,x"}, `lines: "x" is not a whole number`},
		{ordersIndex, []string{"lines=1..=2"}, "lines: is answered by the index, whose ranges exclude their end; write from..to"},
		{ordersIndex, []string{"gift=false..true"}, "gift: is true or false, which has no ranges"},
		{&Index{Name: "x", Fields: []IndexField{{Name: "price", Field: "price", Type: rowkey.Text, Exact: true}}}, []string{"price=1..2"},
			"price: is a text in the index, which does not sort as the field does; write the exact value"},
		{wordless, []string{"text=a"}, "text=: index w has no field that can be searched by words; declare one as text, or use customer, created"},
		{wordy, []string{"text=a"}, "text=: index w has several fields that can be searched by words; name one of items, note"},
	} {
		if _, err := tt.index.Query(tt.in); err == nil || err.Error() != tt.want {
			t.Errorf("%v: got %v, want %s", tt.in, err, tt.want)
		}
	}
}
