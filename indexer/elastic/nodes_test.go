package elastic_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/event"
	"brine/indexer"
	"brine/indexer/elastic"
	"brine/indexer/indexertest"
)

// connect starts a writer with the options.
func connect(t *testing.T, opts elastic.Options) *indexer.Writer {
	t.Helper()
	e, err := elastic.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	declared := indexertest.Options(t, "orders", indexer.Whole)
	declared.Pause, declared.MaxPause, declared.RetryFor = time.Millisecond, 5*time.Millisecond, time.Hour
	if opts.TLS != nil || opts.APIKey != "" {
		declared.RetryFor = time.Millisecond
	}
	w, err := indexer.New(e, declared)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(); e.Close() })
	return w
}

func submit(t *testing.T, w *indexer.Writer, events ...event.Event) []event.Failure {
	t.Helper()
	failures, err := event.Settle(t.Context(), w.Submit(t.Context(), &event.Batch{Events: events}))
	if err != nil {
		t.Fatal(err)
	}
	return failures
}

// TestOneNodeOfSeveralIsDown checks that calls continue with the others, whichever node is down, and that nothing is lost.
func TestOneNodeOfSeveralIsDown(t *testing.T) {
	s := newServer(t)
	var calls [3]atomic.Int64
	var down atomic.Int64
	var addresses []string
	for i := range calls {
		node := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if down.Load() == int64(i) {
				panic(http.ErrAbortHandler)
			}
			calls[i].Add(1)
			s.ServeHTTP(rw, r)
		}))
		t.Cleanup(node.Close)
		addresses = append(addresses, node.URL)
	}
	w := connect(t, elastic.Options{Addresses: addresses, Transport: &http.Transport{}})
	for node := range calls {
		down.Store(int64(node))
		for range 5 {
			if failures := submit(t, w, orders()...); len(failures) > 0 {
				t.Fatalf("node %d is down: %v", node, failures[0].Err)
			}
		}
	}
	checkOrders(t, s, indexer.Whole)
	asked := 0
	for i := range calls {
		asked += min(1, int(calls[i].Load()))
	}
	if asked < 2 { // a node that was down may be avoided for longer than this test runs
		t.Errorf("%d of three nodes were asked", asked)
	}
}

// TestCredentials checks that a key or a user is sent with every call, and that a server that refuses it halts the partition, with the
// reason.
func TestCredentials(t *testing.T) {
	s := newServer(t)
	key := base64.StdEncoding.EncodeToString([]byte("id:key"))
	guarded := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if !strings.EqualFold(r.Header.Get("Authorization"), "ApiKey "+key) && (user != "brine" || password != "secret") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(guarded.Close)
	for _, c := range []struct {
		name string
		opts elastic.Options
		ok   bool
	}{
		{"a key", elastic.Options{APIKey: key}, true},
		{"another key", elastic.Options{APIKey: "x"}, false},
		{"a user", elastic.Options{Username: "brine", Password: "secret"}, true},
		{"a wrong password", elastic.Options{Username: "brine", Password: "x"}, false},
		{"nobody", elastic.Options{}, false},
	} {
		c.opts.Addresses, c.opts.Transport = []string{guarded.URL}, &http.Transport{}
		failures := submit(t, connect(t, c.opts), indexertest.Event(1, "a", "x"))
		switch {
		case c.ok && len(failures) > 0:
			t.Errorf("%s: %v", c.name, failures[0].Err)
		case !c.ok && (len(failures) != 1 || failures[0].Verdict != event.Halt || failures[0].Reason != event.Denied):
			t.Errorf("%s: failures %v, want a halt: denied", c.name, failures)
		}
	}
}

// TestTLS checks that the server's certificate must be signed by the configured one. A wrong certificate may be temporary, so the events
// fail with retry and the reason.
func TestTLS(t *testing.T) {
	s := newServer(t)
	secure := httptest.NewUnstartedServer(s)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	known := x509.NewCertPool()
	known.AddCert(secure.Certificate())
	ca := func() *tls.Config { return &tls.Config{RootCAs: known} }
	w := connect(t, elastic.Options{Addresses: []string{secure.URL}, TLS: ca, Transport: &http.Transport{}})
	if failures := submit(t, w, indexertest.Event(1, "a", "x")); len(failures) > 0 {
		t.Fatal(failures[0].Err)
	}
	w = connect(t, elastic.Options{Addresses: []string{secure.URL}, APIKey: "x", Transport: &http.Transport{}})
	failures := submit(t, w, indexertest.Event(1, "a", "x"))
	if len(failures) != 1 || failures[0].Verdict != event.Retry || !strings.Contains(failures[0].Err.Error(), "certificate") {
		t.Errorf("an unknown certificate: %v", failures)
	}
}
