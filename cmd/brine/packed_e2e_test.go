package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/sample"
)

// TestPackedScansEndToEnd writes the same scans with one cell per field and with one cell for all. A query finds the same.
func TestPackedScansEndToEnd(t *testing.T) {
	notShort(t)
	t.Parallel()
	const n = 3000
	for name, servers := range map[string]func(*testing.T) stack{"embedded": embeddedStack, "real": realStack} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := servers(t)
			plain, packed := newJob(t, s), newJobOf(t, s, packedExample)
			for _, j := range []*job{plain, packed} {
				j.publish(first(sample.Scans(), n))
				j.must("run", "-q", "-c", j.file, "--until-end")
			}
			table := scanTable(t, s.hbase, packed.table)
			if table.rows != n || table.cells != n {
				t.Fatalf("%v of %d scans", table, n)
			}
			want := plain.answered("--limit", "0")
			got := packed.answered("--limit", "0")
			if diff := cmp.Diff(want, got); diff != "" || len(got) != n {
				t.Fatalf("%d rows, -columns +packed:\n%s", len(got), diff)
			}
			one := []string{"waybill=" + want[0]["fields"].(map[string]any)["waybill"].(string)}
			if diff := cmp.Diff(plain.answered(one...), packed.answered(one...)); diff != "" {
				t.Errorf("%s: -columns +packed:\n%s", one, diff)
			}
			text := packed.must("query", "-c", packed.file, packed.table, one[0])
			if want := plain.must("query", "-c", plain.file, plain.table, one[0]); strings.Fields(text)[0] != "WAYBILL" || len(strings.Fields(text)) != len(strings.Fields(want)) {
				t.Errorf("packed:\n%s\ncolumns:\n%s", text, want)
			}
			t.Logf("%v; %v as columns; a query shows the same fields", table, scanTable(t, s.hbase, plain.table))
		})
	}
}
