package indexer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"brine/event"
)

// remedy is what a lane does about the outcome of one write, or of one call.
type remedy uint8

const (
	settled remedy = iota + 1 // durable
	newer                     // the index holds something newer
	wait                      // later, after a pause
	reread                    // at once, after another read: it is not as it was read
	split                     // in smaller requests
	refuse                    // never
	denied                    // not until an operator acts: access denied
	noIndex                   // not until an operator acts: no such index
	isolate                   // the request is at fault, or one of its documents: by halves
)

// remedyOf decides by the status alone: names of exceptions change from release to release. Unknown is wait.
func remedyOf(status int) remedy {
	switch {
	case status >= 200 && status < 300:
		return settled
	case status == http.StatusConflict:
		return newer
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return denied
	case status == http.StatusNotFound:
		return noIndex
	case status == http.StatusRequestEntityTooLarge:
		return split
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return wait
	case status >= 400 && status < 500:
		return refuse
	default:
		return wait
	}
}

// remedyOfCall is remedyOf for a call that failed as a whole.
func remedyOfCall(err error) remedy {
	var refused *RequestError
	if !errors.As(err, &refused) {
		return wait
	}
	switch r := remedyOf(refused.Status); r {
	case refuse:
		return isolate
	case settled, newer:
		return wait
	default:
		return r
	}
}

// failureOf is the failure of an event whose document met the remedy at last.
func failureOf(o *op, r remedy, err error) event.Failure {
	f := event.Failure{Index: o.event, Verdict: event.Retry, Reason: event.Unavailable}
	mend := ""
	switch r {
	case refuse:
		f.Verdict, f.Reason = event.Reject, event.MappingRefused
	case isolate:
		f.Verdict, f.Reason = event.Reject, event.Refused
	case split:
		f.Verdict, f.Reason = event.Reject, event.TooLarge
	case denied:
		f.Verdict, f.Reason = event.Halt, event.Denied
		mend = "; grant the user of search.connect the index privileges, or lift the index's write block"
	case noIndex:
		f.Verdict, f.Reason = event.Halt, event.NoTable
		mend = "; create it with: brine tables apply"
	}
	f.Err = fmt.Errorf("index %s: document %s: %w%s", o.doc.Index, o.id, err, mend)
	return f
}

// cause is err, or why the context that it came from has ended.
func cause(ctx context.Context, err error) error {
	if c := context.Cause(ctx); c != nil && errors.Is(err, ctx.Err()) {
		return c
	}
	return err
}

// failCall decides on the groups of a call that failed as a whole.
func (l *lane) failCall(groups []int, err error) {
	r := remedyOfCall(err)
	if len(groups) > 1 && (r == split || r == isolate) {
		l.maxDocs = len(groups) / 2
		return // all are sent again, by halves
	}
	for _, i := range groups {
		l.decide(&l.groups[i], r, err)
	}
}

// decide gives every op of a group its outcome.
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
	case denied, noIndex:
		for o := g.first; o != nil; o = o.next {
			o.fail(Halted, failureOf(o, r, err))
		}
	case refuse, split, isolate:
		l.refuse(g, r, err)
	default:
		if r == reread {
			l.rereads++
		} else {
			l.paused++
		}
		l.pauseErr = err
		now := time.Now()
		for o := g.first; o != nil; o = o.next {
			if now.After(o.deadline) {
				o.fail(Retried, failureOf(o, r, err))
			}
		}
	}
}

// refuse rejects a change that stands alone; changes that were merged are first tried one by one.
func (l *lane) refuse(g *group, r remedy, err error) {
	if g.n > 1 {
		for o := g.first; o != nil; o = o.next {
			o.alone = true
		}
		return
	}
	f := failureOf(g.first, r, err)
	if r == isolate { // the fault is the document's only if the server takes others
		if l.accepted == 0 {
			f.Verdict, f.Reason = event.Halt, event.Unknown
			f.Err = errors.Join(f.Err, errors.New("the server has taken no other document since: is search.connect the address of a search server?"))
			g.first.fail(Halted, f)
			return
		}
		l.accepted = 0
	}
	g.first.fail(Rejected, f)
}

// abandon fails an op of a writer that was closed.
func (o *op) abandon() {
	o.fail(Retried, event.Failure{Index: o.event, Verdict: event.Retry, Reason: event.Unavailable, Err: ErrClosed})
}

func (o *op) fail(outcome Outcome, f event.Failure) { o.outcome, o.failure = outcome, f }
