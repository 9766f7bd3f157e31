package indexertest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"brine/indexer"
	"brine/search"
)

// rows returns the row keys of a query's hits.
func rows(t *testing.T, e indexer.Engine, q search.Query) string {
	t.Helper()
	page, err := e.Search(deadline(t), q)
	if err != nil {
		t.Errorf("%v: %v", q, err)
	}
	return keys(page)
}

func keys(page search.Page) string {
	var all []string
	for _, h := range page.Hits {
		all = append(all, string(h.Row))
	}
	return strings.Join(all, " ")
}

func loadShop(t *testing.T, e indexer.Engine) string {
	name := newIndex(t, e)
	load(t, e,
		put(name, "a", 11, `"status":"paid","item":"Red apple juice 1l","number":9007199254740993,"at":1000,"amount":1.5,"gift":true`),
		put(name, "b", 12, `"status":"shipped","item":"Green apple","number":9007199254740992,"at":2000,"amount":-0.25,"gift":false`),
		put(name, "c", 13, `"status":"paid","item":"juice of oranges","number":-3,"at":-1500,"amount":1e300`),
		put(name, "d", 14, `"status":"cancelled","item":"apple juice","number":0,"at":3000,"deleted":true`),
		put(name, `e\x00"`, 15, `"status":"a \"b\" {c}","deleted":false`),
	)
	return name
}

