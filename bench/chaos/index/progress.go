package index

import (
	"context"
	"sync"
	"time"

	"brine/bench/chaos/fault"
	"brine/bench/measure"
	"brine/ingest/offsets"
)

// topics are what is read, by pipeline.
var topics = map[string]string{"scans": "courier.scans", "orders": "shop.orders"}

// keys are the fields that their records' keys are taken from, by pipeline.
var keys = map[string]string{"scans": "waybill", "orders": "order"}

// Span is time in which the index was in one state, and what happened during it.
type Span struct {
	Seconds, Rows, Documents, Published float64

	rates []float64 // rows a second from one answer to the next
}

// rate is the rows a second.
func (s *Span) rate() measure.Estimate {
	return measure.Estimate{Value: s.Rows / max(s.Seconds, 1e-9), Spread: measure.Repeated(s.rates).Spread}
}

// state of the index.
type state int

const (
	there state = iota
	gone
)

// position is how many records are published, and settled by the two halves, by one answer of the broker.
type position struct {
	at                         time.Time
	published, rows, documents int64
}

// progress asks the broker how far brine is, again and again, and adds what went on to the spans of the index's two states.
type progress struct {
	client *offsets.Client

	mu      sync.Mutex
	is      state
	changed bool // since the last answer
	counts  bool // what goes on is added
	last    position
	spans   [2]Span
	behind  int64 // most records by which documents lagged behind
}

// become notes that the index is in another state from now on.
func (p *progress) become(s state) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.is, p.changed = s, true
}

// count sets whether what goes on from now on is added.
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

// totals are what was counted of the two states, and by how many records documents lagged behind at most.
func (p *progress) totals() (is, away Span, behind int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spans[there], p.spans[gone], p.behind
}

// run asks until ctx ends.
func (p *progress) run(ctx context.Context) {
	for fault.Pause(ctx, fault.Ask) == nil {
		if now, err := p.look(ctx, "chaos", "rows", "documents"); err == nil {
			p.note(now)
		}
	}
}

// note adds what went on since the last answer, unless the index has changed its state meanwhile.
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

// look asks how far a brine's groups of these halves are: rows, and documents behind them.
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
