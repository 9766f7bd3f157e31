package main

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/config"
	"brine/examples"
	"brine/indexer"
	"brine/service"
)

// A reindex warns of an index that fails as run does.
func TestOutagesOfAReindex(t *testing.T) {
	cfg, problems := config.Parse("dev.yaml", examples.Dev, func(name string) (string, bool) { return "http://127.0.0.1:1", name == "BRINE_SEARCH_CONNECT" })
	if cfg == nil {
		t.Fatal(problems)
	}
	var log bytes.Buffer
	at := slices.IndexFunc(cfg.Pipelines, func(p *config.Pipeline) bool { return len(p.Documents) > 0 })
	p := cfg.Pipelines[at]
	s, err := openService(t.Context(), cfg, service.ToRead, slog.New(slog.NewTextHandler(&log, nil)), service.HalfName(p.Name, service.Documents))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	hooks := (&reindexCmd{Index: p.Documents[0].Index}).source(s, p).Documents.Hooks
	for range 3 {
		hooks.Retry(indexer.RetryInfo{Err: errors.New("10.0.0.1:9200: connection refused")})
	}
	hooks.Items(indexer.ItemsInfo{Index: "orders", Outcome: indexer.Again, Events: 5})
	if n := strings.Count(log.String(), "10.0.0.1:9200: connection refused"); n != 1 {
		t.Errorf("%d warnings: %s", n, &log)
	}
}

// A search address at which nobody listens, or something else answers, is named with what it says: in the log, in the progress and in health, which
// turns red.
func TestAWrongSearchAddressIsNamed(t *testing.T) {
	t.Parallel()
	socket, nobody, err := bound()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(socket) })
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "maintenance", http.StatusBadGateway) }))
	t.Cleanup(other.Close)
	for name, tt := range map[string]struct{ addr, says string }{
		"refused":        {nobody, "connection refused"},
		"something else": {strings.TrimPrefix(other.URL, "http://"), "status 502: maintenance"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJobOf(t, mixedStack(t), ordersExample)
			j.publish(slices.Values(orderChanges()[:100]))
			p := j.begin("BRINE_SEARCH_CONNECT=http://"+tt.addr, "BRINE_SEARCH_PAUSE=5ms", "BRINE_SEARCH_MAX_PAUSE=50ms", "BRINE_SEARCH_RETRY_FOR=1s", "BRINE_HTTP_STALL=300ms")
			cause := regexp.QuoteMeta(tt.addr) + ".*" + regexp.QuoteMeta(tt.says)
			p.health("/healthz", http.StatusServiceUnavailable, `(?s)orders.documents: partition \d is \w+ at offset 0, .*`+cause)
			p.until("orders.rows", 100)
			var progress string
			like := regexp.MustCompile(`(?s)"pipeline": "orders.documents".*"cause": "[^"]*` + cause)
			for start := time.Now(); !like.MatchString(progress); _, progress = p.get(service.PipelinesPath) {
				if time.Since(start) > standstill {
					t.Fatalf("the progress is %s", progress)
				}
				wait(t, 20*time.Millisecond)
			}
			p.stop()
			if line := regexp.MustCompile(`level=WARN msg="a store fails again and again" pipeline=orders tries=3 error=.*` + cause); !line.MatchString(p.log.String()) {
				t.Errorf("the log says nothing of it:\n%s", p.log.String())
			}
		})
	}
}
