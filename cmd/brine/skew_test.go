package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/hbase"
	"brine/service"
	"brine/service/admin"
	"brine/skew"
	"brine/skew/skewtest"
)

// skewedServer answers like the admin port of a brine that has written two tables, one of them with three salt buckets.
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
	return serveTables(t, tables)
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
	if code != exitOK || stderr != "" {
		t.Errorf("exit %d, %s", code, stderr)
	}
	golden(t, "skew.txt", got)
	code, got, _ = brine(t, "skew", "--http", addr, "orders", "--json")
	if code != exitOK || !strings.HasPrefix(got, `{"tables":{"shop:orders":{"regions":[{"region":{"name":"r0","start":"","end":"\\x01"`) {
		t.Errorf("exit %d, %s", code, got)
	}
}

// The command waits for a silent brine as long as --timeout says.
func TestSkewKeepsToItsTimeout(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the system accepts, and nobody answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	began := time.Now()
	code, _, stderr := brine(t, "skew", "--http", silent.Addr().String(), "--timeout", "150ms")
	if code != exitUnreachable || !strings.Contains(stderr, silent.Addr().String()) || !strings.Contains(stderr, "no answer in time") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if took := time.Since(began); took > admin.ShortTimeout {
		t.Errorf("it took %v", took)
	}
}

// golden compares with a file in testdata; BRINE_UPDATE=1 writes it.
func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if os.Getenv("BRINE_UPDATE") == "1" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: -want +got (BRINE_UPDATE=1 writes the file):\n%s", file, diff)
	}
}

func serveTables(t *testing.T, tables *skew.Tables) (addr string) {
	t.Helper()
	mux := http.NewServeMux()
	service.HandleSkew(mux, tables)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func TestSkewNamesWhatIsHotWhyAndWhatHelps(t *testing.T) {
	var regions []skew.Region
	for i := range 5 {
		r := skew.Region{Name: fmt.Sprint("region", i), Server: fmt.Sprintf("s%d:16020", i%2)}
		if i > 0 {
			r.Start = fmt.Appendf(nil, "%d", 2*i)
			regions[i-1].End = r.Start
		}
		regions = append(regions, r)
	}
	addr := serveTables(t, skewtest.HotTables("scans", regions))
	_, got, _ := brine(t, "skew", "--http", addr)
	golden(t, "skew-hot.txt", got)
	if strings.ContainsRune(got, 0x1b) {
		t.Error("bytes of a key reach the terminal")
	}
	t.Setenv("TZ", "UTC")
	_, got, _ = brine(t, "skew", "--http", addr, "--map", "--minutes", "480")
	if lines := strings.Split(got, "\n"); len(lines) < 8 || !strings.Contains(lines[0], "█ = ") || !strings.Contains(lines[3], "█") {
		t.Errorf("the map:\n%s", got)
	}
	if code, _, stderr := brine(t, "skew", "--http", addr, "--apply", "--json"); code != exitUsage || !strings.Contains(stderr, "add --yes") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

func TestSkewAppliesTheSplitThatItAdvises(t *testing.T) {
	t.Parallel()
	connect := embeddedHBase(t)
	client, err := hbase.Open(t.Context(), hbase.Options{Connect: connect})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	splits := [][]byte{[]byte("2"), []byte("4"), []byte("6"), []byte("8")}
	if err := client.CreateTable(t.Context(), hbase.Table{Name: "scans", Families: []hbase.Family{{Name: "e"}}}, splits); err != nil {
		t.Fatal(err)
	}
	regions, err := client.Regions(t.Context(), "scans")
	if err != nil {
		t.Fatal(err)
	}
	addr := serveTables(t, skewtest.HotTables("scans", service.SkewRegions(regions)))
	brine := func(flags ...string) (int, string, string) {
		var out, errs strings.Builder
		getenv := func(name string) (string, bool) { return connect, name == "BRINE_HBASE_CONNECT" }
		args := append([]string{"skew", "-c", "../../examples/scans.yaml", "--http", addr}, flags...)
		return run(&env{ctx: t.Context(), stdout: &out, stderr: &errs, getenv: getenv}, args), out.String(), errs.String()
	}
	if code, _, stderr := brine("--apply"); code != exitFailed || !strings.Contains(stderr, "nothing was changed") {
		t.Errorf("without an answer: exit %d, %s", code, stderr)
	}
	code, out, stderr := brine("--apply", "--yes")
	if code != exitOK || !strings.Contains(out, "done") {
		t.Fatalf("exit %d, %s%s", code, out, stderr)
	}
	if regions, err = client.Regions(t.Context(), "scans"); err != nil || len(regions) != 6 || !strings.HasPrefix(string(regions[3].Start), "42\x1b[2J|") {
		t.Errorf("%d regions, %v", len(regions), err)
	}
	if code, _, stderr := brine("--apply", "--yes"); code != exitFailed || !strings.Contains(stderr, "is gone") {
		t.Errorf("once more: exit %d, %s", code, stderr)
	}
}

func TestSkewSaysWhatIsWrong(t *testing.T) {
	addr := skewedServer(t)
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"--http " + addr + " scans", exitUsage, "that brine writes no table scans; it writes idle, shop:orders"},
		{"--http " + addr + "/else", exitFailed, "is it the admin port of a brine?"},
		{"--http :0", exitUsage, "give --http HOST:PORT"},
		{"--http 127.0.0.1:1", exitUnreachable, "is brine running there?"},
	} {
		if code, _, stderr := brine(t, append([]string{"skew"}, strings.Fields(tt.args)...)...); code != tt.code || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: exit %d, %s", tt.args, code, stderr)
		}
	}
}
