package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/service"
	"brine/service/admin"
	"brine/skew"
)

// One of three servers has most regions, another none. The advised move is made after a yes and not after a no.
func TestSkewAppliesTheMoveThatItAdvises(t *testing.T) {
	t.Parallel()
	server, err := embedded.Start(embedded.Options{Dir: t.TempDir(), Servers: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	connect := "rpc://" + server.Addr()
	client, err := hbase.Open(t.Context(), hbase.Options{Connect: connect})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	state, idle := loadedState(t, client)
	move := state.Hot[0].Actions[0]
	if len(state.Hot) != 1 || state.Hot[0].Cause != skew.LoadedServer || move.Kind != skew.Move || move.To != idle {
		t.Fatalf("%+v", state.Hot)
	}
	other := move // the same for another region
	other.Region = otherRegion(t, client, move.Region)
	state.Hot = []skew.HotSpot{{Server: "a", Actions: []skew.Action{other}}, state.Hot[0]}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+service.SkewPath, func(w http.ResponseWriter, _ *http.Request) { admin.WriteJSON(w, http.StatusOK, state) })
	brine := httptest.NewServer(mux)
	t.Cleanup(brine.Close)

	var out, errs strings.Builder
	getenv := func(name string) (string, bool) { return connect, name == "BRINE_HBASE_CONNECT" }
	code := run(&env{ctx: t.Context(), stdin: iotest.OneByteReader(strings.NewReader("n\ny\n")), stdout: &out, stderr: &errs, getenv: getenv},
		[]string{"skew", "-c", "../../examples/scans.yaml", "--http", strings.TrimPrefix(brine.URL, "http://"), "--apply"})
	if code != exitOK || strings.Count(out.String(), "  done\n") != 1 || strings.Count(errs.String(), "[y/N]") != 2 {
		t.Errorf("exit %d, %s%s", code, out.String(), errs.String())
	}
	for _, r := range regionsOf(t, client) {
		if moved := r.Server == idle; moved != (r.Encoded == move.Region) {
			t.Errorf("%s is on %s", r.Encoded, r.Server)
		}
	}
}

// loadedState puts nine of twelve regions on one server and none on another, and returns the report when all are written alike.
func loadedState(t *testing.T, client *hbase.Client) (state skew.State, idle string) {
	t.Helper()
	var splits [][]byte
	for i := range 11 {
		splits = append(splits, fmt.Appendf(nil, "%02d", i+1))
	}
	if err := client.CreateTable(t.Context(), hbase.Table{Name: "scans", Families: []hbase.Family{{Name: "e"}}}, splits); err != nil {
		t.Fatal(err)
	}
	status, err := client.ClusterStatus(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	servers := service.ServerNames(status)
	for i, r := range regionsOf(t, client) {
		if err := client.MoveRegion(t.Context(), r, servers[i/9]); err != nil {
			t.Fatal(err)
		}
	}
	clock := time.Unix(1_700_000_000, 0)
	tables := skew.NewTables(func() time.Time { return clock })
	tables.SetServers(servers)
	counter := tables.Counter("scans", skew.Shape{})
	for range 12 {
		for _, r := range service.SkewRegions(regionsOf(t, client)) {
			counter.Add(skew.Batch{Region: r, Count: skew.Count{Rows: 100}})
		}
		clock = clock.Add(time.Second)
		tables.Observe()
	}
	return tables.State(), servers[2]
}

func regionsOf(t *testing.T, client *hbase.Client) []hbase.Region {
	t.Helper()
	regions, err := client.Regions(t.Context(), "scans")
	if err != nil {
		t.Fatal(err)
	}
	return regions
}

// otherRegion returns one on the same server.
func otherRegion(t *testing.T, client *hbase.Client, region string) string {
	t.Helper()
	all := regionsOf(t, client)
	is := slices.IndexFunc(all, func(r hbase.Region) bool { return r.Encoded == region })
	i := slices.IndexFunc(all, func(r hbase.Region) bool { return r.Encoded != region && r.Server == all[is].Server })
	return all[i].Encoded
}
