package serve_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"brine/mask"
	"brine/rowkey"
	"brine/search"
	"brine/serve"
	"brine/serve/client"
)

const facets = "/api/v1/views/user-orders/facets"

// TestFacetsCountTheRowsOfWhoAsks checks that a customer's facets count only its own rows, and that a caller without an account gets none.
func TestFacetsCountTheRowsOfWhoAsks(t *testing.T) {
	g := newGuarded(t, nil)
	g.found = search.Page{Total: 3, Facets: [][]search.Count{{{Value: "paid", N: 2}, {Value: "shipped", N: 1}}}}
	for who, want := range map[string]string{"u1": "u1", "u2": "u2", "support": "u7"} {
		target := facets
		if who == "support" {
			target += "?user=u7"
		}
		g.searched = nil
		w := g.as(who, "GET", target, "", "Brine-Reason", "case 1")
		if w.Code != 200 || strings.TrimSpace(w.Body.String()) !=
			`{"rows":3,"facets":[{"field":"status","values":[{"value":"paid","rows":2},{"value":"shipped","rows":1}],"more":false}]}` {
			t.Fatalf("as %s: %d %s", who, w.Code, w.Body)
		}
		q := g.searched[0]
		if !slices.Contains(q.Filter, search.Clause(search.Term{Field: "user", Value: want})) || !q.Count || q.Deleted {
			t.Errorf("as %s: the index was asked %+v", who, q)
		}
	}
	if w := g.as("u1", "GET", facets+"?user=u2", ""); w.Code != 400 {
		t.Errorf("u1 names u2: %d %s", w.Code, w.Body)
	}
	for who, want := range map[string]int{"": 401, "u1": 403} {
		if w := g.as(who, "GET", "/api/v1/views/orders-by-status/facets?status=paid", ""); w.Code != want {
			t.Errorf("orders of all as %q: %d %s", who, w.Code, w.Body)
		}
	}
	if w := g.as("", "GET", facets, ""); w.Code != 401 {
		t.Errorf("as nobody: %d %s", w.Code, w.Body)
	}
}

// TestMaskedFieldsAreNoFacets checks that masked fields are neither counted by nor listed, and do not narrow what is counted.
func TestMaskedFieldsAreNoFacets(t *testing.T) {
	rules := &mask.Rules{}
	rules.Field("orders", "status")
	rules.Place("centre:orders", "status")
	rules.Place("centre-orders", "status")
	g := newGuarded(t, func(o *serve.Options) { o.Masks, o.RoleMasks = rules, nil })
	g.found = search.Page{Total: 3}
	w := g.as("u1", "GET", facets, "")
	if w.Code != 200 || strings.TrimSpace(w.Body.String()) != `{"rows":3,"facets":[]}` || len(g.searched[0].Facets) > 0 {
		t.Errorf("%d %s, asked %+v", w.Code, w.Body, g.searched)
	}
	if w := g.as("u1", "GET", facets+"?status=paid", ""); w.Code != 400 {
		t.Errorf("by a masked field: %d %s", w.Code, w.Body)
	}
	var views client.Views
	if err := json.Unmarshal(g.as("u1", "GET", "/api/v1/views", "").Body.Bytes(), &views); err != nil {
		t.Fatal(err)
	}
	for _, v := range views.Views {
		if v.Name == "user-orders" && len(v.Facets) > 0 {
			t.Errorf("facets %v are listed", v.Facets)
		}
	}
}

// TestFacetsOfManyValues checks that the most frequent values are listed, with a note that there are more.
func TestFacetsOfManyValues(t *testing.T) {
	g := newGuarded(t, nil)
	var many []search.Count
	for i := range 101 {
		many = append(many, search.Count{Value: fmt.Sprint(i), N: int64(1000 - i)})
	}
	g.found = search.Page{Total: 1, Facets: [][]search.Count{many}}
	var out client.Facets
	if err := json.Unmarshal(g.as("u1", "GET", facets, "").Body.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	if f := out.Facets[0]; len(f.Values) != 100 || !f.More || g.searched[0].Facets[0].Size != 101 {
		t.Errorf("%d values, more %v, asked %+v", len(f.Values), f.More, g.searched[0].Facets)
	}
}

// TestHighlightsAreOfWhatIsShown checks that highlights are positions in the row's own text, and that masked text has none.
func TestHighlightsAreOfWhatIsShown(t *testing.T) {
	rules := &mask.Rules{}
	rules.Field("orders", "items")
	rules.Place("centre:orders", "items")
	for name, want := range map[string]string{"shown": `"highlights":{"items":[{"from":0,"to":3}]}`, "masked": ""} {
		t.Run(name, func(t *testing.T) {
			g := newGuarded(t, func(o *serve.Options) {
				for i := range o.Views {
					o.Views[i].Families = nil // a list shows less
				}
				if name == "masked" {
					o.Masks, o.RoleMasks = rules, nil
				}
			})
			row, err := rowkey.ParseBinary(g.rows["centre:orders u1"])
			if err != nil {
				t.Fatal(err)
			}
			g.found = search.Page{Hits: []search.Hit{{Row: row, Version: 7, Fields: map[string]any{"items": "TEA, <b>tea</b>"}}}}
			w := g.as("u1", "GET", "/api/v1/views/user-orders?items=Tea", "")
			switch {
			case want != "" && (w.Code != 200 || !strings.Contains(w.Body.String(), want)):
				t.Errorf("%d %s", w.Code, w.Body)
			case want == "" && w.Code != 400: // a caller who may not see a field cannot search its words
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
}

// TestPagesEndBeforeTheyAreTooLarge checks that a page that would be too large ends early and its token continues, so that the pages
// together have all rows.
func TestPagesEndBeforeTheyAreTooLarge(t *testing.T) {
	whole := newShop(t, nil)
	var want client.Page
	if err := json.Unmarshal(whole.ask("GET", timeline, "").Body.Bytes(), &want); err != nil || len(want.Rows) != 3 || want.Next != "" {
		t.Fatalf("%+v, %v", want, err)
	}
	s := newShop(t, func(o *serve.Options) { o.PageBytes = 1 })
	var got []string
	for token := ""; len(got) < 10; {
		var page client.Page
		target := timeline
		if token != "" {
			target += "&page_token=" + url.QueryEscape(token)
		}
		if err := json.Unmarshal(s.ask("GET", target, "").Body.Bytes(), &page); err != nil || len(page.Rows) > 1 {
			t.Fatalf("%+v, %v", page, err)
		}
		for _, r := range page.Rows {
			got = append(got, r.Row)
		}
		if token = page.Next; token == "" {
			break
		}
	}
	if len(got) != 3 || got[0] != want.Rows[0].Row || got[2] != want.Rows[2].Row {
		t.Errorf("rows %v", got)
	}
}
