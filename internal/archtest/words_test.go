package archtest

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// words are what CONTRIBUTING.md asks to write in another way, and what to write instead.
var words = []struct{ pattern, instead string }{
	{`(?i)\bmend(s|ed|ing)?\b`, "fix"},
	{`(?i)\banew\b`, "again"},
	{`(?i)\b(sick|ill) region`, "failing region"},
	{`\b(is|are|was|were) told (at once|whether|with the)\b`, "reported"},
	{`^\s*// \w+ (tells|gives) (whether|if) `, "reports whether"},
	{`^\s*// \w+ .*\band gives (how|what|an?|nil|one)\b`, "returns"},
	{`(?i)\b(come|came|comes) across\b`, "seen"},
	{`(?i)\bby why\b`, "by reason"},
}

// wordsMayStand are files that hold such a word for a reason.
var wordsMayStand = map[string]string{
	"CONTRIBUTING.md":                 "the glossary itself",
	"internal/archtest/words_test.go": "the patterns themselves",
	"CHANGELOG.md":                    "what was called so before",
	"docs/adr/0042-words-and-lines-are-held-by-tests.md": "why there is a glossary",
}

// TestWords holds Go files and pages to the glossary.
func TestWords(t *testing.T) {
	const root = "../.."
	patterns := make([]*regexp.Regexp, len(words))
	for i, w := range words {
		patterns[i] = regexp.MustCompile(w.pattern)
	}
	looked := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(path), root+"/")
		switch {
		case err != nil:
			return err
		case d.IsDir() && (len(d.Name()) > 2 && d.Name()[0] == '.' || name == "data" || name == "deploy/devcluster/lib" || name == "deploy/devcluster/run"):
			return fs.SkipDir
		case d.IsDir(), wordsMayStand[name] != "", !strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, ".md"):
			return nil
		}
		looked++
		return wordsOf(t, path, name, patterns)
	})
	if err != nil {
		t.Fatal(err)
	}
	if looked < 500 {
		t.Fatalf("looked at %d files only: the test looks at the wrong place", looked)
	}
}

func wordsOf(t *testing.T, path, name string, patterns []*regexp.Regexp) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 4<<20)
	for n := 1; lines.Scan(); n++ {
		for i, p := range patterns {
			if found := p.FindString(lines.Text()); found != "" {
				t.Errorf("%s:%d: %q: write %q", name, n, found, words[i].instead)
			}
		}
	}
	return lines.Err()
}

func TestWordsCanFail(t *testing.T) {
	for i, bad := range []string{"what is to mend", "made Anew", "a sick region", "the tie is told at once", "// ok tells whether it is",
		"// next reads a line and gives what follows", "servers that were come across", "counted by why"} {
		if !regexp.MustCompile(words[i].pattern).MatchString(bad) {
			t.Errorf("%q is not found in %q", words[i].pattern, bad)
		}
	}
	for _, good := range []string{"recommended", "amend", "topic_anew", "told apart"} {
		for _, w := range words {
			if regexp.MustCompile(w.pattern).MatchString(good) {
				t.Errorf("%q is found in %q", w.pattern, good)
			}
		}
	}
}
