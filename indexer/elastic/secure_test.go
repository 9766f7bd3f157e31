package elastic_test

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"brine/indexer"
	"brine/indexer/elastic"
	"brine/indexer/indexertest"
	"brine/internal/certs/certstest"
	"brine/internal/testenv"
	"brine/search"
)

// secureCases combine clients with credentials. An empty says means that the client works. They are the rows of the matrix in
// docs/security.md.
var secureCases = []struct {
	name string
	with func(t *testing.T, o *elastic.Options)
	says string
}{
	{"user and password", func(*testing.T, *elastic.Options) {}, ""},
	{"another password", func(_ *testing.T, o *elastic.Options) { o.Password = "hunter2" }, "status 401: unable to authenticate user"},
	{"no credentials", func(_ *testing.T, o *elastic.Options) { o.Username, o.Password = "", "" }, "status 401: missing authentication credentials"},
	{"an API key that it does not know", func(_ *testing.T, o *elastic.Options) { o.Username, o.Password, o.APIKey = "", "", "b3RoZXI6a2V5" },
		"status 401: unable to authenticate with provided credentials"},
	{"plain text", func(_ *testing.T, o *elastic.Options) {
		o.Addresses = []string{strings.Replace(o.Addresses[0], "https", "http", 1)}
	}, "EOF"},
	{"another authority in `ca`", func(t *testing.T, o *elastic.Options) { o.CACert = certificates(t, certstest.New(t, "other").CA) },
		"certificate signed by unknown authority"},
}

func certificates(t *testing.T, file string) []byte {
	t.Helper()
	pem, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return pem
}

// secured returns the options that the real server accepts. It has no API keys, because the modules for its index of them are not among the
// available jars.
func secured(t *testing.T) elastic.Options {
	t.Helper()
	s := testenv.ElasticsearchSecure(t)
	return elastic.Options{Addresses: []string{s.URL}, Replicas: elastic.NoReplicas, Username: s.User, Password: s.Password, CACert: certificates(t, s.CA)}
}

func TestSecureElasticsearch(t *testing.T) {
	t.Parallel()
	for _, c := range secureCases {
		t.Run(c.name, func(t *testing.T) {
			o := secured(t)
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
			if err == nil || !strings.Contains(err.Error(), c.says) {
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
	e, err := elastic.Open(secured(t))
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
