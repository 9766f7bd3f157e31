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

// words are the words that CONTRIBUTING.md bans, and what to write instead. Matches of fine are allowed.
var words = []struct{ pattern, instead, fine string }{
	{`(?i)\bmend(s|ed|ing)?\b`, "fix", ""},
	{`\b[Aa]new\b|[a-z]Anew`, "again", ""},
	{`(?i)sick|\bill\b`, "failing", `\bill-`},
	{`\b([Tt]old|[Tt]ells)\b|[a-z](Told|Tells)`, "reported, reports", `\b(told|tells)( \S+){0,6} apart\b|\btold (not )?to\b`},
	{`(?i)\btell(ing)? of\b`, "report", ""},
	{`^\s*// \w+ gives (whether|if) `, "reports whether", ""},
	{`^\s*// .*\b(and|[Ii]t) gives (how|what|where|an?|nil|one)\b`, "returns", ""},
	{`(?i)\b(come|came|comes) across\b`, "seen", ""},
	{`(?i)\bby why\b`, "by reason", ""},
}

// wordsIn returns the indexes of the words in a line, with the text that matched.
func wordsIn(line string) (found map[int]string) {
	found = map[int]string{}
	for i, p := range wordPatterns {
		if p.pattern.MatchString(line) {
			if match := p.pattern.FindString(p.fine.ReplaceAllString(line, "")); match != "" {
				found[i] = match
			}
		}
	}
	return found
}

type wordPattern struct{ pattern, fine *regexp.Regexp }

var wordPatterns = func() (all []wordPattern) {
	for _, w := range words {
		fine := w.fine
		if fine == "" {
			fine = `^$`
		}
		all = append(all, wordPattern{regexp.MustCompile(w.pattern), regexp.MustCompile(fine)})
	}
	return all
}()

// wordsMayStand are files that may contain such a word, with the reason.
var wordsMayStand = map[string]string{
	"CONTRIBUTING.md":                 "the glossary itself",
	"internal/archtest/words_test.go": "the patterns themselves",
	"CHANGELOG.md":                    "what was called so before",
	"docs/adr/0042-words-and-lines-are-held-by-tests.md": "why there is a glossary",
}

// TestWords checks Go files and pages against the glossary.
func TestWords(t *testing.T) {
	const root = "../.."
	looked := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(path), root+"/")
		switch {
		case err != nil:
			return err
		case d.IsDir() && notOurs(name):
			return fs.SkipDir
		case d.IsDir(), wordsMayStand[name] != "", !strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, ".md"):
			return nil
		}
		looked++
		return wordsOf(t, path, name)
	})
	if err != nil {
		t.Fatal(err)
	}
	if looked < 500 {
		t.Fatalf("looked at %d files only: the test looks at the wrong place", looked)
	}
}

func wordsOf(t *testing.T, path, name string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 4<<20)
	for n := 1; lines.Scan(); n++ {
		for i, found := range wordsIn(lines.Text()) {
			t.Errorf("%s:%d: %q: write %q", name, n, found, words[i].instead)
		}
	}
	return lines.Err()
}

func TestWordsCanFail(t *testing.T) {
	for i, bad := range [][]string{
		{"what is to mend"}, {"made Anew", "func TestTopicMadeAnew"}, {"a sick region", "TestSickRegion", "a region that is ill"},
		{"the tie is told at once", "verify tells how much", "TestClientIsToldToHurry", "told = append(told, keys)"},
		{"the cluster can tell of it"}, {"// ok gives whether it is"}, {"// next reads a line and gives what follows", "// left. It gives nil for none"},
		{"servers that were come across"}, {"counted by why"},
	} {
		for _, line := range bad {
			if wordsIn(line)[i] == "" {
				t.Errorf("%q is not found in %q", words[i].pattern, line)
			}
		}
	}
	for _, good := range []string{"recommended", "amend", "topic_anew", "told apart", "what tells two events of one key apart", "until it is told to stop",
		"ill-typed", "what is foretold", "nobody can tell", "gives up"} {
		for i := range wordsIn(good) {
			t.Errorf("%q is found in %q", words[i].pattern, good)
		}
	}
}
