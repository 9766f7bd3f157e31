package main

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/service"
)

// A search address at which nobody listens, or something else answers, is named with its error, in plain words: in the log, in the progress
// and in health, which turns red.
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
			j := newJobOf(t, embeddedStack(t), ordersExample)
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
			_, health := p.get("/healthz")
			p.stop()
			shown := health + progress + p.log.String()
			if found := regexp.MustCompile(foreign.String() + `|connect: `).FindString(shown); found != "" {
				t.Errorf("%q in\n%s", found, shown)
			}
			if line := regexp.MustCompile(`level=WARN msg="a store keeps failing" pipeline=orders tries=3 error=.*` + cause); !line.MatchString(p.log.String()) {
				t.Errorf("the log says nothing of it:\n%s", p.log.String())
			}
		})
	}
}
