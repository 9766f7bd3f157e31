package testenv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Section fails the test unless a section of a page, whose path is relative to the module's root, equals want. The section is the text
// between the comments "NAME: begin" and "NAME: end". If update is set, Section writes it instead.
func Section(t testing.TB, page, name, want string, update bool) {
	t.Helper()
	file := filepath.Join(root(t), page)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+": begin -->\n", "<!-- "+name+": end -->"
	before, rest, found := strings.Cut(string(text), begin)
	got, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no %q … %q", page, begin, end)
	}
	if got == want {
		return
	}
	if !update {
		t.Fatalf("%s is not what the tests say about %s: run them with -update; they say\n%s", page, name, want)
	}
	if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Says reports whether a text contains what a row of a page says, with anything where that has "…".
func Says(text, row string) bool {
	for part := range strings.SplitSeq(row, " … ") {
		_, rest, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = rest
	}
	return true
}
