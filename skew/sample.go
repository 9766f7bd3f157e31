package skew

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// sample keeps rows drawn evenly from each of the last spans of time. The effects of splits, moves and other keys are simulated on them.
type sample struct {
	slots  [sampleSlots]sampleSlot
	rnd    *rand.Rand
	seen   int64 // total number of rows
	newest int64
	at     time.Duration // time to which it has advanced
}

// sampleSlot is the reservoir of one span of time (Li's algorithm L: random numbers are drawn for the rows that are taken, not for each
// row).
type sampleSlot struct {
	rows []sampled
	seen int64
	skip int64   // rows until the next one that is taken, once the slot is full
	w    float64 // largest of the numbers drawn for the rows in it; 0: not full yet
}

type sampled struct {
	row []byte
	nth int64 // number among all rows
	at  time.Duration
}

const (
	sampleSlots = 6
	sampleSpan  = 10 * time.Second
	sampleRows  = 2048 // per slot
	maxSampled  = 128  // bytes kept of a row
)

func newSample() *sample { return &sample{rnd: rand.New(rand.NewPCG(1, 2))} }

// advance empties the slots that have become too old.
func (s *sample) advance(at time.Duration) {
	s.at = at
	now := int64(at / sampleSpan)
	for i := max(s.newest, now-sampleSlots); i < now; i++ {
		slot := &s.slots[(i+1)%sampleSlots]
		*slot = sampleSlot{rows: slot.rows[:0]}
	}
	s.newest = max(s.newest, now)
}

// place returns the next row's position in the sample, or −1 if it is not taken. The sample must have been advanced.
func (s *sample) place() int {
	slot := &s.slots[s.newest%sampleSlots]
	slot.seen++
	s.seen++
	switch {
	case len(slot.rows) < sampleRows:
		return len(slot.rows)
	case slot.w == 0:
		slot.w = 1
		slot.draw(s.rnd)
	}
	if slot.skip > 0 {
		slot.skip--
		return -1
	}
	slot.draw(s.rnd)
	return s.rnd.IntN(sampleRows)
}

// draw draws the number of rows to skip.
func (s *sampleSlot) draw(rnd *rand.Rand) {
	s.w *= math.Exp(math.Log(1-rnd.Float64()) / sampleRows)
	s.skip = int64(math.Log(1-rnd.Float64()) / math.Log1p(-s.w))
}

// put stores the last row at its position.
func (s *sample) put(i int, row []byte) {
	slot := &s.slots[s.newest%sampleSlots]
	switch {
	case i < len(slot.rows):
	case i < cap(slot.rows):
		slot.rows = slot.rows[:i+1]
	default:
		slot.rows = append(slot.rows, sampled{})
	}
	slot.rows[i] = sampled{append(slot.rows[i].row[:0], row[:min(len(row), maxSampled)]...), s.seen, s.at}
}

// drawn is a sampled row. It stands for weight rows.
type drawn struct {
	row    []byte
	nth    int64
	at     time.Duration
	weight float64
}

// all returns copies of the rows, oldest first.
func (s *sample) all() []drawn {
	var out []drawn
	var rows []byte // of all, in one allocation
	for i := s.newest; i >= 0 && i > s.newest-sampleSlots; i-- {
		slot := &s.slots[i%sampleSlots]
		for _, r := range slot.rows {
			from := len(rows)
			rows = append(rows, r.row...)
			out = append(out, drawn{rows[from:len(rows):len(rows)], r.nth, r.at, float64(slot.seen) / float64(len(slot.rows))})
		}
	}
	slices.SortFunc(out, func(a, b drawn) int { return int(a.nth - b.nth) })
	return out
}
