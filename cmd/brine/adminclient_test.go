package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"brine/service"
	"brine/service/admin"
	"brine/service/devstack"
	"brine/skew"
	"brine/skew/skewtest"
)

// skew, top and dev node present the token of a brine, taken from the flag, the environment or the configuration. Nothing prints it.
func TestCommandsShowTheTokenAndNeverPrintIt(t *testing.T) {
	const token, wrong = "hunter2-hunter2-hunter2", "wrong-hunter2-wrong"
	fine := func() (any, error) { return nil, nil }
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := admin.New(l, "127.0.0.1:0", admin.Options{Metrics: prometheus.NewRegistry(), Healthy: fine, Ready: fine, Token: token})
	shown := 0
	service.HandleSkew(port, skewtest.HotTables("scans", []skew.Region{{Name: "r0", Server: "s0:1"}}))
	port.Handle("GET "+service.PipelinesPath, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer "+token {
			shown++
		}
		_, _ = w.Write([]byte("[]"))
	}))
	port.Handle("GET "+devstack.NodesPath, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("[]")) }))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- port.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	file := "../../examples/scans.yaml"
	top := []string{"top", "--once", "--every", "1ms"}
	for _, c := range []struct {
		name     string
		args     []string
		variable map[string]string
		code     int
		say      string
	}{
		{"skew, by the flag", []string{"skew", "--http", port.Addr(), "--token", token}, nil, exitOK, "scans"},
		{"skew, by the environment", []string{"skew", "--http", port.Addr(), "--map"}, map[string]string{"BRINE_HTTP_TOKEN": token}, exitOK, "scans"},
		{"skew, by the configuration", []string{"skew", "-c", file}, map[string]string{"BRINE_HTTP_LISTEN": port.Addr(), "BRINE_HTTP_TOKEN": token}, exitOK, "scans"},
		{"skew, wrong", []string{"skew", "--http", port.Addr(), "--token", wrong}, nil, exitUsage, "hint: give its http.token in BRINE_HTTP_TOKEN, or as --token"},
		{"skew, no header", []string{"skew", "--http", port.Addr(), "--token", token + "\n"}, nil, exitUnreachable, "Authorization"},
		{"dev node ls, by the flag", []string{"dev", "node", "ls", "--http", port.Addr(), "--token", token}, nil, exitOK, "NODE"},
		{"dev node ls, wrong", []string{"dev", "node", "ls", "--http", port.Addr(), "--token", wrong}, nil, exitUsage, "or as --token"},
		{"top, by the flag", append(top, "--http", port.Addr(), "--token", token), nil, exitOK, "tables: 1"},
		{"top, by the environment", append(top, "--http", port.Addr()), map[string]string{"BRINE_HTTP_TOKEN": token}, exitOK, "tables: 1"},
		{"top, wrong", append(top, "--http", port.Addr(), "--token", wrong), nil, -1, "401"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(&env{ctx: t.Context(), stdout: &stdout, stderr: &stderr, getenv: func(name string) (string, bool) {
			value, ok := c.variable[name]
			return value, ok
		}}, c.args)
		got := stdout.String() + stderr.String()
		if code != c.code && c.code >= 0 || !strings.Contains(got, c.say) {
			t.Errorf("%s: exit %d, want %d and %q:\n%s", c.name, code, c.code, c.say, got)
		}
		if strings.Contains(got, "hunter2") {
			t.Errorf("%s: prints the token:\n%s", c.name, got)
		}
	}
	if shown != 4 { // top asks twice
		t.Errorf("the token was shown %d times", shown)
	}
}
