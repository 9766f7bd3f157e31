package index

import (
	"context"
	"sync"
	"time"

	"brine/bench/chaos/fault"
	"brine/bench/measure"
	"brine/ingest/offsets"
)

// topics are the topics that are read, by pipeline.
var topics = map[string]string{"scans": "courier.scans", "orders": "shop.orders"}

// keys are the fields that become the records' keys, by pipeline.
var keys = map[string]string{"scans": "waybill", "orders": "order"}

// Span is the time in which the index was in one state, and what happened in it.
type Span struct {
	Seconds, Rows, Documents, Published float64

	rates []float64 // rows per second from one answer to the next
}

// rate returns the number of rows per second.
func (s *Span) rate() measure.Estimate {
	return measure.Estimate{Value: s.Rows / max(s.Seconds, 1e-9), Spread: measure.Repeated(s.rates).Spread}
}

// state is the state of the index.
type state int

const (
	there state = iota
	gone
)

// position is the number of records published, and settled by the two halves, according to one answer of the broker.
type position struct {
	at                         time.Time
	published, rows, documents int64
}

// progress polls the broker for brine's progress, and adds it to the span of the index's state.
type progress struct {
	client *offsets.Client

	mu      sync.Mutex
	is      state
	changed bool // since the last answer
	counts  bool // progress is being added
	last    position
	spans   [2]Span
	behind  int64 // most records by which documents lagged
}

// become records that the index enters another state.
func (p *progress) become(s state) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.is, p.changed = s, true
}

// count sets whether progress is added from now on.
func (p *progress) count(is bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts, p.changed = is, true
}

func (p *progress) now() position {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// totals returns what was counted in the two states, and the most records by which documents lagged.
func (p *progress) totals() (is, away Span, behind int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spans[there], p.spans[gone], p.behind
}

// run polls until ctx is done.
func (p *progress) run(ctx context.Context) {
	for fault.Pause(ctx, fault.Ask) == nil {
		if now, err := p.look(ctx, "chaos", "rows", "documents"); err == nil {
			p.note(now)
		}
	}
}

// note adds the progress since the last answer, unless the index has changed its state in between.
func (p *progress) note(now position) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.last
	if p.counts && !p.changed && !was.at.IsZero() {
		s := &p.spans[p.is]
		seconds, rows := now.at.Sub(was.at).Seconds(), float64(now.rows-was.rows)
		s.Seconds += seconds
		s.Rows += rows
		s.rates = append(s.rates, rows/max(seconds, 1e-9))
		s.Documents += float64(now.documents - was.documents)
		s.Published += float64(now.published - was.published)
	}
	p.behind = max(p.behind, now.published-now.documents)
	p.last, p.changed = now, false
}

// look asks how far brine's groups of these halves are: first rows, then documents.
func (p *progress) look(ctx context.Context, brine string, halves ...string) (position, error) {
	now := position{at: time.Now()}
	for pipeline, topic := range topics {
		var groups []string
		for _, half := range halves {
			groups = append(groups, brine+"."+pipeline+"."+half)
		}
		all, err := fault.OffsetsOf(ctx, p.client, topic, groups...)
		if err != nil {
			return now, err
		}
		for _, of := range all {
			now.published += of.End
			now.rows += of.Committed[0]
			if len(halves) > 1 {
				now.documents += of.Committed[1]
			}
		}
	}
	return now, nil
}
