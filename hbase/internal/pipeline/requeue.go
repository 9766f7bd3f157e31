package pipeline

import "brine/hbase/internal/remote"

// requeue returns what was not applied to the front of its lanes, which wait and are looked up as the remedy demands, and
// frees the lanes that waited for the answer. w.mu is held. It returns what a closed client cannot take back.
func (w *Writer) requeue(o *outcome) (lost []entry) {
	p := o.part
	p.unbind()
	if w.closed {
		return o.back
	}
	if p.lane.state != dead {
		p.lane.resolved(len(o.applied), len(o.refused))
	}
	if len(o.back) == 0 {
		if len(o.applied) > 0 && p.lane.state != dead {
			p.lane.recover()
		}
		w.schedule(p.heirs...)
		return nil
	}
	ls := w.tables[p.lane.table]
	byLane := make(map[*lane][]entry)
	for _, e := range o.back {
		l := p.lane
		if l.state == dead {
			l = ls.of(e.row())
		}
		byLane[l] = append(byLane[l], e)
	}
	for l, es := range byLane {
		l.pushFront(es)
		l.leave(lingering)
		w.applyRemedy(l, o, len(es))
		if l.failures >= failingFrom {
			w.markFailing(l, es)
		}
	}
	w.schedule(p.heirs...)
	return nil
}

// applyRemedy applies the remedy to a lane that n mutations go back to. w.mu is held.
func (w *Writer) applyRemedy(l *lane, o *outcome, n int) {
	l.why = o.cause
	if !o.cure.Uncounted {
		l.failures++
	}
	if o.cure.Cut {
		l.cuts++
	}
	if o.search {
		l.suspect(n)
	}
	switch o.cure.Remedy {
	case remote.Relocate, remote.Reconnect:
		if l.region == o.part.region {
			l.region = o.moved
		}
	case remote.Split:
		l.limit = max(1, len(o.part.entries)/2)
	}
	if o.pause <= 0 {
		w.schedule(l)
		return
	}
	failed := o.part.region
	if l.region != nil || o.cure.Remedy != remote.Relocate && o.cure.Remedy != remote.Reconnect {
		failed = nil
	}
	w.pause(l, o.pause, failed)
}
