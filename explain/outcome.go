package explain

import (
	"slices"
	"strings"

	"brine/ingest/deadletter"
)

// Outcome is what became of a record in one half of a pipeline.
type Outcome string

// The outcomes.
const (
	Written     Outcome = "written"      // it is stored, or something newer is
	LeftOut     Outcome = "left_out"     // it writes nothing here
	DeadLetter  Outcome = "dead_letter"  // it is an open dead letter
	WillBeOne   Outcome = "to_be_letter" // it cannot be written, and is not settled yet
	NotYet      Outcome = "not_yet"      // it is not settled, and not stored
	NotThere    Outcome = "missing"      // it is settled, but not stored: brine verify finds it too
	LetterLost  Outcome = "lost"         // it cannot be written, is settled, and no dead letter holds it
	LetterMaybe Outcome = "rejected"     // it cannot be written and is settled; dead letters were not read
	NotKnown    Outcome = "not_known"    // it is no longer known by which configuration it was settled
)

// outcome returns the conclusion and its reason.
func (p *Pipeline) outcome(h *Half) (Outcome, string) {
	for _, l := range p.Letters {
		if l.Half == h.Half && l.Replayed == nil {
			return DeadLetter, "reason " + string(l.Reason)
		}
	}
	if p.Configured == Unknown && h.Settled {
		return NotKnown, "by the current configuration it would be as above"
	}
	if r := p.rejects(h.Half); r != nil {
		letter := slices.IndexFunc(p.Letters, func(l Letter) bool { return l.Half == h.Half })
		switch {
		case !h.Settled:
			return WillBeOne, "reason " + string(r.Reason)
		case p.Unread != "":
			return LetterMaybe, "reason " + string(r.Reason)
		case letter >= 0 && p.Letters[letter].Let != "":
			return p.Letters[letter].outcome(h)
		case letter >= 0:
			return Written, "its dead letter was replayed, by a configuration other than this one"
		}
		return LetterLost, "reason " + string(r.Reason) + ", and no dead letter holds it; check whether another configuration than this one " +
			"read it"
	}
	if a := p.awaits(); a != nil {
		return NotYet, string(a.Reason) + ": " + a.Detail
	}
	states, left := p.states(h.Half)
	bad := slices.ContainsFunc(states, func(s State) bool { return s == Missing || s == Older || s == There || s == "" })
	switch {
	case len(states) == 0:
		return LeftOut, left
	case bad && h.Settled:
		return NotThere, "its offset is committed; brine verify --repair writes what is missing"
	case bad:
		return NotYet, ""
	}
	return Written, overwritten(states)
}

// fixedBy describes the fix in one line.
func (l *Letter) fixedBy() string { return "fixed by " + deadletter.LetText(l.Let) }

// outcome returns the conclusion of a half that rejects the record, whose dead letter a replay has fixed.
func (l *Letter) outcome(h *Half) (Outcome, string) {
	why := "its dead letter was replayed, " + l.fixedBy()
	if l.Fixed == nil {
		return Written, why
	}
	if l.Fixed.Problem != "" {
		return Written, why + "; " + l.Fixed.Problem
	}
	fixed := Pipeline{Rejected: l.Fixed.Rejected, Awaits: l.Fixed.Awaits, Events: l.Fixed.Events}
	if r := fixed.rejects(h.Half); r != nil {
		return Written, why + "; the current configuration rejects it even so: reason " + string(r.Reason)
	}
	became, more := fixed.outcome(h)
	if more != "" {
		why += "; " + more
	}
	return became, why
}

// overwritten returns the reasons that the stored data differs, or "" if it is as it was written.
func overwritten(states []State) string {
	var said []string
	for _, s := range []struct {
		state State
		text  string
	}{
		{Newer, "a later change has overwritten some of it"},
		{Hidden, "a later delete hides some of it"},
		{Tied, "another change of the same version has overwritten some of it"},
		{Expired, "some of it is older than its TTL"},
	} {
		if slices.Contains(states, s.state) {
			said = append(said, s.text)
		}
	}
	return strings.Join(said, "; ")
}

// rejects returns the reason that a half rejects the record, or nil if it does not.
func (p *Pipeline) rejects(half string) *Reject {
	if p.Rejected != nil {
		return p.Rejected
	}
	for i := range p.Events {
		for j := range p.Events[i].Rejected {
			if r := &p.Events[i].Rejected[j]; r.Half == "" || r.Half == half {
				return r
			}
		}
	}
	return nil
}

func (p *Pipeline) awaits() *Reject {
	if p.Awaits != nil {
		return p.Awaits
	}
	for i := range p.Events {
		if a := p.Events[i].Awaits; a != nil {
			return a
		}
	}
	return nil
}

// states returns the states of everything that a half writes for the record; if that is nothing, left is the reason.
func (p *Pipeline) states(half string) (states []State, left string) {
	var reasons []string
	for i := range p.Events {
		e := &p.Events[i]
		if e.LeftOut != "" {
			text := string(e.LeftOut)
			if e.By != nil {
				text += ": " + e.By.String()
			}
			reasons = append(reasons, text)
		}
		for _, c := range e.Conditions {
			if c.Half == half && !c.Holds {
				reasons = append(reasons, "filtered: "+c.String())
			}
		}
		switch half {
		case Rows:
			for _, r := range e.Rows {
				for _, c := range r.Cells {
					states = append(states, c.State)
				}
			}
		default:
			for _, d := range e.Documents {
				for _, f := range d.Fields {
					states = append(states, f.State)
				}
				if len(d.Fields) == 0 {
					states = append(states, presence(d.Found))
				}
			}
		}
	}
	return states, strings.Join(slices.Compact(reasons), "; ")
}

func presence(found bool) State {
	if found {
		return Same
	}
	return Missing
}
