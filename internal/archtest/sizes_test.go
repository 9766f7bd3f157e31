package archtest

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The limits to which packages may grow; lower them when packages shrink.
const (
	mainLines    = 6_500 // of cmd/brine without tests
	mainFile     = 200   // lines of one of its files
	packageFiles = 35    // of any package but main and generated ones
)

// fewerFiles are packages that were once flat, and now have packages below them.
var fewerFiles = map[string]int{
	"hbase":  25,
	"ingest": 25,
}

// generated is what go generate writes at the head of a file.
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// TestSizes keeps main small, and packages to a size that a reader can keep in mind.
func TestSizes(t *testing.T) {
	files, lines := map[string]int{}, 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(path), "../../")
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || notOurs(name)):
			return fs.SkipDir
		case d.IsDir(), !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || generated.Match(text) {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(name))
		files[pkg]++
		if pkg == "cmd/brine" {
			n := bytes.Count(text, []byte("\n"))
			if lines += n; n > mainFile {
				t.Errorf("%s has %d lines, more than %d: a command is flags, one call and printing", name, n, mainFile)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if lines > mainLines {
		t.Errorf("cmd/brine has %d lines without tests, more than %d: what another program could use belongs in a package", lines, mainLines)
	}
	delete(files, "cmd/brine")
	for pkg, n := range files {
		most := packageFiles
		if fewer, ok := fewerFiles[pkg]; ok {
			most = fewer
		}
		if n > most {
			t.Errorf("%s has %d files without tests, more than %d: give a part of it a package of its own", pkg, n, most)
		}
	}
	if len(files) < 50 || lines < 1000 {
		t.Fatalf("saw only %d packages and %d lines of main: the test looks at the wrong place", len(files), lines)
	}
}
