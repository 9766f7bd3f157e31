package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"brine/rowkey"
	"brine/verify"
)

// verifyScreen prints how a verification goes and what it found, for people or as JSON lines.
type verifyScreen struct {
	screen
	json  bool
	quiet bool

	mu    sync.Mutex
	what  string
	done  func() (at, of int64)
	began time.Time
}

func newVerifyScreen(out io.Writer, asJSON, quiet bool) *verifyScreen {
	return &verifyScreen{screen: newScreen(out, asJSON), json: asJSON, quiet: quiet}
}

// said prints a line that belongs to no report.
func (s *verifyScreen) said(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s.json {
		s.object(map[string]string{"note": text})
		return
	}
	s.drawn = 0
	printLine(s.out, "%s", text)
}

func (s *verifyScreen) phase(what string, done func() (at, of int64)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.what, s.done, s.began = what, done, time.Now()
}

// verifyReading is how far a part of the work is.
type verifyReading struct {
	What   string  `json:"working_on"`
	Done   int64   `json:"done"`
	Of     int64   `json:"of"`
	PerSec float64 `json:"per_second"`
	ETA    float64 `json:"eta_seconds"` // −1 while unknown
}

func (s *verifyScreen) reading() (r verifyReading, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done == nil {
		return r, false
	}
	r = verifyReading{What: s.what}
	r.Done, r.Of = s.done()
	elapsed := time.Since(s.began)
	r.PerSec = float64(r.Done) / max(elapsed.Seconds(), 1e-3)
	r.ETA = eta(elapsed, r.Done, r.Of-r.Done)
	return r, true
}

// follow shows progress until ctx ends.
func (s *verifyScreen) follow(ctx context.Context) {
	tick := time.NewTicker(s.every())
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if r, ok := s.reading(); ok && !s.quiet {
			s.show([]string{s.line(r)})
		}
	}
}

func (s *verifyScreen) line(r verifyReading) string {
	if s.json {
		return jsonText(r)
	}
	share, rest := percent(r.Done, r.Of), remaining(r.ETA)
	if r.What == "comparing" {
		return fmt.Sprintf("%-24s %5.1f %%  %s left", r.What, share, rest)
	}
	return fmt.Sprintf("%-24s %5.1f %%  %12s of %s offsets  %9s/s  %s left", r.What, share, thousands(r.Done), thousands(r.Of), thousands(int64(r.PerSec)), rest)
}

// report prints what was verified and what was found.
func (s *verifyScreen) report(r *verify.Report, most int) {
	if s.json {
		s.findings(r, len(r.Findings))
		s.object(newVerifyResult(r))
		return
	}
	s.drawn = 0
	for _, src := range r.Sources {
		fmt.Fprintf(s.out, "%s: %s records of topic %s", src.Name, thousands(src.Records), src.Topic)
		if src.Ahead > 0 {
			fmt.Fprintf(s.out, "; the last %s offsets are not committed yet, and may be there or not", thousands(src.Ahead))
		}
		fmt.Fprintln(s.out)
	}
	for _, t := range r.Tables {
		s.table(&t)
	}
	if r.Rejected+r.DeadLettered > 0 {
		fmt.Fprintf(s.out, "dead letters: %s records that cannot be written; %s others that are missing because they are dead letters\n", thousands(r.Rejected), thousands(r.DeadLettered))
	}
	s.again(r, most)
	fmt.Fprintf(s.out, "took %v\n", r.Took.Round(10*time.Millisecond))
}

func (s *verifyScreen) table(t *verify.TableReport) {
	what, rows := "table", "rows"
	if t.Documents {
		what, rows = "index", "documents"
	}
	fmt.Fprintf(s.out, "%s %s: %s %s with %s cells expected, %s looked at", what, t.Name, thousands(t.Rows), rows, thousands(t.Cells), thousands(t.Compared))
	for _, also := range []struct {
		n    int64
		what string
	}{{t.Repeats, "records beyond the first of a row"}, {t.Expired, "past their TTL"}, {t.Newer, "newer by now"}} {
		if also.n > 0 {
			fmt.Fprintf(s.out, ", %s %s", thousands(also.n), also.what)
		}
	}
	fmt.Fprintf(s.out, "\n  digest %016x, expected %016x\n", t.Digest, t.Expected)
	if t.Ties > 0 {
		fmt.Fprintf(s.out, "  %s\n", tiesText(t))
	}
}

// tiesText says how much of a table depends on the order in which changes were applied, with an example.
func tiesText(t *verify.TableReport) string {
	what, key, have := "row", fmt.Sprint(rowkey.Binary(t.Tie.Key)), "have"
	if t.Documents {
		what, key = "document", strconv.Quote(string(t.Tie.Key))
	}
	if t.Ties == 1 {
		have = "has"
	}
	at := func(r verify.Record) string { return fmt.Sprintf("%d:%d", r.Partition, r.Offset) }
	return fmt.Sprintf("%s %s changes that tie; which wins depends on the order they are applied in; version: seq(at, n) decides; such as %s %s: records %s and %s of %s",
		count(int(t.Ties), what), have, what, key, at(t.Tie.Records[0]), at(t.Tie.Records[1]), t.Tie.Records[1].Topic)
}

// again prints what was found, and no more.
func (s *verifyScreen) again(r *verify.Report, most int) {
	if s.json {
		s.report(r, most)
		return
	}
	s.drawn = 0
	s.findings(r, most)
	problems := r.Problems()
	if problems == 0 {
		fmt.Fprintf(s.out, "nothing is missing, stale, different, extra, collided or lost; dead letters: %s\n", thousands(r.Rejected+r.DeadLettered))
		return
	}
	for _, t := range r.Tables {
		for _, kind := range verify.Kinds {
			if n := t.Found[kind]; n > 0 {
				fmt.Fprintf(s.out, "%s: %s %s\n", t.Name, thousands(n), kind)
			}
		}
	}
	if r.Lost > 0 {
		fmt.Fprintf(s.out, "%s lost: neither written nor dead letters\n", thousands(r.Lost))
	}
	if told := min(int64(most), int64(len(r.Findings))); told < problems {
		fmt.Fprintf(s.out, "%s were told one by one; --show %d tells more\n", thousands(told), min(problems, 100_000))
	}
}

func (s *verifyScreen) findings(r *verify.Report, most int) {
	for i := range r.Findings[:min(most, len(r.Findings))] {
		f := &r.Findings[i]
		if s.json {
			s.object(newVerifyFinding(f))
			continue
		}
		printLine(s.out, "%s", findingText(f))
	}
}

// findingText is one finding for people.
func findingText(f *verify.Finding) string {
	text := string(f.Kind) + ": "
	switch {
	case f.Kind == verify.Lost:
		text += "topic " + f.Table
	case f.Document:
		text += fmt.Sprintf("index %s, document %s", f.Table, f.Key)
	default:
		text += fmt.Sprintf("table %s, row %s", f.Table, rowkey.Binary(f.Key))
	}
	if f.Column != "" {
		text += ", " + f.Column
	}
	text += ": " + f.Reason
	if f.Expected >= 0 {
		text += fmt.Sprintf("; expected version %d", f.Expected)
	}
	if f.Found >= 0 {
		text += fmt.Sprintf("; found version %d", f.Found)
	}
	for i, rec := range f.Records {
		if i == 3 {
			return text + fmt.Sprintf("; and %d more records", len(f.Records)-3)
		}
		text += fmt.Sprintf("; record %d:%d of %s", rec.Partition, rec.Offset, rec.Topic)
	}
	return text
}
