package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Target is a number and the bound that it must meet.
type Target struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Spread float64 `json:"spread,omitempty"` // how far the same binary is from itself; 0 for what does not vary
	Bound  float64 `json:"target"`
	Least  bool    `json:"at_least"` // else at most
}

// AtMost returns a target for a number that is better if smaller.
func AtMost(name string, e Estimate, bound float64) Target {
	return Target{Name: name, Value: e.Value, Spread: e.Spread, Bound: bound}
}

// AtLeast returns a target for a number that is better if larger.
func AtLeast(name string, e Estimate, bound float64) Target {
	return Target{Name: name, Value: e.Value, Spread: e.Spread, Bound: bound, Least: true}
}

// Verdict is the result of a target.
type Verdict string

const (
	OK        Verdict = "ok"
	Short     Verdict = "short"
	Undecided Verdict = "undecided" // the value is closer to the bound than the same binary to itself: more rounds may decide it
)

// Verdict returns the target's verdict. A value at the bound meets it if the value does not vary.
func (t Target) Verdict() Verdict {
	room := t.Bound - t.Value
	if t.Least {
		room = -room
	}
	switch {
	case math.Abs(room) < t.Spread:
		return Undecided
	case room >= 0:
		return OK
	}
	return Short
}

func (t Target) String() string {
	sign := "≤"
	if t.Least {
		sign = "≥"
	}
	value := fmt.Sprintf("%.2f", t.Value)
	if t.Spread > 0 {
		value += fmt.Sprintf("±%.2f", t.Spread)
	}
	return fmt.Sprintf("%s %s %s%g %s", t.Name, value, sign, t.Bound, t.Verdict())
}

// Report is one run: what `make bench-NAME` writes to bench/results/NAME.json, to docs/benchmarks.md and to the terminal.
type Report struct {
	Name    string   `json:"name"`
	Date    string   `json:"date"`
	Commit  string   `json:"commit"`
	Machine string   `json:"machine"`
	Loads   []Load   `json:"loads"`
	Detail  any      `json:"detail,omitempty"` // other measurements
	Targets []Target `json:"targets"`
}

// NewReport begins a report on this machine and this source tree.
func NewReport(name string) *Report {
	return &Report{
		Name: name, Date: time.Now().UTC().Format("2006-01-02"), Commit: commit(),
		Machine: fmt.Sprintf("%s, %s/%s, %d cores", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
	}
}

// Heading returns when, where and of what the numbers were measured.
func (r *Report) Heading() string {
	return fmt.Sprintf("%s, %s, commit %s; `make bench-%s`.", r.Machine, r.Date, r.Commit, r.Name)
}

// Finish records the report, puts text between the report's marks in the page, and prints a line per target. It returns an error if any
// target is short.
func (r *Report) Finish(text string) error {
	return Conclude(r.Name, "bench-"+r.Name, page, r, text, r.Targets)
}

// Keep records the report, and prints a line per target, for a run without a page. It returns an error if any target is short.
func (r *Report) Keep() error {
	return errors.Join(recorded("", func() error { return keep(r.Name, r) }), Judge(r.Targets))
}

// Conclude records a run of make TARGET and its section of a page, and judges. It does each of these even if another fails. If the tree
// differs from its commit, it records nothing and prints the section.
func Conclude(name, target, page string, run any, text string, targets []Target) error {
	record := func() error { return errors.Join(keep(name, run), writeSection(page, name, target, text)) }
	return errors.Join(recorded(text, record), Judge(targets))
}

// recorded records what text describes, unless this is a trial or the source tree differs from its commit: then it prints text.
func recorded(text string, record func() error) error {
	err := recordable()
	if err == nil && !trial() {
		return record()
	}
	fmt.Print(text)
	return err
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

// WriteSection puts text between the marks of a name in a page, which say that make TARGET wrote it.
func WriteSection(page, name, target, text string) error {
	return recorded(text, func() error { return writeSection(page, name, target, text) })
}

func writeSection(page, name, target, text string) error {
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

// Judge prints a line per target, and returns an error if any is short.
func Judge(targets []Target) error {
	for _, t := range targets {
		fmt.Println(t)
	}
	if len(Shorts(targets)) > 0 {
		return errors.New("a target is short")
	}
	return nil
}

// Shorts returns the names of the targets whose bounds are not met.
func Shorts(targets []Target) (names []string) {
	for _, t := range targets {
		if t.Verdict() == Short {
			names = append(names, t.Name)
		}
	}
	return names
}

// TargetTable returns the targets as a table for the page.
func TargetTable(targets []Target) string {
	var s strings.Builder
	s.WriteString("| target | measured | wanted | |\n|---|---|---|---|\n")
	for _, t := range targets {
		f := strings.Fields(t.String())
		fmt.Fprintf(&s, "| %s |\n", strings.Join(f, " | "))
	}
	return s.String()
}
