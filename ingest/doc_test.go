package ingest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every test named in the package comment exists.
func TestEveryNamedTestExists(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, pattern := range []string{"*_test.go", "internal/broker/*_test.go", "deadletter/*_test.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	var tests strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		tests.Write(b)
	}
	names := regexp.MustCompile(`Test[A-Z]\w+`).FindAllString(string(doc), -1)
	if len(names) < 30 {
		t.Fatalf("%d tests are named, expected more", len(names))
	}
	for _, name := range names {
		if !strings.Contains(tests.String(), "func "+name+"(t *testing.T)") {
			t.Errorf("doc.go names %s, which does not exist", name)
		}
	}
}
