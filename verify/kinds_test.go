package verify

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/verify.md")

const (
	verifyPage = "../docs/verify.md"
	tableMark  = "<!-- Generated from verify/kinds.go by go generate ./verify. -->\n"
)

var fixes = map[Fix]string{ByRepair: "`--repair`", ByDeleteExtra: "`--full --delete-extra`"}

// kindsTable returns the table of docs/verify.md.
func kindsTable() string {
	var b strings.Builder
	b.WriteString("| kind | what it means | what fixes it |\n|---|---|---|\n")
	for _, k := range kinds {
		name, fix := string(k.kind), fixes[k.fix]
		if k.full {
			name += " (`--full`)"
		}
		if fix != "" && k.note != "" {
			fix += ": "
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, k.meaning, fix+k.note)
	}
	return b.String()
}

// TestPagesListTheKinds compares the table of docs/verify.md with that of the kinds, and other lists of kinds in pages.
func TestPagesListTheKinds(t *testing.T) {
	text, err := os.ReadFile(verifyPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, marked := strings.Cut(string(text), tableMark)
	_, after, ended := strings.Cut(rest, "\n\n")
	if !marked || !ended {
		t.Fatalf("%s has no %q with a table below", verifyPage, tableMark)
	}
	want := before + tableMark + kindsTable() + "\n" + after
	if *update {
		if err := os.WriteFile(verifyPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Errorf("%s has another table than go generate ./verify writes:\n%s", verifyPage, kindsTable())
	}
	var inWindow []string
	for _, k := range kinds {
		if !k.full {
			inWindow = append(inWindow, string(k.kind))
		}
	}
	for page, list := range map[string]string{verifyPage: "| " + strings.Join(inWindow, ", ") + " |", "../docs/reliability.md": KindNames()} {
		if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), list) {
			t.Errorf("%s does not say %q (%v)", page, list, err)
		}
	}
}

// TestEveryKindHasAFix checks that each kind is fixed by a command, or has a note on what to do.
func TestEveryKindHasAFix(t *testing.T) {
	for _, k := range kinds {
		if k.meaning == "" || k.fix == NoFix && k.note == "" {
			t.Errorf("%s: its meaning is %q, and nothing says what fixes it", k.kind, k.meaning)
		}
	}
	r := Report{Lost: 1, Tables: []TableReport{{Found: map[Kind]int64{Missing: 2, Stale: 4, Different: 8, Newer: 16, Extra: 32, Collided: 64}}}}
	for fix, want := range map[Fix]int64{ByRepair: 1 + 2 + 4 + 8, ByDeleteExtra: 32, NoFix: 16 + 64} {
		if n := r.Fixable(fix); n != want {
			t.Errorf("fix %d: %d findings, expected %d", fix, n, want)
		}
	}
}
