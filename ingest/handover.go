package ingest

import (
	"context"
	"slices"

	"brine/ingest/internal/broker"
)

// handover says which loop goes on where this one stops.
type handover struct {
	to     *Loop
	unless context.Context // once it has ended, nobody goes on
	reader string
}

// HandOver makes the loop, when it stops, leave its place in the group to another Loop of this process, whose Run is called only then. The
// group moves none of its partitions meanwhile. The two must agree about the group and its protocol; otherwise, or if the other one has
// already begun to join, unless has ended, or a commit is in doubt, the loop just leaves the group: a commit of ours that arrives late is
// refused only once its member is gone.
//
// Unless reader is empty, the last commits note it as who reads from there on: should the group give the partitions to another member all
// the same, that member's Admit learns of it.
func (l *Loop) HandOver(to *Loop, unless context.Context, reader string) {
	l.next.Store(&handover{to, unless, reader})
}

// handsOver returns who goes on when the loop stops, or nil.
func (l *Loop) handsOver() *handover {
	if h := l.next.Load(); h != nil && h.unless.Err() == nil {
		return h
	}
	return nil
}

// Resign makes the loop, when it stops, leave its group for good, because nobody goes on with what it does. Otherwise a static member keeps
// its partitions until the session ends, in case the process is restarted, and nobody reads them meanwhile.
func (l *Loop) Resign() { l.resigned.Store(true) }

// resigns reports whether a static member leaves for good: nobody goes on, or not as the member that the group knows.
func (l *Loop) resigns() bool {
	h := l.next.Load()
	return l.resigned.Load() || h != nil && !l.sameMember(h.to)
}

// sameMember reports whether the group can take another loop for the member that l is.
func (l *Loop) sameMember(to *Loop) bool {
	return to.Group == l.Group && to.GroupProtocol == l.GroupProtocol && to.InstanceID == l.InstanceID
}

// keep gives the place of a member that stops to the loop that goes on, and reports whether there is one.
func (l *Loop) keep(p broker.Place) bool {
	h := l.handsOver()
	if h == nil || !l.sameMember(h.to) || l.inDoubt() {
		return false
	}
	h.to.mu.Lock()
	defer h.to.mu.Unlock()
	if h.to.begun {
		return false
	}
	h.to.place = p
	return true
}

// inDoubt reports whether a commit of the loop, whose work has ended, may still be on its way.
func (l *Loop) inDoubt() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.current, func(a *assignment) bool { return a.inDoubt() })
}

// joining returns the membership of a loop that begins to join, in the place that it was given, if any.
func (l *Loop) joining() *broker.Membership {
	m := l.membership()
	l.mu.Lock()
	defer l.mu.Unlock()
	m.Place, l.place, l.begun = l.place, broker.Place{}, true
	return m
}

// end gives on the place of a loop that stops before it has begun to join, or leaves the group if nobody goes on in it.
func (l *Loop) end() {
	if m := l.joining(); m.Place != (broker.Place{}) {
		l.cluster.GiveUp(*m)
	}
}
