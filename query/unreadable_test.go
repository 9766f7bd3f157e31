package query

import (
	"errors"
	"strings"
	"testing"

	"brine/event"
	"brine/mask"
	"brine/rowkey"
	"brine/search"
)

// TestHitsWithoutAKeyAreMasked checks that an error about a document whose row, or whose other keys, cannot be made names it only where the
// table does not mask its keys.
func TestHitsWithoutAKeyAreMasked(t *testing.T) {
	parse := func(expr string) *rowkey.Key {
		k, err := rowkey.Parse(expr, []rowkey.Field{{Name: "user", Type: rowkey.Text}, {Name: "n", Type: rowkey.Int}})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	for _, first := range []string{`user`, `user + "|" + asc(n)`} {
		table := Table{Name: "orders", Keys: rowkey.Keys{{Key: parse(first)}, {From: 10, Key: parse(`user + "#" + asc(n)`)}},
			Index: &Index{Name: "orders", Fields: []IndexField{{Name: "n", Field: "n", Type: rowkey.Int}}}}
		_, err := table.keysOf([]search.Hit{{Row: []byte("planted")}})
		if row, ok := errors.AsType[*UnreadableError](err); !ok || string(row.Row) != "planted" || !strings.Contains(err.Error(), "planted") {
			t.Fatalf("%s: %v", first, err)
		}
		rules := &mask.Rules{}
		rules.Key("orders", "user")
		if got := MaskedError(err, rules); strings.Contains(got.Error(), "planted") || !strings.Contains(got.Error(), event.Hidden) {
			t.Errorf("%s: %v", first, got)
		}
	}
}
