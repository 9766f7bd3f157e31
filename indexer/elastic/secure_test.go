package elastic_test

import (
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"brine/indexer"
	"brine/indexer/elastic"
	"brine/indexer/indexertest"
	"brine/internal/certs"
	"brine/internal/certs/certstest"
	"brine/internal/testenv"
	"brine/search"
)

// secureCases combine clients and their credentials with servers. An empty says means that they work together; an error contains what it
// says, with anything where it has "…". They are the rows of the matrix in docs/security.md.
var secureCases = []struct {
	name   string
	with   func(t *testing.T, o *elastic.Options)
	server *certstest.Leaf // which the server presents, signed by its authority; nil: its own
	says   string
}{
	{"user and password", asItIs, nil, ""},
	{"another password", func(_ *testing.T, o *elastic.Options) { o.Password = "hunter2" }, nil, "status 401: unable to authenticate user"},
	{"no credentials", func(_ *testing.T, o *elastic.Options) { o.Username, o.Password = "", "" }, nil, "status 401: missing authentication credentials"},
	{"an API key that it does not know", func(_ *testing.T, o *elastic.Options) { o.Username, o.Password, o.APIKey = "", "", "b3RoZXI6a2V5" }, nil,
		"status 401: unable to authenticate with provided credentials"},
	{"plain text", func(_ *testing.T, o *elastic.Options) {
		o.Addresses = []string{strings.Replace(o.Addresses[0], "https", "http", 1)}
	}, nil, "EOF"},
	{"another authority in `ca`", func(t *testing.T, o *elastic.Options) { o.TLS = certificates(t, certstest.New(t, "other").CA) }, nil,
		"certificate signed by unknown authority"},
	{"the server's certificate has expired", asItIs, &certstest.Leaf{From: -2 * time.Hour, Till: -time.Hour},
		"certificate has expired or is not yet valid: current time … is after"},
	{"the server's is not yet valid", asItIs, &certstest.Leaf{From: time.Hour, Till: 2 * time.Hour},
		"certificate has expired or is not yet valid: current time … is before"},
	{"the server's is for another name", asItIs, &certstest.Leaf{Hosts: []string{"search.example", "10.1.2.3"}},
		"certificate is valid for 10.1.2.3, not 127.0.0.1"},
	{"the server's is signed by itself", asItIs, &certstest.Leaf{Self: true}, "certificate signed by unknown authority"},
	{"the server's was replaced while it ran", asItIs, &certstest.Leaf{}, ""},
}

func asItIs(*testing.T, *elastic.Options) {}

func certificates(t *testing.T, file string) func() *tls.Config {
	t.Helper()
	store, err := certs.Open(certs.Files{CA: file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return func() *tls.Config { return store.Dialling("") }
}

// accepted returns the options that the real server accepts. It has no API keys, because the modules for its index of them are not among the
// available jars.
func accepted(t *testing.T, s testenv.SecureSearch) elastic.Options {
	t.Helper()
	return elastic.Options{Addresses: []string{s.URL}, Replicas: elastic.NoReplicas, Username: s.User, Password: s.Password, TLS: certificates(t, s.CA)}
}

// It is not parallel to the other tests, which have to wait while the server presents other certificates.
func TestSecureElasticsearch(t *testing.T) {
	for _, c := range secureCases {
		t.Run(c.name, func(t *testing.T) {
			var s testenv.SecureSearch
			if c.server == nil {
				s = testenv.ElasticsearchSecure(t)
			} else {
				s = testenv.ElasticsearchSecureAlone(t)
				cert, key := certstest.Load(t, s.CA, s.CAKey).Issue(t, *c.server)
				s.Present(t, cert, key)
			}
			o := accepted(t, s)
			c.with(t, &o)
			e, err := elastic.Open(o)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			_, err = e.Mapping(t.Context(), testenv.Name(t))
			if c.says == "" {
				if !errors.Is(err, search.ErrNoIndex) {
					t.Error(err)
				}
				return
			}
			if err == nil || !testenv.Says(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
			if refused, ok := errors.AsType[*indexer.RequestError](err); ok && refused.Status != http.StatusUnauthorized {
				t.Errorf("%v: status %d", err, refused.Status)
			}
			for _, secret := range []string{o.Password, o.APIKey} {
				if secret != "" && strings.Contains(err.Error(), secret) {
					t.Errorf("%v shows a secret", err)
				}
			}
		})
	}
}

// Everything that an engine does also works over TLS with a password.
func TestConformanceOfSecureElasticsearch(t *testing.T) {
	t.Parallel()
	e, err := elastic.Open(accepted(t, testenv.ElasticsearchSecure(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	indexertest.RunRouting(t, func(*testing.T) indexer.Engine { return e })
}

var update = flag.Bool("update", false, "write the matrix of docs/security.md again")

// TestSecurityMatrix compares the page with the table of the test.
func TestSecurityMatrix(t *testing.T) {
	var b strings.Builder
	b.WriteString("| who comes with what | Elasticsearch 8.19.21 | brine says |\n|---|---|---|\n")
	for _, c := range secureCases {
		outcome := "works"
		if c.says != "" {
			outcome = "refused"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", c.name, outcome, c.says)
	}
	testenv.Section(t, "docs/security.md", "search", b.String(), *update)
}
