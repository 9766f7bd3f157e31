// Package display shows the progress and the findings of a verification, for people or as JSON lines.
package display

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"brine/internal/term"
	"brine/internal/when"
	"brine/internal/wording"
	"brine/mask"
	"brine/verify"
)

// Screen prints the progress and the findings of a verification, for people or as JSON lines.
type Screen struct {
	term.Screen
	json  bool
	quiet bool
	masks *mask.Rules

	mu    sync.Mutex
	what  string
	done  func() (at, of int64)
	began time.Time
}

// NewScreen returns a Screen that prints to out and masks records by masks. If quiet, it shows no progress.
func NewScreen(out io.Writer, asJSON, quiet bool, masks *mask.Rules) *Screen {
	return &Screen{Screen: term.NewScreen(out, asJSON), json: asJSON, quiet: quiet, masks: masks}
}

// Note prints a line outside of the report, in plain words.
func (s *Screen) Note(format string, args ...any) {
	text := wording.Plain(fmt.Sprintf(format, args...))
	if s.json {
		s.JSON(map[string]string{"note": text})
		return
	}
	s.Keep()
	term.Println(s.Out, "%s", text)
}

// Phase begins a part of the work.
func (s *Screen) Phase(i verify.PhaseInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.what, s.done, s.began = i.Name, i.Done, time.Now()
}

// reading is the progress of a part of the work.
type reading struct {
	What   string  `json:"working_on"`
	Done   int64   `json:"done"`
	Of     int64   `json:"of"`
	PerSec float64 `json:"per_second"`
	ETA    float64 `json:"eta_seconds"` // −1 while unknown
}

func (s *Screen) reading() (r reading, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done == nil {
		return r, false
	}
	r = reading{What: s.what}
	r.Done, r.Of = s.done()
	p := term.Progress{Done: r.Done, Left: r.Of - r.Done, Elapsed: time.Since(s.began)}
	r.PerSec, r.ETA = p.PerSecond(), p.ETA()
	return r, true
}

// Draw shows the progress of the current part of the work.
func (s *Screen) Draw() {
	if r, ok := s.reading(); ok && !s.quiet {
		s.Show(s.line(r))
	}
}

// Proved prints the time up to which everything received is verified.
func (s *Screen) Proved(through time.Time, sampled bool) {
	if s.json {
		s.JSON(map[string]any{"proved_through": through.UTC().Format(time.RFC3339Nano), "sampled": sampled})
		return
	}
	s.Keep()
	what := "all"
	if sampled {
		what = "a sample of all"
	}
	fmt.Fprintf(s.Out, "%s that arrived before %s is verified\n", what, when.Text(through.UnixMilli()))
}

// Repaired prints the number of records that a repair has written, with err if it failed after that.
func (s *Screen) Repaired(records int64, err error) {
	s.fixed("repaired_records", records, err, "rewritten: %s", term.Count(int(records), "record"))
}

// Deleted prints the number of rows and documents from which something extra was deleted, in the same form.
func (s *Screen) Deleted(rows int64, err error) {
	s.fixed("deleted_extra", rows, err, "deleted what was extra in %s rows and documents", term.Thousands(rows))
}

func (s *Screen) fixed(name string, n int64, err error, format string, args ...any) {
	if err != nil {
		format += ", before it failed"
	}
	if s.json {
		s.JSON(map[string]any{"note": fmt.Sprintf(format, args...), name: n, "complete": err == nil})
		return
	}
	s.Note(format, args...)
}

func (s *Screen) line(r reading) string {
	if s.json {
		return term.JSON(r)
	}
	share, rest := term.Progress{Done: r.Done, Left: r.Of - r.Done}.Percent(), term.Remaining(r.ETA)
	if r.What == "comparing" {
		return fmt.Sprintf("%-24s %5.1f %%  %s left", r.What, share, rest)
	}
	return fmt.Sprintf("%-24s %5.1f %%  %12s of %s offsets  %11s  %s left", r.What, share, term.Thousands(r.Done), term.Thousands(r.Of),
		term.Rate(r.PerSec), rest)
}

