package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/skew"
)

// skewedServer answers as the admin port of a brine that has written two tables, one of them with three salt buckets.
func skewedServer(t *testing.T) string {
	t.Helper()
	clock := time.Unix(1_700_000_000, 0)
	tables := skew.NewTables(func() time.Time { return clock })
	counter := tables.Counter("shop:orders", skew.Shape{Buckets: 3})
	regions := []skew.Region{{Name: "r0", End: skew.Key{1}, Server: "a:1"}, {Name: "r1", Start: skew.Key{1}, End: skew.Key{2}, Server: "b:1"}, {Name: "r2", Start: skew.Key{2}, Server: "a:1"}}
	counter.SetRegions(regions)
	for i, rows := range []int64{500, 1500, 0} {
		counter.Add(skew.Batch{Region: regions[i], Count: skew.Count{Rows: rows, Bytes: 100 * rows}})
		counter.AddBucket(i, rows, 100*rows)
	}
	clock = clock.Add(2 * skew.Window)
	counter.Add(skew.Batch{Region: regions[2], Count: skew.Count{Rows: 10, Bytes: 1000}})
	tables.Counter("idle", skew.Shape{}).SetRegions([]skew.Region{{Name: "r9", Server: "a:1"}})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/debug/skew" {
			http.NotFound(w, r)
			return
		}
		writeJSON(w, http.StatusOK, tables.Reports())
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func brine(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	code = run(&env{ctx: t.Context(), stdout: &out, stderr: &errs, getenv: func(string) (string, bool) { return "", false }}, args)
	return code, out.String(), errs.String()
}

func TestSkewShowsRegionsAndBuckets(t *testing.T) {
	addr := skewedServer(t)
	code, got, stderr := brine(t, "skew", "--http", addr)
	want := `idle: 0 rows written to 1 region, 0 of them in the last 60 s
  START    SERVER        ROWS     SHARE  LAST MINUTE
  (first)  a:1              0    0.00 %            0  
  in all     max/mean 1.000, CV 0.000, Gini 0.000, entropy 0.0000, HBase cost 0.0000
  last 60 s  max/mean 1.000, CV 0.000, Gini 0.000, entropy 0.0000, HBase cost 0.0000
shop:orders: 2,010 rows written to 3 regions, 10 of them in the last 60 s
  START    SERVER        ROWS     SHARE  LAST MINUTE
  (first)  a:1            500   24.88 %            0  ██████████
  \x01     b:1          1,500   74.63 %            0  ██████████████████████████████
  \x02     a:1             10    0.50 %           10  
  in all     max/mean 2.239, CV 0.925, Gini 0.494, entropy 0.4622, HBase cost 0.6544
  last 60 s  max/mean 3.000, CV 1.414, Gini 0.667, entropy 1.0000, HBase cost 1.0000
  hottest in the last minute: the region from \x02, 100.00 % of the rows, 3.00 times the mean
  by salt    max/mean 2.250, CV 0.935, Gini 0.500, entropy 0.4881, HBase cost 0.6613
  BUCKET        ROWS     SHARE  LAST MINUTE
  0              500   25.00 %            0  ██████████
  1            1,500   75.00 %            0  ██████████████████████████████
  2                0    0.00 %            0  
`
	if diff := cmp.Diff(want, got); code != exitOK || stderr != "" || diff != "" {
		t.Errorf("exit %d, %s-want +got:\n%s", code, stderr, diff)
	}
	code, got, _ = brine(t, "skew", "--http", addr, "--table", "orders", "--json")
	if code != exitOK || !strings.HasPrefix(got, `{"shop:orders":{"regions":[{"region":{"name":"r0","start":"","end":"\\x01"`) {
		t.Errorf("exit %d, %s", code, got)
	}
}

func TestSkewSaysWhatIsWrong(t *testing.T) {
	addr := skewedServer(t)
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"--http " + addr + " --table scans", exitUsage, "that brine writes no table scans; it writes idle, shop:orders"},
		{"--http " + addr + "/else", exitFailed, "is it the admin port of a brine?"},
		{"--http :0", exitUsage, "give --http HOST:PORT"},
		{"--http 127.0.0.1:1", exitUnreachable, "is brine running there?"},
	} {
		if code, _, stderr := brine(t, append([]string{"skew"}, strings.Fields(tt.args)...)...); code != tt.code || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: exit %d, %s", tt.args, code, stderr)
		}
	}
}
