package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Target is a number and the bound that it has to keep.
type Target struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Bound float64 `json:"target"`
	Least bool    `json:"at_least"` // else at most
}

// OK tells whether the bound is kept.
func (t Target) OK() bool {
	if t.Least {
		return t.Value >= t.Bound
	}
	return t.Value <= t.Bound
}

func (t Target) String() string {
	sign, word := "≤", "short"
	if t.Least {
		sign = "≥"
	}
	if t.OK() {
		word = "ok"
	}
	return fmt.Sprintf("%s %.2f %s%g %s", t.Name, t.Value, sign, t.Bound, word)
}

// Report is one run: what `make bench-NAME` leaves in bench/results/NAME.json, in docs/benchmarks.md and on the terminal.
type Report struct {
	Name    string   `json:"name"`
	Date    string   `json:"date"`
	Commit  string   `json:"commit"`
	Machine string   `json:"machine"`
	Loads   []Load   `json:"loads"`
	Detail  any      `json:"detail,omitempty"` // what else was measured
	Targets []Target `json:"targets"`
}

// NewReport begins a report of this machine and this source tree.
func NewReport(name string) *Report {
	commit, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	return &Report{
		Name: name, Date: time.Now().UTC().Format("2006-01-02"), Commit: strings.TrimSpace(string(commit)),
		Machine: fmt.Sprintf("%s, %s/%s, %d cores", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
	}
}

// Heading says when, where and of what the numbers are.
func (r *Report) Heading() string {
	return fmt.Sprintf("%s, %s, commit %s; `make bench-%s`.", r.Machine, r.Date, r.Commit, r.Name)
}

// Finish keeps the report, puts text between the report's marks in the page, and prints a line per target. It gives an error
// when a target is short.
func (r *Report) Finish(text string) error {
	return Conclude(r.Name, "bench-"+r.Name, page, r, text, r.Targets)
}

// Conclude keeps a run of make TARGET and its section of a page, and judges. Each is done whatever comes of the others.
func Conclude(name, target, page string, run any, text string, targets []Target) error {
	return errors.Join(keep(name, run), WriteSection(page, name, target, text), Judge(targets))
}

const (
	results = "bench/results"
	page    = "docs/benchmarks.md"
)

// keep writes a run's raw numbers to bench/results/NAME.json.
func keep(name string, run any) error {
	data, err := json.MarshalIndent(run, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(results, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(results, name+".json"), append(data, '\n'), 0o644)
}

// WriteSection puts text between the marks of a name in a page, which say that make TARGET has written it.
func WriteSection(page, name, target, text string) error {
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	begin := fmt.Sprintf("<!-- %s: written by make %s -->\n", name, target)
	end := fmt.Sprintf("<!-- %s end -->\n", name)
	head, rest, ok1 := strings.Cut(string(old), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		return fmt.Errorf("%s lacks the marks %q and %q", page, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return os.WriteFile(page, []byte(head+begin+text+end+tail), 0o644)
}

// Judge prints a line per target, and gives an error when one is short.
func Judge(targets []Target) error {
	for _, t := range targets {
		fmt.Println(t)
	}
	if len(Short(targets)) > 0 {
		return errors.New("a target is short")
	}
	return nil
}

// Short gives the names of the targets whose bounds are not kept.
func Short(targets []Target) (names []string) {
	for _, t := range targets {
		if !t.OK() {
			names = append(names, t.Name)
		}
	}
	return names
}

// TargetTable is the targets as a table of the page.
func TargetTable(targets []Target) string {
	var s strings.Builder
	s.WriteString("| target | measured | wanted | |\n|---|---|---|---|\n")
	for _, t := range targets {
		f := strings.Fields(t.String())
		fmt.Fprintf(&s, "| %s |\n", strings.Join(f, " | "))
	}
	return s.String()
}
