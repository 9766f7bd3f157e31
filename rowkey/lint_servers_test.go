package rowkey_test

import (
	"fmt"
	"testing"

	"brine/rowkey"
)

// TestFixedRegionsAreTaken checks that the table can be cut into any number of regions that lint proposes, and that lint then proposes
// nothing else.
func TestFixedRegionsAreTaken(t *testing.T) {
	for _, expr := range []string{`md5(waybill, 1) + waybill`, `md5(waybill, 4) + waybill`, `salt(16, waybill) + waybill`,
		`salt(5, waybill) + waybill`, `salt(3, waybill) + md5(waybill, 1) + waybill`} {
		k, fixed := parse(t, expr), 0
		for servers := 2; servers <= 40; servers++ {
			for _, f := range k.Lint(rowkey.LintOptions{Servers: servers, Regions: 1}) {
				n := 0
				if _, err := fmt.Sscanf(f.Fix, "start it with regions: %d", &n); err != nil {
					continue
				}
				fixed++
				if _, err := k.Splits(n); err != nil {
					t.Errorf("%s, %d servers: %s: %v", expr, servers, f.Fix, err)
				}
				if left := k.Lint(rowkey.LintOptions{Servers: servers, Regions: n}); len(left) > 0 {
					t.Errorf("%s, %d servers, %d regions: %v", expr, servers, n, left)
				}
			}
		}
		if fixed == 0 {
			t.Errorf("%s: nothing is fixed", expr)
		}
	}
}
