// Package display shows a reindex's plan, progress and result, for people or as JSON lines.
package display

import (
	"fmt"
	"io"

	"brine/internal/term"
	"brine/reindex"
)

// Screen prints a reindex's plan, progress and result, for people or as JSON lines.
type Screen struct {
	term.Screen
	json  bool
	quiet bool
	rate  int
}

// NewScreen returns a Screen that prints to out; rate is the configured number of documents per second, 0 for no limit. If quiet, it shows
// no progress.
func NewScreen(out io.Writer, asJSON, quiet bool, rate int) *Screen {
	return &Screen{Screen: term.NewScreen(out, asJSON), json: asJSON, quiet: quiet, rate: rate}
}

// planLine is the JSON line of a plan.
type planLine struct {
	reindex.Plan
	Seconds float64 `json:"seconds,omitempty"` // expected, at the configured rate
}

// Plan prints what a reindex is going to do, and how long that may take.
func (s *Screen) Plan(p *reindex.Plan) {
	work, seconds := float64(p.Work()), 0.0
	if s.rate > 0 {
		seconds = work / float64(s.rate)
	}
	if s.json {
		s.JSON(planLine{*p, seconds})
		return
	}
	fmt.Fprintf(s.Out, "reindex of %s from %s: it has %s documents now, %s\n", p.Index, p.From,
		term.Thousands(p.Documents), term.Estimate(p.Bytes))
	if p.Free >= 0 {
		fmt.Fprintf(s.Out, "  the new index will need about as much in addition; %s are free\n", term.Estimate(p.Free))
	}
	for _, t := range p.Tables {
		fmt.Fprintf(s.Out, "  table %s: %s to read, %s", t.Table, term.Count(t.Ranges, "range"), term.Estimate(t.Bytes))
		if t.Done > 0 {
			fmt.Fprintf(s.Out, "; %s rows are done", term.Thousands(t.Done))
		}
		fmt.Fprintln(s.Out)
	}
	for _, t := range p.Topics {
		fmt.Fprintf(s.Out, "  topic %s: at most %s records to read by now, %s\n", t.Topic, term.Thousands(t.Records), term.Estimate(t.Bytes))
		for _, m := range t.Missing {
			fmt.Fprintf(s.Out, "  missing: %s\n", m)
		}
	}
	if p.Resumed {
		fmt.Fprintf(s.Out, "  resuming: %s; --again starts over\n", p.Phase)
	}
	if seconds > 0 {
		fmt.Fprintf(s.Out, "  at %s/s: about %v\n", term.Thousands(int64(s.rate)), term.Seconds(seconds))
	} else if work > 0 { // the speed of the servers is not known in advance
		fmt.Fprintf(s.Out, "  as fast as the servers accept it: about %v at 5,000 documents/s, %v at 50,000\n",
			term.Seconds(max(0.1, work/5_000)), term.Seconds(max(0.1, work/50_000)))
	}
}

// Follow shows progress while work runs.
func (s *Screen) Follow(run *reindex.Run, documents int64, work func() error) (err error) {
	meter := run.Meter(documents)
	s.During(func() { err = work() }, func() {
		if now, ok := meter.Read(); ok && !s.quiet {
			s.Show(s.line(&now, documents))
		}
	})
	return err
}

func (s *Screen) line(r *reindex.Reading, documents int64) string {
	if s.json {
		return term.JSON(r)
	}
	text := fmt.Sprintf("%-12s %11s offsets done, %s left", r.Phase, term.Thousands(r.Offsets), term.Thousands(r.Behind))
	if r.Phase == reindex.Scanning {
		text = fmt.Sprintf("%-12s %11s of about %s rows, %d of %s", r.Phase, term.Thousands(r.Rows), term.Thousands(max(documents, r.Rows)),
			r.Ranges-r.Left, term.Count(int(r.Ranges), "range"))
	}
	text += fmt.Sprintf("  %11s  ETA %8s", term.Rate(r.PerSec), term.Remaining(r.ETA))
	if r.Refused > 0 {
		text += fmt.Sprintf("  refused %s", term.Thousands(r.Refused))
	}
	if r.Waiting != "" {
		text += "  WAITING: " + r.Waiting
	}
	return text
}

// Result prints what a reindex has done.
func (s *Screen) Result(r reindex.Result) {
	if s.json {
		s.JSON(r)
		return
	}
	s.Keep()
	fmt.Fprintf(s.Out, "done in %v: the new index is in use", term.Seconds(r.Seconds))
	if r.Rows > 0 {
		fmt.Fprintf(s.Out, ", with the documents of %s rows and of what arrived in the meantime", term.Thousands(r.Rows))
	}
	if r.Refused > 0 {
		fmt.Fprintf(s.Out, "; %s were refused, such as %s", term.Thousands(r.Refused), term.Line(r.Examples[0]))
	}
	fmt.Fprintln(s.Out)
	for _, name := range r.Former {
		if r.Dropped {
			fmt.Fprintf(s.Out, "  dropped %s\n", name)
		} else {
			fmt.Fprintf(s.Out, "  kept %s, which nothing reads or writes; drop it when you no longer need it\n", name)
		}
	}
}
