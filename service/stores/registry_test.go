package stores

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/config"
	"brine/internal/fault"
)

const withRegistry = `
kafka: { brokers: [127.0.0.1:1] }
hbase: { connect: "rpc://127.0.0.1:1" }
registry: { url: "URL", cache: "DIR" }
tables:
  t: { row: event, key: "id", families: { e: {} } }
pipelines:
  p: { topic: t, fields: { id: text, at: time_ms, v: text }, version: at, rows: [ { table: t, set: { "e:v": v } } ] }
`

// TestRegistry checks what check --connect reports of a schema registry for each of its answers.
func TestRegistry(t *testing.T) {
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/schemas/types" {
			t.Errorf("it was asked for %s", r.URL.Path)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`["AVRO"]`))
	}))
	defer server.Close()
	dir := t.TempDir()
	source := strings.NewReplacer("URL", server.URL, "DIR", dir).Replace(withRegistry)
	open := func(source string) (*Registry, error) {
		cfg, problems := config.Parse("brine.yaml", []byte(source), func(string) (string, bool) { return "", false })
		if problems.Err() != nil {
			t.Fatal(problems)
		}
		return OpenRegistry(cfg)
	}
	r, err := open(source)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Check(t.Context()); err != nil {
		t.Error(err)
	}
	for code, fix := range map[int]string{http.StatusUnauthorized: "correct registry.user and registry.password", http.StatusNotFound: "write registry.url up to where /schemas begins"} {
		status = code
		err := r.Check(t.Context())
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.Failed || !strings.Contains(err.Error(), fix) {
			t.Errorf("%d: %v", code, err)
		}
	}
	server.Close()
	if f, ok := errors.AsType[*fault.Error](r.Check(t.Context())); !ok || f.Kind != fault.Unreachable {
		t.Errorf("nobody there: %v", f)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(strings.Replace(source, dir, file, 1)); err == nil || !strings.Contains(err.Error(), "registry.cache: ") {
		t.Errorf("a file in the folder's place: %v", err)
	}
	before, after, _ := strings.Cut(source, "registry:")
	_, after, _ = strings.Cut(after, "\n")
	if none, err := open(before + after); none != nil || err != nil {
		t.Errorf("a configuration without a registry: %v, %v", none, err)
	}
}