// Report prints what was verified and what was found.
func (s *Screen) Report(r *verify.Report, most int) {
	r.Hide(s.masks)
	if s.json {
		s.findings(r, len(r.Findings))
		s.JSON(r.Line())
		return
	}
	s.Keep()
	for _, src := range r.Sources {
		fmt.Fprintf(s.Out, "%s: %s of topic %s%s", src.Name, term.Count(int(src.Records), "record"), src.Topic,
			term.LeftOut(src.LeftOut, src.Filtered))
		if src.Ahead > 0 {
			fmt.Fprintf(s.Out, "; the last %s offsets are not committed yet, so their records may be written or not", term.Thousands(src.Ahead))
		}
		if src.Unknown > 0 {
			fmt.Fprintf(s.Out, "; the filter that wrote %s offsets is no longer known, so anything they wrote counts as correct",
				term.Thousands(src.Unknown))
		}
		fmt.Fprintln(s.Out)
	}
	for _, t := range r.Tables {
		s.table(&t)
	}
	if r.Rejected+r.DeadLettered > 0 {
		fmt.Fprintf(s.Out, "dead letters: %s that cannot be written; %s others that are missing because they are dead letters\n",
			term.Count(int(r.Rejected), "record"), term.Thousands(r.DeadLettered))
	}
	s.Again(r, most)
	fmt.Fprintf(s.Out, "took %v\n", r.Took.Round(10*time.Millisecond))
}

func (s *Screen) table(t *verify.TableReport) {
	what, rows := "table", "rows"
	if t.Documents {
		what, rows = "index", "documents"
	}
	fmt.Fprintf(s.Out, "%s %s: %s %s with %s cells expected, %s looked at", what, t.Name, term.Thousands(t.Rows), rows,
		term.Thousands(t.Cells), term.Thousands(t.Compared))
	for _, also := range []struct {
		n    int64
		what string
	}{{t.Repeats, "records beyond the first of a row"}, {t.Expired, "past their TTL"}, {t.Newer, "newer by now"},
		{t.Unjudged, "cells that a record of an unknown filter, or of another topic, may have written"}} {
		if also.n > 0 {
			fmt.Fprintf(s.Out, ", %s %s", term.Thousands(also.n), also.what)
		}
	}
	fmt.Fprintf(s.Out, "\n  digest %016x, expected %016x\n", t.Digest, t.Expected)
	if len(t.Others) > 0 {
		term.Println(s.Out, "  also written by %s, not verified: what no record accounts for is not judged", strings.Join(t.Others, ", "))
	}
	if t.Ties > 0 {
		fmt.Fprintf(s.Out, "  %s\n", t.Tied())
	}
}

// Again prints the findings only.
func (s *Screen) Again(r *verify.Report, most int) {
	r.Hide(s.masks)
	if s.json {
		s.Report(r, most)
		return
	}
	s.Keep()
	s.findings(r, most)
	problems := r.Problems()
	if problems == 0 {
		fmt.Fprintf(s.Out, "nothing is %s; dead letters: %s\n", verify.KindNames(), term.Thousands(r.Rejected+r.DeadLettered))
		return
	}
	for _, t := range r.Tables {
		for _, kind := range verify.Kinds {
			if n := t.Found[kind]; n > 0 {
				fmt.Fprintf(s.Out, "%s: %s %s\n", t.Name, term.Thousands(n), kind)
			}
		}
	}
	if r.Lost > 0 {
		fmt.Fprintf(s.Out, "%s lost: neither written nor dead letters\n", term.Thousands(r.Lost))
	}
	if shown := min(int64(most), int64(len(r.Findings))); shown < problems {
		fmt.Fprintf(s.Out, "%s were printed; --show %d prints more\n", term.Thousands(shown), min(problems, 100_000))
	}
}

func (s *Screen) findings(r *verify.Report, most int) {
	for i := range r.Findings[:min(most, len(r.Findings))] {
		f := &r.Findings[i]
		if s.json {
			s.JSON(f.Line())
			continue
		}
		term.Println(s.Out, "%v", f)
	}
}
