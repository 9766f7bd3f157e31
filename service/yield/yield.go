// Package yield decides how fast halves of pipelines may run that give way to others: usually documents give way to rows. Both run in one
// process, often on the same machine as the servers that they write to, so they compete for it.
//
// The rule is that of congestion control in networks: while a half that comes first is behind and the machine is busy, the others' rate is
// halved again and again; otherwise it grows slowly until there is no limit. So the first halves run as fast as they would alone, and the
// others get what is left. One thing counts more: records that a topic is about to delete. A half's rate is not cut below what it needs to
// finish before half of the remaining time has passed.
//
// The package works on numbers and does not import the packages that it controls.
package yield

import (
	"math"
	"time"
)

// Load is the state of a half at one look.
type Load struct {
	Lag     int64         // offsets behind
	Settled float64       // records per second since the previous look
	Arrives float64       // records per second
	Asked   float64       // limit set by people, in records per second; 0: none
	Left    time.Duration // until the topic may delete the oldest unsettled record for its age; 0: never, or unknown
	Young   bool          // the topic may delete records however young they are, or nobody knows when it does
}

// Every is the interval of looks at a Half.
const Every = time.Second

const (
	least    = 100  // records per second that are always allowed
	enough   = 1000 // a lag below this many offsets is less than a moment's work
	cut      = 0.5
	grow     = 1.25
	beyond   = 4   // a limit of this many times the fastest rate is removed
	forgets  = 0.9 // decay of the fastest rate, per look
	mostBusy = 0.9 // share of the machine that counts as all of it

	soon = time.Hour // how soon a topic may delete records of which nobody knows it
)

// Behind reports whether a half is behind by more than it settles in a second and runs as fast as it can. A half that has stopped is not
// behind, because it would not use more of the machine, and neither is one that runs at the rate asked of it.
func (l Load) Behind() bool {
	return l.Lag > enough && l.Settled > 0 && float64(l.Lag) > l.Settled*Every.Seconds() && (l.Asked == 0 || l.Settled < 0.9*l.Asked)
}

// needs returns the rate at which the half catches up before half of the remaining retention has passed; 0: it need not hurry.
func (l Load) needs() float64 {
	left := l.Left
	if l.Young && (left <= 0 || left > soon) {
		left = soon
	}
	if left <= 0 {
		return 0
	}
	return l.Arrives + float64(l.Lag)/(left.Seconds()/2)
}

// Half is a half that gives way. The zero Half has no limit.
type Half struct {
	limit   float64 // records per second; 0: none
	fastest float64 // recent highest rate
	pressed bool
}

// Free removes the limit.
func (h *Half) Free() { *h = Half{} }

// Limit returns the limit in records per second, or +Inf if there is none.
func (h *Half) Limit() float64 {
	if h.limit == 0 {
		return math.Inf(1)
	}
	return h.limit
}

// Pressed reports whether the limit is not lowered further because the topic would delete records before the half has read them.
func (h *Half) Pressed() bool { return h.pressed }

// Look updates the limit from the half's load, whether a half that comes first is behind, and how busy the machine is, from 0 to 1. It
// returns the limit until the next look.
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
