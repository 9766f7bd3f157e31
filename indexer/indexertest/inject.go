package indexertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"brine/indexer"
	"brine/search"
)

// testInjectedQueries checks that a searched text is a value, whatever query language it looks like: it finds the documents that hold it,
// and no others.
func testInjectedQueries(t *testing.T, e indexer.Engine) {
	name, other := newIndex(t, e), newIndex(t, e)
	hostile := []string{`paid" OR "1"="1`, `*`, `pa?d`, `paid*`, `/pa.*/`, `status:paid`, `+paid -shipped`, `paid~2`, `[a TO z]`, `{{paid}}`,
		`\`, `\"`, "a\nb", "a\x00b", `'; DROP`,
		`"}}]}},"query":{"match_all":{}}`, `{"match_all":{}}`, `{"script":"1"}`, `<script>`, `${paid}`, `../_all`, `%2e%2e`, "\u202epaid"}
	ops := []indexer.Op{put(name, "plain", 1, `"status":"paid","item":"green tea"`), put(other, "secret", 1, `"status":"paid"`)}
	for i, text := range hostile {
		ops = append(ops, put(name, fmt.Sprint("h", i), 1, fmt.Sprintf(`"status":%s`, jsonText(t, text))))
	}
	load(t, e, ops...)
	refresh(t, e, other)
	ask := func(c search.Clause) string {
		return rows(t, e, search.Query{Index: name, Filter: []search.Clause{c}, Size: 100})
	}
	for i, text := range hostile {
		id := fmt.Sprint("h", i)
		if got := ask(search.Term{Field: "status", Value: text}); got != id {
			t.Errorf("term %q finds %q, want %s", text, got, id)
		}
		if got := ask(search.Terms{Field: "status", Values: []any{text, "none"}}); got != id {
			t.Errorf("terms %q find %q, want %s", text, got, id)
		}
		for _, c := range []search.Clause{search.Prefix{Field: "status", Prefix: text},
			search.Range{Field: "status", From: text, To: text + "\x01"}} {
			if got := strings.Fields(ask(c)); !slices.Contains(got, id) || slices.Contains(got, "plain") {
				t.Errorf("%#v finds %q", c, got)
			}
		}
	}
	for _, text := range []string{`*`, `tea*`, `te?`, `/te.*/`, `item:tea`, `green OR nothing`, `tea~1`, `"}}`,
		`{"match_all":{}}`, `tea AND NOT`} {
		got := ask(search.Match{Field: "item", Text: text})
		if want := map[string]string{`/te.*/`: "", `green OR nothing`: "", `tea*`: "plain", `tea~1`: ""}; got != want[text] {
			t.Errorf("match %q finds %q, want %q", text, got, want[text])
		}
	}
	for _, q := range []search.Query{
		{Index: name + "," + other}, {Index: "*"}, {Index: "_all"}, {Index: name + "/_search?q=x#"},
		{Index: "../" + other}, {Index: name + "\x00"},
		{Index: name, Filter: []search.Clause{search.Term{Field: "*", Value: "paid"}}},
		{Index: name, Filter: []search.Clause{search.Term{Field: `status":"paid"},"x":{"y`, Value: "paid"}}},
		{Index: name, Sort: []search.Order{{Field: "_script"}}},
		{Index: name, Facets: []search.Facet{{Field: `status","size":1000000,"x":"`}}},
		{Index: name, After: `[{"script":"1"}]`},
	} {
		if page, err := e.Search(deadline(t), q); err == nil || len(page.Hits) > 0 {
			t.Errorf("%+v: %d hits, error %v", q, len(page.Hits), err)
		}
	}
	if got := rows(t, e, search.Query{Index: other}); got != "secret" {
		t.Errorf("the other index holds %q", got)
	}
}

func jsonText(t *testing.T, text string) string {
	t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(quoted)
}
