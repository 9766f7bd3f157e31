package indexer

import (
	"context"
	"fmt"
	"time"
)

// CallInfo is one finished call of the engine. It is valid while the hook runs.
type CallInfo struct {
	Kind      CallKind
	Documents int
	Bytes     int           // of the documents sent
	Left      time.Time     // when the call was made
	Waited    time.Duration // for CallBulk: the time before that, since the Submit of the first document's last change
	Duration  time.Duration
	Err       error // of the call as a whole

	lane   *lane
	groups []int // indexes into lane.groups: the groups of the call's documents
}

// CallKind is what a call does.
type CallKind string

// The kinds of call.
const (
	CallBulk CallKind = "bulk"
	CallGet  CallKind = "get"
)

// Contexts yields the contexts of the Submits of the call's documents. It may yield a flight's context more than once.
func (c *CallInfo) Contexts(yield func(context.Context) bool) {
	var last *flight
	for _, i := range c.groups {
		for o := c.lane.groups[i].first; o != nil; o = o.next {
			if o.flight != last {
				if last = o.flight; !yield(last.ctx) {
					return
				}
			}
		}
	}
}

// call runs fn, which handles the documents of groups, with a timeout, and reports it to the hook.
func (l *lane) call(kind CallKind, groups []int, size int, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(l.w.ctx, l.w.opts.CallTimeout,
		fmt.Errorf("no answer within %v (call_timeout)", l.w.opts.CallTimeout))
	defer cancel()
	start := time.Now()
	err := fn(ctx)
	if err != nil {
		l.recent.forget() // after an outage the index may be an older copy
		err = cause(ctx, err)
		if remedyOfCall(err) == wait {
			l.w.pace.congested(start, time.Now())
		}
	}
	l.info = CallInfo{Kind: kind, Documents: len(groups), Bytes: size, Left: start, Duration: time.Since(start), Err: err,
		lane: l, groups: groups}
	if kind == CallBulk && len(groups) > 0 {
		if o := l.groups[groups[0]].first; o != nil {
			l.info.Waited = start.Sub(o.flight.submitted)
		}
	}
	l.w.opts.Hooks.Call(&l.info)
	return err
}
