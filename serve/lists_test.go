package serve_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"brine/serve/client"
)

// TestListsAreOfWhoAsks checks that the lists have what the caller may use: tables and views, whether a reason is needed, and the commands
// of the role.
func TestListsAreOfWhoAsks(t *testing.T) {
	g := newGuarded(t, nil)
	for who, want := range map[string]string{
		"":   "scans; waybill waybill-latest",
		"u1": "orders[cancel,confirm,delete] order_ids scans; user-orders* order* waybill waybill-latest",
		"support": "orders![cancel,restore] order_ids! scans!; " +
			"user-orders!* orders-by-status!* order!* waybill!* waybill-latest!* station-scans!*",
		"operator": "orders![cancel,confirm,delete,restore] order_ids! scans!; " +
			"user-orders!* orders-by-status!* order!* waybill!* waybill-latest!* station-scans!*",
		"admin": "orders![] order_ids! scans!; user-orders!* orders-by-status!* order!* waybill!* waybill-latest!* station-scans!*",
	} {
		var tables client.Tables
		var views client.Views
		for path, into := range map[string]any{"/api/v1/tables": &tables, "/api/v1/views": &views} {
			if w := g.as(who, "GET", path, ""); json.Unmarshal(w.Body.Bytes(), into) != nil {
				t.Fatalf("%s as %q: %d %s", path, who, w.Code, w.Body)
			}
		}
		mark := map[bool]string{true: "!"}
		var out []string
		for _, one := range tables.Tables {
			text := strings.TrimPrefix(one.Name, "centre:") + mark[one.Reason]
			if one.State != "" {
				var names []string // in the configured order, which a map does not have
				for _, c := range one.Commands {
					names = append(names, c.Name)
				}
				slices.Sort(names)
				text += fmt.Sprint("[", strings.Join(names, ","), "]")
			}
			out = append(out, text)
		}
		got := strings.Join(out, " ") + ";"
		for _, v := range views.Views {
			got += " " + v.Name + mark[v.Reason] + map[bool]string{true: "*"}[v.Batch]
		}
		if !slices.Equal(slices.Sorted(slices.Values(strings.Fields(got))), slices.Sorted(slices.Values(strings.Fields(want)))) {
			t.Errorf("as %q:\n%s, want\n%s", who, got, want)
		}
	}
}