func testQueries(t *testing.T, e indexer.Engine) {
	name := loadShop(t, e)
	term := func(field string, v any) search.Clause { return search.Term{Field: field, Value: v} }
	filter := func(list ...search.Clause) search.Query { return search.Query{Filter: list} }
	for _, c := range []struct {
		name string
		q    search.Query
		want string
	}{
		{"everything but the deleted", search.Query{}, "a b c e\x00\""},
		{"the deleted too", search.Query{Deleted: true}, "a b c d e\x00\""},
		{"keyword", filter(term("status", "paid")), "a c"},
		{"keyword with quotes", filter(term("status", `a "b" {c}`)), "e\x00\""},
		{"a keyword is not cut", filter(term("status", "b")), ""},
		{"boolean", filter(term("gift", true)), "a"},
		{"long, to the last digit", filter(term("number", int64(9007199254740993))), "a"},
		{"double", filter(term("amount", -0.25)), "b"},
		{"date", filter(term("at", int64(2000))), "b"},
		{"terms", filter(search.Terms{Field: "status", Values: []any{"shipped", "paid", "none"}}), "a b c"},
		{"terms of longs", filter(search.Terms{Field: "number", Values: []any{int64(-3), int64(9007199254740992)}}), "b c"},
		{"match", filter(search.Match{Field: "item", Text: "APPLE"}), "a b"},
		{"match all words", filter(search.Match{Field: "item", Text: "juice, apple"}), "a"},
		{"match no words", filter(search.Match{Field: "item", Text: " - "}), ""},
		{"range", filter(search.Range{Field: "at", From: int64(1000), To: int64(2000)}), "a"},
		{"range from", filter(search.Range{Field: "at", From: int64(1000)}), "a b"},
		{"range to", filter(search.Range{Field: "at", To: int64(1001)}), "a c"},
		{"empty range", filter(search.Range{Field: "at", From: int64(5), To: int64(5)}), ""},
		{"range of longs", filter(search.Range{Field: "number", From: int64(9007199254740993), To: int64(math.MaxInt64)}), "a"},
		{"range of doubles", filter(search.Range{Field: "amount", From: -0.25, To: 1e300}), "a b"},
		{"range of keywords", filter(search.Range{Field: "status", From: "p", To: "q"}), "a c"},
		{"ranges of two fields", filter(search.Range{Field: "at", From: int64(-5000)}, search.Range{Field: "amount", To: 1e10}), "a b"},
		{"must of a range", search.Query{Must: []search.Clause{search.Range{Field: "at", From: int64(1000)}}}, "a b"},
		{"must not of a range", search.Query{MustNot: []search.Clause{search.Range{Field: "at", From: int64(1000)}}}, "c e\x00\""},
		{"prefix", filter(search.Prefix{Field: "status", Prefix: "sh"}), "b"},
		{"must and filter", search.Query{Must: []search.Clause{search.Match{Field: "item", Text: "apple"}},
			Filter: []search.Clause{term("status", "paid")}}, "a"},
		{"must that nothing meets", search.Query{Must: []search.Clause{term("status", "none")}, MustNot: []search.Clause{term("status", "paid")}},
			""},
		{"must not", search.Query{MustNot: []search.Clause{term("status", "paid"), search.Match{Field: "item", Text: "green"}}}, "e\x00\""},
		{"sort", search.Query{Sort: []search.Order{{Field: "number", Desc: true}}}, "a b c e\x00\""},
		{"missing last both ways", search.Query{Sort: []search.Order{{Field: "amount"}}}, "b a c e\x00\""},
		{"sort by keyword, then date", search.Query{Sort: []search.Order{{Field: "status", Desc: true}, {Field: "at"}}}, "b c a e\x00\""},
		{"sort by boolean", search.Query{Sort: []search.Order{{Field: "gift"}}}, "b a c e\x00\""},
		{"size", search.Query{Size: 2}, "a b"},
	} {
		c.q.Index = name
		if got := rows(t, e, c.q); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	page, err := e.Search(deadline(t), search.Query{Index: name, Size: 1, Count: true})
	if err != nil || page.Total != 4 || len(page.Hits) != 1 {
		t.Fatalf("%d of %d hits, error %v; want 1 of 4", len(page.Hits), page.Total, err)
	}
	hit := page.Hits[0]
	if f := hit.Fields; hit.Version != 11 || len(f) != 6 || f["number"] != int64(9007199254740993) || f["amount"] != 1.5 ||
		f["gift"] != true || f["status"] != "paid" {
		t.Errorf("hit %+v", hit)
	}
}

func testBadQueries(t *testing.T, e indexer.Engine) {
	name := loadShop(t, e)
	for _, c := range []struct {
		q    search.Query
		want string
	}{
		{search.Query{Filter: []search.Clause{search.Term{Field: "stauts", Value: "paid"}}}, "no such field; it has amount, at"},
		{search.Query{Filter: []search.Clause{search.Match{Field: "status", Text: "paid"}}}, "use term"},
		{search.Query{Filter: []search.Clause{search.Term{Field: "item", Value: "apple"}}}, "use match"},
		{search.Query{Filter: []search.Clause{search.Term{Field: "number", Value: "1"}}}, "is a long"},
		{search.Query{Filter: []search.Clause{search.Prefix{Field: "number", Prefix: "1"}}}, "only a keyword"},
		{search.Query{Filter: []search.Clause{search.Range{Field: "item", From: "a"}}}, "no ranges"},
		{search.Query{Sort: []search.Order{{Field: "item"}}}, "cannot sort by text"},
		{search.Query{Facets: []search.Facet{{Field: "item"}}}, "only a keyword, boolean or long"},
		{search.Query{Facets: []search.Facet{{Field: "stauts"}}}, "cannot count by it"},
		{search.Query{Sort: []search.Order{{Field: "_id"}}}, "no such field"},
		{search.Query{Size: 20_000}, "smaller page"},
		{search.Query{Filter: []search.Clause{search.Match{Field: "item", Text: strings.Repeat("x", search.MaxWords+1)}}}, "use fewer words"},
		{search.Query{After: `["x","y"]`}, "another sort order"},
		{search.Query{After: `x`}, "damaged"},
	} {
		c.q.Index = name
		_, err := e.Search(deadline(t), c.q)
		var fault *search.Error
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v does not say %q", c.q, err, c.want)
		}
	}
}

