package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLessons checks that the tests in docs/lessons.md exist, in the packages that it names.
func TestLessons(t *testing.T) {
	const root = "../.."
	page, err := os.ReadFile(filepath.Join(root, "docs/lessons.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Fuzz|Benchmark)\\w+)`").FindAllStringSubmatch(string(page), -1)
	if len(named) < 30 {
		t.Fatalf("the page names only %d tests", len(named))
	}
	source := map[string]string{} // by package
	for _, n := range named {
		pkg, test := n[1], n[2]
		if _, known := source[pkg]; !known {
			source[pkg] = testsOf(t, filepath.Join(root, pkg))
		}
		if !strings.Contains(source[pkg], "func "+test+"(") {
			t.Errorf("docs/lessons.md names %s.%s, which does not exist", pkg, test)
		}
	}
}

// testsOf returns the text of a package's tests.
func testsOf(t *testing.T, folder string) string {
	var text strings.Builder
	files, err := fs.Glob(os.DirFS(folder), "*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no tests (%v)", folder, err)
	}
	for _, name := range files {
		b, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		text.Write(b)
	}
	return text.String()
}
