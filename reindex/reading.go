package reindex

import (
	"time"

	"brine/internal/term"
	"brine/internal/wording"
)

// Reading is the progress of a Run, as JSON.
type Reading struct {
	Phase   Phase   `json:"phase"`
	Rows    int64   `json:"rows"` // in the new index
	Ranges  int64   `json:"ranges"`
	Left    int64   `json:"ranges_left"`
	Offsets int64   `json:"offsets"` // of the topic, done in this round: an upper bound of the records
	Behind  int64   `json:"offsets_left"`
	PerSec  float64 `json:"per_second"`
	ETA     float64 `json:"eta_seconds"` // −1 while unknown
	Refused int64   `json:"refused"`
	Waiting string  `json:"waiting,omitempty"`
}

// Meter reads the progress of a Run and its rate per second. It is not safe for concurrent use.
type Meter struct {
	run       *Run
	documents int64 // in the old index
	first     int64 // rows in the new index at the first reading; −1: before that
	before    Reading
	at        time.Time
}

// Meter returns a meter of the run. documents is the number of documents in the old index, from Plan.
func (r *Run) Meter(documents int64) *Meter {
	return &Meter{run: r, documents: documents, first: -1, at: time.Now()}
}

// Read returns the progress of the run, and false while the run looks for one to resume. The rate is that since the previous reading, if it
// was in the same phase.
func (m *Meter) Read() (Reading, bool) {
	p := m.run.Progress()
	if p.Phase == "" {
		return Reading{}, false
	}
	if m.first < 0 {
		m.first = p.Rows
	}
	now := p.reading(m.documents, m.first)
	if now.Phase == m.before.Phase {
		n := now.Offsets - m.before.Offsets
		if now.Phase == Scanning {
			n = now.Rows - m.before.Rows
		}
		now.PerSec = float64(max(0, n)) / time.Since(m.at).Seconds()
	}
	m.before, m.at = now, time.Now()
	return now, true
}

// reading estimates what is left: of the table as many rows as the old index has documents, of the topic its offsets.
func (p *Progress) reading(documents, first int64) Reading {
	r := Reading{Phase: p.Phase, Rows: p.Rows, Ranges: p.Ranges, Left: p.RangesLeft, Offsets: p.Records,
		Behind: p.RecordsLeft, Refused: p.Refused}
	if p.Phase == Scanning {
		r.ETA = term.Progress{Done: p.Rows - first, Left: max(1, documents-p.Rows), Elapsed: p.Elapsed}.ETA()
	} else {
		r.ETA = term.Progress{Done: p.Records, Left: p.RecordsLeft, Elapsed: p.Elapsed}.ETA()
	}
	if p.Waiting != nil {
		r.Waiting = wording.Plain(p.Waiting.Error())
	}
	return r
}

// Result is what a Run has done, as JSON.
type Result struct {
	Finished bool     `json:"finished"`
	Rows     int64    `json:"rows"`
	Refused  int64    `json:"refused"`
	Examples []string `json:"examples,omitempty"` // of refused documents
	Former   []string `json:"former"`             // the indexes that were replaced
	Dropped  bool     `json:"dropped"`            // Former were dropped
	Seconds  float64  `json:"seconds"`
}

// Result returns what the run has done, once it has ended without an error.
func (r *Run) Result() Result {
	p := r.Progress()
	return Result{true, p.Rows, p.Refused, p.Examples, p.Former, r.opts.DropOld, p.Elapsed.Seconds()}
}
