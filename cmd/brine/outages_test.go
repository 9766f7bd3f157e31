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
	"testing/synctest"
	"time"

	"brine/config"
	"brine/examples"
	"brine/hbase"
	"brine/indexer"
)

// What fails again and again is warned of from the third time on, once a minute, and is the cause until it passes or is long ago.
func TestOutagesAreWarnedOfOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		o := newOutages(slog.New(slog.NewTextHandler(&log, nil)))
		client := o.hbase(hbase.Hooks{})
		said := func() (n int) {
			defer log.Reset()
			return strings.Count(log.String(), "10.0.0.1:16020: read: EOF")
		}
		refused := errors.New("10.0.0.1:16020: read: EOF")
		fail := func(region string, failures int) {
			client.Retry(hbase.RetryInfo{Table: "t", Region: region, Failures: failures, Err: refused})
		}
		fail("a", 1)
		fail("a", 2)
		if said() != 0 || o.cause("t") != nil {
			t.Error("two failures are warned of")
		}
		for i := range 120 { // a try a second, of two regions
			fail("a", 3+i)
			fail("b", 3+i)
			time.Sleep(time.Second)
		}
		if n := said(); n != 2 {
			t.Errorf("%d warnings in two minutes", n)
		}
		if !errors.Is(o.cause("other", "t"), refused) || o.cause("other") != nil {
			t.Errorf("the causes are %v and %v", o.cause("t"), o.cause("other"))
		}
		applied := func(region string) {
			client.Applied(&hbase.AppliedInfo{Table: "t", Region: &hbase.Region{Encoded: region}})
		}
		applied("a")
		if o.cause("t") == nil {
			t.Error("another region fails still")
		}
		applied("b")
		if o.cause("t") != nil {
			t.Error("nothing fails any longer")
		}
		fail("c", 9)
		time.Sleep(2 * outageLast)
		if o.cause("t") != nil {
			t.Error("what was given up long ago is told still")
		}
	})
}

// The search engine's failures are counted here: an attempt that writes something ends them.
func TestOutagesOfTheIndex(t *testing.T) {
	o := newOutages(slog.New(slog.DiscardHandler))
	hooks := o.index("orders", indexer.Hooks{Retry: func(indexer.RetryInfo) {}, Items: func(string, indexer.Outcome, int) {}})
	for range 3 {
		if o.cause("orders") != nil {
			t.Error("too early")
		}
		hooks.Retry(indexer.RetryInfo{Err: errors.New("down")})
	}
	hooks.Items("orders", indexer.Again, 5)
	if o.cause("orders") == nil {
		t.Error("no cause")
	}
	hooks.Items("orders", indexer.Written, 1)
	if o.cause("orders") != nil {
		t.Error("it is well again")
	}
}

// A reindex warns of an index that fails as run does.
func TestOutagesOfAReindex(t *testing.T) {
	cfg, problems := config.Parse("dev.yaml", examples.Dev, func(string) (string, bool) { return "", false })
	if cfg == nil {
		t.Fatal(problems)
	}
	var log bytes.Buffer
	s := prepareService(cfg, slog.New(slog.NewTextHandler(&log, nil)))
	at := slices.IndexFunc(cfg.Pipelines, func(p *config.Pipeline) bool { return len(p.Documents) > 0 })
	p := cfg.Pipelines[at]
	hooks := (&reindexCmd{Index: p.Documents[0].Index}).source(s, p).Documents.Hooks
	for range warnFrom {
		hooks.Retry(indexer.RetryInfo{Err: errors.New("10.0.0.1:9200: connection refused")})
	}
	hooks.Items("orders", indexer.Again, 5)
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
			for start := time.Now(); !like.MatchString(progress); _, progress = p.get(pipelinesPath) {
				if time.Since(start) > time.Minute {
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
