package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/service"
	"brine/service/admin"
	"brine/skew"
	"brine/skew/skewtest"
)

func TestTopAsksABrinesAdminPort(t *testing.T) {
	tables := skewtest.HotTables("scans", []skew.Region{{Name: "r0", Server: "s0:1", End: skew.Key("5")}, {Name: "r1", Server: "s1:1", Start: skew.Key("5")}})
	mux := http.NewServeMux()
	service.HandleSkew(mux, tables)
	mux.HandleFunc("GET "+service.PipelinesPath, func(w http.ResponseWriter, _ *http.Request) {
		admin.WriteJSON(w, http.StatusOK, []service.Status{{Name: "scans.rows", Events: 7, Lag: 11, Retries: 12, Dead: 13, Waiting: "halted"}})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	addr := strings.TrimPrefix(server.URL, "http://")
	code, out, _ := brine(t, "top", "--http", addr, "--once", "--every", "10ms", "--list", "r", "--where", "ROWS/S>500")
	if code != exitOK || !strings.Contains(out, "regions: 1") || !strings.Contains(out, "s0:1") {
		t.Errorf("exit %d:\n%s", code, out)
	}
	code, out, _ = brine(t, "top", "--http", addr, "--once", "--every", "10ms", "--list", "p")
	lines := strings.Split(out, "\n")
	if want := "scans.rows 0 11 ? 12 13 halted " + addr; code != exitOK || len(lines) < 3 || strings.Join(strings.Fields(lines[2]), " ") != want {
		t.Errorf("exit %d:\n%s\nwant %s", code, out, want)
	}
	code, _, said := brine(t, "top", "--http", addr, "--http", "127.0.0.1:1", "--once", "--every", "10ms")
	if code != exitUnreachable || !strings.Contains(said, "127.0.0.1:1 does not answer") || strings.Contains(said, addr) {
		t.Errorf("exit %d: %s", code, said)
	}
}

// A silent master is a problem that top --once reports and ends with. It does not wait until the client gives up on its own.
func TestTopOnceEndsWhenTheMasterIsSilent(t *testing.T) {
	t.Parallel()
	servers, server := ownStack(t, embedded.Options{})
	j := newJob(t, servers)
	server.Control("GetClusterStatus", func(r *embedded.Request) *embedded.Outcome {
		r.Keep()
		return &embedded.Outcome{Silent: true}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var out, said strings.Builder
	settings := map[string]string{"BRINE_HBASE_CONNECT": servers.hbase}
	code := run(&env{ctx: ctx, stdout: &out, stderr: &said, getenv: func(name string) (string, bool) { v, ok := settings[name]; return v, ok }},
		[]string{"top", "-c", j.file, "--once", "--every", "10ms", "--http", "127.0.0.1:1"})
	if code != exitUnreachable || !strings.Contains(said.String(), "the cluster does not answer: ") || ctx.Err() != nil {
		t.Errorf("exit %d: %s%s", code, &out, &said)
	}
}
