package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/hbase"
	"brine/service/devstack"
)

// nodes sends a request about the region servers, and returns them as they are then.
func (p *devProcess) nodes(t *testing.T, args ...string) (nodes []devstack.Node) {
	t.Helper()
	code, stdout, stderr := brine(t, slices.Concat([]string{"dev", "node"}, args, []string{"--http", p.http, "--json"})...)
	if err := json.Unmarshal([]byte(stdout), &nodes); code != exitOK || err != nil {
		t.Fatalf("dev node %q: exit %d, %v\n%s%s", args, code, err, stdout, stderr)
	}
	return nodes
}

// scanners returns how often a scan of a table must be reopened while its reader pauses after its first row.
func (p *devProcess) scanners(t *testing.T, table string, rest time.Duration) (again int) {
	t.Helper()
	client, err := hbase.Open(t.Context(), hbase.Options{Connect: "rpc://" + p.hbase})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var m hbase.ScanMetrics
	rows := 0
	for _, err := range client.Scan(t.Context(), table, hbase.Scan{Caching: 10, Filter: hbase.FirstKeyOnlyFilter{}, Metrics: &m}) {
		if err != nil {
			t.Fatal(err)
		}
		if rows++; rows == 1 {
			wait(t, rest)
		}
		if rows == 100 {
			break
		}
	}
	return m.Lost
}

// TestDevNodes stops a region server, starts it again and adds another while the samples are written. Nothing is lost. A scanner's lease is
// the one asked for, not HBase's minute.
func TestDevNodes(t *testing.T) {
	t.Parallel()
	const lease = time.Second
	p := startDev(t, "--hbase-nodes", "2", "--scanner-lease", lease.String())
	for _, step := range []struct {
		args []string
		up   []bool
	}{
		{[]string{"ls"}, []bool{true, true}},
		{[]string{"stop", "1"}, []bool{true, false}},
		{[]string{"start", "1"}, []bool{true, true}},
		{[]string{"add"}, []bool{true, true, true}},
	} {
		nodes := p.nodes(t, step.args...)
		if len(nodes) != len(step.up) {
			t.Fatalf("%q: %d nodes, want %d", step.args, len(nodes), len(step.up))
		}
		for i, n := range nodes {
			if up := n.State == "up"; n.Node != i || up != step.up[i] || up != (n.Regions > 0) {
				t.Errorf("%q: node %d is %+v", step.args, i, n)
			}
		}
	}
	p.until(t, "everything is written", p.shows(allWritten))
	const wantScans, wantOrders = 57_615, 2_000 // some scans share a key
	if scans, orders := p.rows(t, "logistics:scans"), p.rows(t, "shop:orders"); scans != wantScans || orders != wantOrders {
		t.Errorf("%d scans and %d orders, want %d and %d", scans, orders, wantScans, wantOrders)
	}
	if again := p.scanners(t, "logistics:scans", 2*lease); again == 0 {
		t.Error("a scanner whose reader rests for two leases is still there")
	}
	for _, args := range [][]string{{"stop", "7"}, {"start", "0"}} {
		code, stdout, stderr := brine(t, slices.Concat([]string{"dev", "node"}, args, []string{"--http", p.http})...)
		if code == exitOK || stdout != "" || !strings.Contains(stderr, map[string]string{"stop": "no such node", "start": "is running"}[args[0]]) {
			t.Errorf("dev node %q: exit %d\n%s%s", args, code, stdout, stderr)
		}
	}
	p.stop(t)
}
