package main

import (
	"context"
	"fmt"
	"time"

	"brine/internal/term"
	"brine/reindex"
)

// reindexScreen prints a reindex's plan, progress and result, for people or as JSON lines.
type reindexScreen struct {
	screen
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
		s.object(reindexPlan{*p, seconds})
		return
	}
	fmt.Fprintf(s.out, "reindex of %s from %s: %s documents are in it now, %s\n", p.Index, p.From, thousands(p.Documents), about(p.Bytes))
	if p.Free >= 0 {
		fmt.Fprintf(s.out, "  the new index will take about as much beside it; %s are free\n", about(p.Free))
	}
	for _, t := range p.Tables {
		fmt.Fprintf(s.out, "  table %s: %s to read, %s", t.Table, count(t.Ranges, "range"), about(t.Bytes))
		if t.Done > 0 {
			fmt.Fprintf(s.out, "; %s rows are done", thousands(t.Done))
		}
		fmt.Fprintln(s.out)
	}
	for _, t := range p.Topics {
		fmt.Fprintf(s.out, "  topic %s: at most %s records to read by now, %s\n", t.Topic, thousands(t.Records), about(t.Bytes))
		for _, m := range t.Missing {
			fmt.Fprintf(s.out, "  missing: %s\n", m)
		}
	}
	if p.Resumed {
		fmt.Fprintf(s.out, "  goes on where it was: %s; --again begins again\n", p.Phase)
	}
	if seconds > 0 {
		fmt.Fprintf(s.out, "  at %s/s: about %v\n", thousands(int64(s.rate)), clock(seconds))
	} else if work > 0 { // how quick the servers are is seen when it runs
		fmt.Fprintf(s.out, "  as quickly as the servers take it: about %v at 5,000 documents/s, %v at 50,000\n", clock(max(0.1, work/5_000)), clock(max(0.1, work/50_000)))
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
func (s *reindexScreen) follow(ctx context.Context, run *reindex.Run, documents int64, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	tick := time.NewTicker(s.every())
	defer tick.Stop()
	var before reindexReading
	at, first := time.Now(), int64(-1)
	for {
		select {
		case err := <-done:
			return err
		case <-tick.C:
		}
		p := run.Progress()
		if p.Phase == "" {
			continue // it looks for what was begun
		}
		if first < 0 {
			first = p.Rows
		}
		now := newReindexReading(&p, documents, first)
		now.rate(&before, time.Since(at))
		before, at = now, time.Now()
		if !s.quiet {
			s.show([]string{s.line(&now, documents)})
		}
	}
}

// newReindexReading reckons what is left: of the table as many rows as the old index has documents, of the topic what is in it.
func newReindexReading(p *reindex.Progress, documents, first int64) reindexReading {
	r := reindexReading{Phase: p.Phase, Rows: p.Rows, Ranges: p.Ranges, Left: p.RangesLeft, Records: p.Records, Behind: p.RecordsLeft, Refused: p.Refused}
	if p.Phase == reindex.Scanning {
		r.ETA = eta(p.Elapsed, p.Rows-first, max(1, documents-p.Rows))
	} else {
		r.ETA = eta(p.Elapsed, p.Records, p.RecordsLeft)
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
		return jsonText(r)
	}
	text := fmt.Sprintf("%-12s %11s records done, %s left", r.Phase, thousands(r.Records), thousands(r.Behind))
	if r.Phase == reindex.Scanning {
		text = fmt.Sprintf("%-12s %11s of about %s rows, %d of %s", r.Phase, thousands(r.Rows), thousands(max(documents, r.Rows)), r.Ranges-r.Left, count(int(r.Ranges), "range"))
	}
	text += fmt.Sprintf("  %9s/s  ETA %8s", thousands(int64(r.PerSec)), remaining(r.ETA))
	if r.Refused > 0 {
		text += fmt.Sprintf("  refused %s", thousands(r.Refused))
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
		s.object(reindexResult{true, p.Rows, p.Refused, p.Examples, p.Former, dropped, p.Elapsed.Seconds()})
		return
	}
	s.drawn = 0
	fmt.Fprintf(s.out, "done in %v: the new index has its place", clock(p.Elapsed.Seconds()))
	if p.Rows > 0 {
		fmt.Fprintf(s.out, ", with the documents of %s rows and of what came meanwhile", thousands(p.Rows))
	}
	if p.Refused > 0 {
		fmt.Fprintf(s.out, "; %s were refused, such as %s", thousands(p.Refused), term.Line(p.Examples[0]))
	}
	fmt.Fprintln(s.out)
	for _, name := range p.Former {
		if dropped {
			fmt.Fprintf(s.out, "  %s is dropped\n", name)
		} else {
			fmt.Fprintf(s.out, "  %s is kept, and nothing reads or writes it; drop it when it is not wanted any more\n", name)
		}
	}
}
