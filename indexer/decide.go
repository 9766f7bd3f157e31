package indexer

import (
	"errors"
	"time"

	"brine/event"
	"brine/internal/backoff"
)

// failCall decides the groups of a call that failed as a whole.
func (l *lane) failCall(groups []int, err error) {
	r := remedyOfCall(err)
	switch {
	case len(groups) > 1 && (r == split || r == isolate):
		l.maxDocs = len(groups) / 2 // all are sent again, in halves
	case r == wait:
		l.failed += len(groups)
		l.pauseErr = err
		for _, i := range groups {
			l.groups[i].expire(err)
		}
	default:
		for _, i := range groups {
			l.decide(&l.groups[i], r, err)
		}
	}
}

// decide sets the outcome of every op of a group.
func (l *lane) decide(g *group, r remedy, err error) {
	switch r {
	case settled:
		l.decided++
		newest := g.newest()
		for o := g.first; o != nil; o = o.next {
			o.outcome = Written
			if o != newest && o.doc.Changes == Whole {
				o.outcome = Conflict
			}
		}
	case newer:
		l.decided++
		for o := g.first; o != nil; o = o.next {
			o.outcome = Conflict
		}
	case denied, noIndex, closed:
		for o := g.first; o != nil; o = o.next {
			o.fail(Halted, failureOf(o, r, err))
		}
	case refuse, suspect, split, isolate:
		l.refuse(g, r, err)
	case reread:
		l.rereads++
		l.pauseErr = err
		g.expire(err)
	default:
		l.hold(g, err)
		g.expire(err)
	}
}

// hold makes a group wait on its own, twice as long every time.
func (l *lane) hold(g *group, err error) {
	due := time.Now().Add(backoff.Exponential(l.w.opts.Pause, l.w.opts.MaxPause, g.first.tries))
	for o := g.first; o != nil; o = o.next {
		o.due, o.tries = due, g.first.tries+1
	}
	l.waiting++
	l.pauseErr = err
	l.wait(due)
}

// expire fails the ops whose deadline has passed.
func (g *group) expire(err error) {
	now := time.Now()
	for o := g.first; o != nil; o = o.next {
		if now.After(o.deadline) {
			o.fail(Retried, failureOf(o, wait, err))
		}
	}
}

// refuse rejects a change that was sent alone; merged changes are first tried one by one. If the index has accepted no other document
// lately, the change waits once, so that another success can show that the index works. If there is none, or if the index refuses many
// documents, the index is at fault.
func (l *lane) refuse(g *group, r remedy, err error) {
	if g.n > 1 {
		for o := g.first; o != nil; o = o.next {
			o.alone = true
		}
		return
	}
	o, now := g.first, time.Now()
	switch unsure := r == suspect || r == isolate; {
	case unsure && !o.doc.writtenLately(now) && !o.suspect:
		o.suspect = true
		l.hold(g, err)
	case unsure && !o.doc.writtenLately(now):
		o.halt(r, err, "the index has accepted no other document recently: is search.connect the address of a search server, and is the index "+
			"writable?")
	case !l.w.refused.Allow(now):
		o.halt(r, err, "the indexes refuse too many documents (1 %, or 100 a minute): does the mapping fit the documents? `brine tables plan` "+
			"compares it with the configuration")
	default:
		o.fail(Rejected, failureOf(o, r, err))
	}
}

// halt fails an op with Halt instead of Reject, and adds why.
func (o *op) halt(r remedy, err error, why string) {
	f := failureOf(o, r, err)
	f.Verdict, f.Err = event.Halt, errors.Join(f.Err, errors.New(why))
	if r != refuse {
		f.Reason = event.Unknown
	}
	o.fail(Halted, f)
}

// abandon fails an op because the writer was closed.
func (o *op) abandon() {
	o.fail(Retried, o.unwritten(ErrClosed))
}

func (o *op) fail(outcome Outcome, f event.Failure) { o.outcome, o.failure = outcome, f }
