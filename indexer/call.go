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
	Left      time.Time     // when it was made
	Waited    time.Duration // of CallBulk: before that, since the Submit of the first document's last change
	Duration  time.Duration
	Err       error // of the call as a whole

	lane   *lane
	groups []int // of lane.groups: those whose documents the call was about
}

// CallKind is what a call does.
type CallKind string

// The kinds of call.
const (
	CallBulk CallKind = "bulk"
	CallGet  CallKind = "get"
)

// Contexts returns the contexts of the Submits whose documents the call was about: that of each flight, once or more often.
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

// call times fn, which is about the documents of groups, and reports it to the hook.
func (l *lane) call(kind CallKind, groups []int, size int, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(l.w.ctx, l.w.opts.CallTimeout,
		fmt.Errorf("no answer within %v (call_timeout)", l.w.opts.CallTimeout))
	defer cancel()
	start := time.Now()
	err := fn(ctx)
	if err != nil {
		l.recent.forget() // what is back after an outage may be an older copy
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
