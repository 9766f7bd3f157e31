package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"brine/service/devstack"
)

// nodes asks for something of the region servers, and returns them as they are then.
func (p *devProcess) nodes(t *testing.T, args ...string) (nodes []devstack.Node) {
	t.Helper()
	code, stdout, stderr := brine(t, slices.Concat([]string{"dev", "node"}, args, []string{"--http", p.http, "--json"})...)
	if err := json.Unmarshal([]byte(stdout), &nodes); code != exitOK || err != nil {
		t.Fatalf("dev node %q: exit %d, %v\n%s%s", args, code, err, stdout, stderr)
	}
	return nodes
}

// TestDevNodes: while the samples are written a region server is stopped, started again, and one is added; nothing is lost.
func TestDevNodes(t *testing.T) {
	t.Parallel()
	p := startDev(t, "--hbase-nodes", "2", "--scanner-lease", "5s")
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
	const wantScans, wantOrders = 57_615, 2_000 // some scans have the key of another
	if scans, orders := p.rows(t, "logistics:scans"), p.rows(t, "shop:orders"); scans != wantScans || orders != wantOrders {
		t.Errorf("%d scans and %d orders, want %d and %d", scans, orders, wantScans, wantOrders)
	}
	for _, args := range [][]string{{"stop", "7"}, {"start", "0"}} {
		code, stdout, stderr := brine(t, slices.Concat([]string{"dev", "node"}, args, []string{"--http", p.http})...)
		if code == exitOK || stdout != "" || !strings.Contains(stderr, map[string]string{"stop": "no such node", "start": "is running"}[args[0]]) {
			t.Errorf("dev node %q: exit %d\n%s%s", args, code, stdout, stderr)
		}
	}
	p.stop(t)
}
