package indexer_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"brine/indexer"
	"brine/indexer/indexertest"
	"brine/rowkey"
)

var routingFields = []rowkey.Field{{Name: "user", Type: rowkey.Text}, {Name: "n", Type: rowkey.Int}, {Name: "gift", Type: rowkey.Bool}, {Name: "at", Type: rowkey.Time}}

// randomValue returns a value of a field as a key takes it, and as a search takes it.
func randomValue(r *rand.Rand, of rowkey.Type) (rowkey.Value, any) {
	switch of {
	case rowkey.Text:
		letters := []rune("ab,%&=+/?# \"\\\x01é空")
		text := make([]rune, r.IntN(8))
		for i := range text {
			text[i] = letters[r.IntN(len(letters))]
		}
		return rowkey.TextValue(string(text)), string(text)
	case rowkey.Bool:
		b := r.IntN(2) == 1
		return rowkey.BoolValue(b), b
	case rowkey.Time:
		ms := r.Int64N(4_000_000_000_000)
		return rowkey.TimeValue(ms), ms
	}
	n := r.Int64() >> r.IntN(64) * (1 - 2*r.Int64N(2))
	return rowkey.IntValue(n), n
}

// TestRoutingFollowsFromTheID checks that, whatever the values, the id determines the routing that a search for the value uses, that
// different values have different routings, and that no routing looks like a list.
func TestRoutingFollowsFromTheID(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for _, expr := range []string{`md5(user, 2) + user + "|" + asc(n) + asc(gift) + desc(at, ms)`, `desc(at, ms) + desc(n) + desc(gift) + user`, `salt(16, user) + asc(gift) + asc(n) + desc(user) + "\x00" + asc(at, ms)`} {
		key, err := rowkey.Parse(expr, routingFields)
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range key.Fields() {
			router := routerOf(t, expr, name)
			seen := map[string]any{}
			for range 300 {
				var values []rowkey.Value
				var asked any
				for k, of := range key.Bindable() {
					v, as := randomValue(r, of.Type)
					if values = append(values, v); k == i {
						asked = as
					}
				}
				row, err := key.Append(nil, values)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				got, err := router.Of(indexer.AppendID(nil, row))
				if want := indexer.RoutingOf(asked); err != nil || got != want || got == "" || strings.ContainsAny(got, ",\"\\ ") {
					t.Fatalf("seed %d: key %s: %s %v is routed %q, error %v; want %q", seed, expr, name, asked, got, err, want)
				}
				if was, ok := seen[got]; ok && was != asked {
					t.Errorf("seed %d: %v and %v are both routed %q", seed, was, asked, got)
				}
				seen[got] = asked
			}
		}
	}
}

// routerOf returns a router as read back from the mapping of an index.
func routerOf(t *testing.T, expr, from string) *indexer.Router {
	t.Helper()
	key, err := rowkey.Parse(expr, routingFields)
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]string{}
	for _, f := range routingFields {
		types[f.Name] = f.Type.String()
	}
	text, err := json.Marshal(indexer.Routing{Field: "f", From: from, Key: key.String(), Types: types})
	if err != nil {
		t.Fatal(err)
	}
	var kept indexer.Routing
	if err := json.Unmarshal(text, &kept); err != nil {
		t.Fatal(err)
	}
	router, err := kept.Router()
	if err != nil {
		t.Fatal(err)
	}
	return router
}

// TestNoRouting checks that an id that is not one of the key, or replaces one that is too long, has no routing.
func TestNoRouting(t *testing.T) {
	router := routerOf(t, `md5(user, 2) + user + "|" + asc(n)`, "user")
	for _, id := range []string{"", "a", `\x`, string(indexer.AppendID(nil, []byte(strings.Repeat("k", 600)))), `\x00\x00u|\x80\x00\x00\x00\x00\x00\x00\x01`} {
		if got, err := router.Of([]byte(id)); err == nil {
			t.Errorf("%q is routed %q", id, got)
		}
	}
	for _, r := range []indexer.Routing{
		{Field: "f", From: "user", Key: "md5(user, 2) + n", Types: map[string]string{"user": "text", "n": "int"}},
		{Field: "f", From: "user", Key: "user +", Types: map[string]string{"user": "text"}},
		{Field: "f", From: "user", Key: "user", Types: map[string]string{"user": "colour"}},
		{Field: "f", From: "absent", Key: "user", Types: map[string]string{"user": "text"}},
	} {
		if _, err := r.Router(); err == nil {
			t.Errorf("%v has a router", &r)
		}
	}
}

// TestRoutingOfOptions checks that only fields that the key yields can be routed by, under the names that the documents have for them.
func TestRoutingOfOptions(t *testing.T) {
	key, err := rowkey.Parse(`md5(status, 2) + order + "|" + asc(at, s)`, []rowkey.Field{{Name: "order", Type: rowkey.Text}, {Name: "status", Type: rowkey.Text}, {Name: "at", Type: rowkey.Time}})
	if err != nil {
		t.Fatal(err)
	}
	for routing, want := range map[string]string{
		"id": "", "status": "field status cannot be decoded", "at": "field at cannot be decoded", "item": "is a text", "absent": "does not fill absent", "number": "field number",
	} {
		opts := indexertest.Options(t, "orders", indexer.Whole)
		d := &opts.Documents[0]
		d.Key, d.Routing, d.Set = key, routing, append(d.Set, indexer.Column{Name: "id", Field: "order"})
		opts.EnsureDefaults()
		if err := opts.Validate(); (err == nil) != (want == "") || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("by %s: error %v, want %q", routing, err, want)
		} else if err == nil {
			got := opts.Mappings()[0].Routing
			if got == nil || got.Field != "id" || got.From != "order" || got.Key != key.String() || len(got.Types) != 3 {
				t.Errorf("by %s: %v", routing, got)
			}
		}
	}
}

// TestRoutingIsNotChanged checks that an index gets a routing only by a rebuild, and never another one.
func TestRoutingIsNotChanged(t *testing.T) {
	none, user, other := indexer.Mapping{Index: "orders"}, indexer.Mapping{Index: "orders"}, indexer.Mapping{Index: "orders"}
	user.Routing = &indexer.Routing{Field: "user", From: "user", Key: `user + "|" + asc(n)`, Types: map[string]string{"user": "text", "n": "int"}}
	other.Routing = &indexer.Routing{Field: "user", From: "user", Key: `desc(user) + asc(n)`, Types: user.Routing.Types}
	for _, c := range []struct {
		name        string
		have, want  indexer.Mapping
		plan, again string // the error in place, and for a rebuild; empty: none
	}{
		{"none", none, none, "", ""},
		{"the same", user, user, "", ""},
		{"given", none, user, "brine reindex", ""},
		{"taken", user, none, "write to a new index", "write to a new index"},
		{"of another key", user, other, "write to a new index", "write to a new index"},
	} {
		_, err := c.want.Missing(c.have)
		if (err != nil) != (c.plan != "") || err != nil && !strings.Contains(err.Error(), c.plan) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.plan)
		}
		err = c.want.CanTakePlaceOf(c.have)
		if (err != nil) != (c.again != "") || err != nil && !strings.Contains(err.Error(), c.again) {
			t.Errorf("%s, built again: error %v, want %q", c.name, err, c.again)
		}
	}
}
