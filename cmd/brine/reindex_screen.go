package main

import (
	"fmt"
	"time"

	"brine/internal/term"
	"brine/reindex"
)

// reindexScreen prints a reindex's plan, progress and result, for people or as JSON lines.
type reindexScreen struct {
	term.Screen
	json  bool
	quiet bool
	rate  int
}

// reindexPlan is the JSON line of a plan.
type reindexPlan struct {
	reindex.Plan
	Seconds float64 `json:"seconds,omitempty"` // expected, at the rate that is set
}

func (s *reindexScreen) plan(p *reindex.Plan) {
	work := float64(0)
	for _, t := range p.Tables {
		work += float64(max(0, p.Documents-t.Done))
	}
	for _, t := range p.Topics {
		work += float64(t.Records)
	}
	seconds := 0.0
	if s.rate > 0 {
		seconds = work / float64(s.rate)
	}
	if s.json {
		s.JSON(reindexPlan{*p, seconds})
		return
	}
	fmt.Fprintf(s.Out, "reindex of %s from %s: %s documents are in it now, %s\n", p.Index, p.From,
		term.Thousands(p.Documents), term.Estimate(p.Bytes))
	if p.Free >= 0 {
		fmt.Fprintf(s.Out, "  the new index will take about as much beside it; %s are free\n", term.Estimate(p.Free))
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
		fmt.Fprintf(s.Out, "  goes on where it was: %s; --again begins again\n", p.Phase)
	}
	if seconds > 0 {
		fmt.Fprintf(s.Out, "  at %s/s: about %v\n", term.Thousands(int64(s.rate)), term.Seconds(seconds))
	} else if work > 0 { // how quick the servers are is seen when it runs
		fmt.Fprintf(s.Out, "  as quickly as the servers take it: about %v at 5,000 documents/s, %v at 50,000\n",
			term.Seconds(max(0.1, work/5_000)), term.Seconds(max(0.1, work/50_000)))
	}
}

// reindexReading is the JSON line of progress.
type reindexReading struct {
	Phase   reindex.Phase `json:"phase"`
	Rows    int64         `json:"rows"` // in the new index
	Ranges  int64         `json:"ranges"`
	Left    int64         `json:"ranges_left"`
	Records int64         `json:"records"` // of the topic, in this round
	Behind  int64         `json:"records_left"`
	PerSec  float64       `json:"per_second"`
	ETA     float64       `json:"eta_seconds"` // −1 while unknown
	Refused int64         `json:"refused"`
	Waiting string        `json:"waiting,omitempty"`
}

// follow shows progress while work goes on.
func (s *reindexScreen) follow(run *reindex.Run, documents int64, work func() error) (err error) {
	var before reindexReading
	at, first := time.Now(), int64(-1)
	s.During(func() { err = work() }, func() {
		p := run.Progress()
		if p.Phase == "" {
			return // it looks for what was begun
		}
		if first < 0 {
			first = p.Rows
		}
		now := newReindexReading(&p, documents, first)
		now.rate(&before, time.Since(at))
		before, at = now, time.Now()
		if !s.quiet {
			s.Show(s.line(&now, documents))
		}
	})
	return err
}

// newReindexReading reckons what is left: of the table as many rows as the old index has documents, of the topic what is in it.
func newReindexReading(p *reindex.Progress, documents, first int64) reindexReading {
	r := reindexReading{Phase: p.Phase, Rows: p.Rows, Ranges: p.Ranges, Left: p.RangesLeft, Records: p.Records,
		Behind: p.RecordsLeft, Refused: p.Refused}
	if p.Phase == reindex.Scanning {
		r.ETA = term.Progress{Done: p.Rows - first, Left: max(1, documents-p.Rows), Elapsed: p.Elapsed}.ETA()
	} else {
		r.ETA = term.Progress{Done: p.Records, Left: p.RecordsLeft, Elapsed: p.Elapsed}.ETA()
	}
	if p.Waiting != nil {
		r.Waiting = p.Waiting.Error()
	}
	return r
}

// rate is what was done since the reading before, of the same phase.
func (r *reindexReading) rate(before *reindexReading, span time.Duration) {
	n := r.Records - before.Records
	if r.Phase == reindex.Scanning {
		n = r.Rows - before.Rows
	}
	if r.Phase == before.Phase {
		r.PerSec = float64(max(0, n)) / span.Seconds()
	}
}

func (s *reindexScreen) line(r *reindexReading, documents int64) string {
	if s.json {
		return term.JSON(r)
	}
	text := fmt.Sprintf("%-12s %11s records done, %s left", r.Phase, term.Thousands(r.Records), term.Thousands(r.Behind))
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

// reindexResult is the JSON line of a reindex that is done.
type reindexResult struct {
	Finished bool     `json:"finished"`
	Rows     int64    `json:"rows"`
	Refused  int64    `json:"refused"`
	Examples []string `json:"examples,omitempty"` // of what was refused
	Former   []string `json:"former"`             // the indexes whose place was taken
	Dropped  bool     `json:"dropped"`            // they are
	Seconds  float64  `json:"seconds"`
}

func (s *reindexScreen) result(p reindex.Progress, dropped bool) {
	if s.json {
		s.JSON(reindexResult{true, p.Rows, p.Refused, p.Examples, p.Former, dropped, p.Elapsed.Seconds()})
		return
	}
	s.Keep()
	fmt.Fprintf(s.Out, "done in %v: the new index has its place", term.Seconds(p.Elapsed.Seconds()))
	if p.Rows > 0 {
		fmt.Fprintf(s.Out, ", with the documents of %s rows and of what came meanwhile", term.Thousands(p.Rows))
	}
	if p.Refused > 0 {
		fmt.Fprintf(s.Out, "; %s were refused, such as %s", term.Thousands(p.Refused), term.Line(p.Examples[0]))
	}
	fmt.Fprintln(s.Out)
	for _, name := range p.Former {
		if dropped {
			fmt.Fprintf(s.Out, "  %s is dropped\n", name)
		} else {
			fmt.Fprintf(s.Out, "  %s is kept, and nothing reads or writes it; drop it when it is not wanted any more\n", name)
		}
	}
}
