package ingest

import (
	"context"

	"brine/ingest/internal/broker"
)

// handover says that another loop goes on where this one stops.
type handover struct {
	unless context.Context // once it has ended, nobody goes on
	reader string
}

// HandOver makes the loop keep its place in the group when it stops, for another Loop of this process (TakeOver), so that the group moves
// none of its partitions meanwhile. Unless reader is empty, the last commits note it as who reads from there on: should the group give the
// partitions to another member all the same, that member's Admit learns of it. Once unless has ended, nothing is handed over: the loop
// leaves the group.
func (l *Loop) HandOver(unless context.Context, reader string) {
	l.next.Store(&handover{unless, reader})
}

// TakeOver gives the loop, whose Run has not been called, the place that from has kept. If from has not stopped yet, it will leave the
// group, and the loop joins as another member.
func (l *Loop) TakeOver(from *Loop) {
	from.mu.Lock()
	defer from.mu.Unlock()
	if !from.ended {
		from.next.Store(nil)
		return
	}
	l.place, from.place = from.place, broker.Place{}
}

// handsOver returns what the loop hands over when it stops, or nil.
func (l *Loop) handsOver() *handover {
	if h := l.next.Load(); h != nil && h.unless.Err() == nil {
		return h
	}
	return nil
}

// keep returns whether a member that stops keeps its place, and stores the place if so.
func (l *Loop) keep(p broker.Place) bool {
	if l.handsOver() == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.place = p
	return true
}

// end notes that Run returns.
func (l *Loop) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
}
