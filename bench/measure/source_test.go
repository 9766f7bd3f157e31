package measure

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// repository makes a work tree with one commit, and makes it the test's working directory.
func repository(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	put(t, "docs/benchmarks.md", "<!-- x: written by make bench-x -->\n<!-- x end -->\n")
	put(t, "main.go", "package main\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false", "commit", "-qm", "first"}} {
		if _, err := git(args...); err != nil {
			t.Fatal(err)
		}
	}
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRecordsAreOfCommits checks that measurements are recorded under their commit, or not at all.
func TestRecordsAreOfCommits(t *testing.T) {
	repository(t)
	record := filepath.Join(results, "x.json")
	finish := func() error { return NewReport("x").Finish("measured\n") }
	written := func() bool {
		_, err := os.Stat(record)
		page, _ := os.ReadFile(page)
		if strings.Contains(string(page), "measured") != (err == nil) {
			t.Errorf("the page is %q, and of the record: %v", page, err)
		}
		return err == nil
	}
	for _, dirty := range []string{"main.go", "new/untracked.go"} {
		put(t, dirty, "package changed\n")
		if err := finish(); err == nil || !strings.Contains(err.Error(), dirty) || written() {
			t.Errorf("%s is changed: recorded %v, %v", dirty, written(), err)
		}
	}
	t.Setenv(TrialVariable, "1")
	if err := finish(); err != nil || written() {
		t.Errorf("a trial is recorded: %v, %v", written(), err)
	}
	put(t, "main.go", "package main\n")
	if err := os.RemoveAll("new"); err != nil {
		t.Fatal(err)
	}
	if err := finish(); err != nil || written() {
		t.Errorf("a trial of a clean tree is recorded: %v, %v", written(), err)
	}
	t.Setenv(TrialVariable, "")
	for range 2 { // the second time, a record and a page differ from the commit
		if err := finish(); err != nil || !written() {
			t.Errorf("a clean tree is not recorded: %v", err)
		}
		text, err := os.ReadFile(record)
		var r Report
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		if head, gitErr := git("rev-parse", "--short", "HEAD"); err != nil || gitErr != nil || r.Commit != head {
			t.Errorf("the record names %q, HEAD is %s (%v, %v)", r.Commit, head, err, gitErr)
		}
	}
	t.Chdir(t.TempDir())
	if err := CleanTree(); err == nil || !strings.Contains(err.Error(), "the commit is unknown: git status: fatal: not a git repository") {
		t.Errorf("where there is no repository: %v", err)
	}
}
