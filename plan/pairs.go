package plan

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/cespare/xxhash/v2"

	"brine/skew"
)

// Pair is two different events with one row: the first two of the sample.
type Pair struct {
	Row    skew.Key      `json:"row"`
	Events []PlacedEvent `json:"events"`
}

// PlacedEvent is an event and its place in the sample.
type PlacedEvent struct {
	At   int64  `json:"at"`
	Text string `json:"text"`
}

// Pairs finds, in a second reading of the sample, the events that collide. It is not safe for concurrent use; Pairs of the same Forecast
// can be merged.
type Pairs struct{ rows map[uint64]*Pair }

// Pairs returns nil if nothing collides: a second reading is then useless.
func (f *Forecast) Pairs() *Pairs {
	if len(f.collided) == 0 {
		return nil
	}
	p := &Pairs{rows: map[uint64]*Pair{}}
	for _, hash := range f.collided {
		p.rows[hash] = &Pair{}
	}
	return p
}

// Add adds an event of the second reading.
func (p *Pairs) Add(at int64, row, content []byte) {
	if pair := p.rows[xxhash.Sum64(row)]; pair != nil {
		pair.Row = bytes.Clone(row)
		pair.add(PlacedEvent{at, string(content)})
	}
}

// add keeps the two different events with the smallest places. A dropped event was behind both, and still is.
func (p *Pair) add(e PlacedEvent) {
	if i := slices.IndexFunc(p.Events, func(o PlacedEvent) bool { return o.Text == e.Text }); i >= 0 {
		p.Events[i].At = min(p.Events[i].At, e.At)
	} else {
		p.Events = append(p.Events, e)
	}
	slices.SortFunc(p.Events, func(a, b PlacedEvent) int { return cmp.Compare(a.At, b.At) })
	p.Events = p.Events[:min(2, len(p.Events))]
}

// Merge adds what another Pairs of the same Forecast has found.
func (p *Pairs) Merge(o *Pairs) {
	for hash, pair := range o.rows {
		for _, e := range pair.Events {
			p.rows[hash].Row = pair.Row
			p.rows[hash].add(e)
		}
	}
}

// List returns the pairs by the place of their first event.
func (p *Pairs) List() []Pair {
	var out []Pair
	for _, pair := range p.rows {
		if len(pair.Events) > 1 {
			out = append(out, *pair)
		}
	}
	slices.SortFunc(out, func(a, b Pair) int { return cmp.Compare(a.Events[0].At, b.Events[0].At) })
	return out
}
