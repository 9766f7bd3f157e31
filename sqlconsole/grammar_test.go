package sqlconsole_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"brine/sqlconsole"
)

var update = flag.Bool("update", false, "write docs/sql.md")

// TestGrammarIsCurrent checks that the page shows the grammar that the parser follows.
func TestGrammarIsCurrent(t *testing.T) {
	const page, begin, end = "../docs/sql.md", "<!-- grammar: written by go generate in sqlconsole -->\n", "<!-- grammar end -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the grammar", page)
	}
	want := head + begin + sqlconsole.Grammar() + end + tail
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Errorf("%s has another grammar: go generate ./sqlconsole", page)
	}
}
