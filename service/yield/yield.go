// Package yield decides how fast halves of pipelines may go that give way to others: documents to rows, as a rule. Both run in one process,
// and often beside the servers that they write to, so that what one takes of a machine the other lacks.
//
// The rule is that of networks: while those who come first are behind and the machine is busy, the others are cut to a half again and
// again; while not, they are let go faster by a little, until nothing holds them. So the first keep what they have alone, and the others
// take what is left. One thing counts more: records that a topic is about to delete. A half that would not be done before half of its time
// is over is not cut below what it takes to be done by then.
//
// It is given numbers and imports none of those that it is about.
package yield

import (
	"math"
	"time"
)

// Load is what is known of a half, by one look.
type Load struct {
	Lag     int64         // records before it
	Settled float64       // records a second, since the look before
	Arrives float64       // records a second
	Asked   float64       // records a second that somebody asks it to keep to; 0: none
	Left    time.Duration // until the topic may delete the oldest record before it; 0: never, or not known
}

// Every is how often a Half takes a look.
const Every = time.Second

const (
	least    = 100  // records a second that a half always has
	enough   = 1000 // records that do not make a half be behind: less than a moment's work
	cut      = 0.5
	grow     = 1.25
	beyond   = 4   // times the fastest that it went: it is held no more
	forgets  = 0.9 // of the fastest, a look
	mostBusy = 0.9 // share of a machine that is as good as all of it
)

// Behind reports whether a half has more before it than it does in a second, and is as fast as it can: not one that stands still, which
// would take no more of a machine, nor one that has what it asked for.
func (l Load) Behind() bool {
	return l.Lag > enough && l.Settled > 0 && float64(l.Lag) > l.Settled*Every.Seconds() && (l.Asked == 0 || l.Settled < 0.9*l.Asked)
}

// needs is the rate by which the half is done before half of the time is over that its topic keeps what is before it; 0: it need not hurry.
func (l Load) needs() float64 {
	if l.Left <= 0 {
		return 0
	}
	return l.Arrives + float64(l.Lag)/(l.Left.Seconds()/2)
}

// Half is one that gives way. The zero Half is held by nothing.
type Half struct {
	limit   float64 // records a second; 0: none
	fastest float64 // that it went lately
	pressed bool
}

// Free lets the half go.
func (h *Half) Free() { *h = Half{} }

// Limit is how many records a second the half may write; +Inf: as many as it can.
func (h *Half) Limit() float64 {
	if h.limit == 0 {
		return math.Inf(1)
	}
	return h.limit
}

// Pressed reports whether the half is not held further down, since its topic would delete records before it has read them.
func (h *Half) Pressed() bool { return h.pressed }

// Look takes a look at the half, and says whether one of those that come first is behind and how busy the machine is, from 0 to 1. It
// returns the limit until the next one.
func (h *Half) Look(of Load, first bool, busy float64) (limit float64) {
	h.fastest = max(of.Settled, h.fastest*forgets)
	switch {
	case first && busy >= mostBusy:
		if h.limit == 0 {
			h.limit = max(of.Settled, least/cut)
		}
		h.limit = max(least, min(h.limit, max(of.Settled, least))*cut)
	case h.limit > 0:
		if h.limit = h.limit*grow + least; h.limit > beyond*max(h.fastest, enough) {
			h.limit = 0
		}
	}
	needs := of.needs()
	if h.pressed = h.limit > 0 && needs > h.limit; h.pressed {
		h.limit = needs
	}
	return h.Limit()
}
