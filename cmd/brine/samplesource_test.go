package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAGzippedSampleIsReadAsItsLines forecasts the same from a file and from the gzipped file, and names one that is cut off.
func TestAGzippedSampleIsReadAsItsLines(t *testing.T) {
	lines := strings.Repeat(`{"waybill":"W-1","action":"A","at":1356998400000,"station":"X"}`+"\n"+`{"waybill":"W-2","action":"A","at":1356998400001,"station":"X"}`+"\n", 50)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(lines)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	plan := func(name string, content []byte) (string, string, int) {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		var out, said bytes.Buffer
		e := &env{ctx: t.Context(), stdout: &out, stderr: &said, getenv: func(string) (string, bool) { return "", false }}
		code := run(e, []string{"tables", "plan", "-c", "../../examples/scans.yaml", "--offline", "--sample", file})
		return out.String(), said.String(), code
	}
	plain, _, code := plan("sample.jsonl", []byte(lines))
	if code != exitOK || !strings.Contains(plain, "100 records, 2 rows") {
		t.Fatalf("exit %d: %s", code, plain)
	}
	if got, said, code := plan("sample.jsonl.gz", packed.Bytes()); code != exitOK || got != plain {
		t.Errorf("gzipped, exit %d: %s%s\nplain: %s", code, got, said, plain)
	}
	for name, content := range map[string][]byte{"cut.jsonl.gz": packed.Bytes()[:packed.Len()-9], "plain.jsonl.gz": []byte(lines)} {
		if _, said, code := plan(name, content); code != exitUsage || !strings.Contains(said, name) {
			t.Errorf("%s: exit %d: %s", name, code, said)
		}
	}
}