func testChinese(t *testing.T, e indexer.Engine) {
	name := newIndex(t, e)
	load(t, e,
		put(name, "a", 1, `"item":"上海市浦东新区 红富士苹果 5kg","status":"已签收"`),
		put(name, "b", 1, `"item":"北京市朝阳区 苹果汁","status":"运输中"`),
		put(name, "c", 1, `"item":"广州市天河区 香蕉"`),
	)
	for text, want := range map[string]string{"苹果": "a b", "浦东": "a", "苹果 北京": "b", "朝阳区 苹果汁": "b", "梨子": "", "红富士 5KG": "a"} {
		if got := rows(t, e, search.Query{Index: name, Must: []search.Clause{search.Match{Field: "item", Text: text}}}); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got := rows(t, e, search.Query{Index: name, Filter: []search.Clause{search.Prefix{Field: "status", Prefix: "已签"}}}); got != "a" {
		t.Errorf("prefix: %q", got)
	}
}

// testHighlights checks that a search for words finds a document if and only if each of them can be highlighted in its text.
func testHighlights(t *testing.T, e indexer.Engine) {
	name := newIndex(t, e)
	texts := map[string]string{"a": "Red apple juice 1l", "b": "Green APPLE, 2 pieces", "c": "juice of oranges", "d": "上海市浦东新区 红富士苹果 5kg",
		"e": "苹果汁 apple", "f": "crab-apple (dried)", "g": "pineapple"}
	var ops []indexer.Op
	for id, text := range texts {
		ops = append(ops, put(name, id, 1, fmt.Sprintf(`"item":%q`, text)))
	}
	load(t, e, ops...)
	for _, words := range [][]string{{"apple"}, {"APPLE", "Juice"}, {"苹果"}, {"红富士", "5KG"}, {"apple", "苹果"}, {"dried"}, {"juice", "oranges"},
		{"2"}, {"plum"}} {
		var want []string
		for id, text := range texts {
			if !slices.ContainsFunc(words, func(word string) bool { return len(search.Highlight(text, word)) == 0 }) {
				want = append(want, id)
			}
		}
		slices.Sort(want)
		q := search.Query{Index: name, Filter: []search.Clause{search.Match{Field: "item", Text: strings.Join(words, " ")}}}
		if got := rows(t, e, q); got != strings.Join(want, " ") {
			t.Errorf("by %q are found %q, and %q can be shown", words, got, want)
		}
	}
}

// loadMany creates n documents with few different values, some of them missing.
func loadMany(t *testing.T, e indexer.Engine, n int) string {
	name := newIndex(t, e)
	var ops []indexer.Op
	for i := range n {
		var fields []string
		for _, f := range []struct {
			every int
			text  string
		}{
			{2, fmt.Sprintf(`"status":"s%d"`, i%5)}, {3, fmt.Sprintf(`"number":%d`, i%7-3)}, {5, fmt.Sprintf(`"amount":%d.5`, i%4-2)},
			{7, fmt.Sprintf(`"at":%d`, 1700000000000+i/10)}, {11, fmt.Sprintf(`"gift":%v`, i%2 == 0)},
		} {
			if i%f.every != 0 {
				fields = append(fields, f.text)
			}
		}
		ops = append(ops, put(name, fmt.Sprintf("r%03d", i), int64(i), strings.Join(fields, ",")))
	}
	load(t, e, ops...)
	return name
}

// collect follows the cursors to the end.
func collect(t *testing.T, e indexer.Engine, q search.Query) []string {
	t.Helper()
	var all []string
	for range 1000 {
		page, err := e.Search(deadline(t), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range page.Hits {
			all = append(all, string(h.Row))
		}
		if page.Next == "" {
			return all
		}
		q.After = page.Next
	}
	t.Fatal("the pages have no end")
	return nil
}

func testPages(t *testing.T, e indexer.Engine) {
	const n = 90
	name := loadMany(t, e, n)
	sorts := [][]search.Order{nil}
	for _, f := range []string{"status", "number", "amount", "at", "gift"} {
		sorts = append(sorts, []search.Order{{Field: f}}, []search.Order{{Field: f, Desc: true}},
			[]search.Order{{Field: f}, {Field: "number2", Desc: true}})
	}
	for _, sort := range sorts {
		if len(sort) == 2 {
			sort[1].Field = "number"
			if sort[0].Field == "number" {
				sort[1].Field = "at"
			}
		}
		q := search.Query{Index: name, Sort: sort, Size: n}
		whole := collect(t, e, q)
		if len(whole) != n {
			t.Fatalf("%v: %d rows", sort, len(whole))
		}
		for _, size := range []int{20} {
			q.Size = size
			if paged := collect(t, e, q); !slices.Equal(paged, whole) {
				t.Errorf("%v by %d: %v, want %v", sort, size, paged, whole)
			}
		}
	}
}

func testScore(t *testing.T, e indexer.Engine) {
	name := newIndex(t, e)
	load(t, e,
		put(name, "a", 1, `"item":"tea and many other things that are not it at all"`),
		put(name, "b", 1, `"item":"tea tea tea"`),
		put(name, "c", 1, `"item":"tea tea tea"`),
		put(name, "d", 1, `"item":"coffee"`),
	)
	q := search.Query{
		Index: name, Must: []search.Clause{search.Match{Field: "item", Text: "tea"}},
		Sort: []search.Order{{Field: search.Score, Desc: true}},
	}
	if got := rows(t, e, q); got != "b c a" {
		t.Errorf("by relevance: %q", got)
	}
	q.Size = 1
	if got := strings.Join(collect(t, e, q), " "); got != "b c a" {
		t.Errorf("by relevance, in pages: %q", got)
	}
}
