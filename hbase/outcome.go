package hbase

import "time"

// judge decides for each mutation, and for the lane, by the table of remedies.
func (w *writer) judge(o *outcome, m *multi) {
	p := o.part
	if o.err == nil && o.errs == nil {
		o.applied = p.entries
		return
	}
	single := len(m.parts) == 1
	alone := single && len(p.entries) == 1
	together := !alone && (o.err != nil || o.count(isolate) > 1) // what is refused so may be another's fault
	again := make(map[string]bool)                               // rows of which something goes back
	for i, e := range p.entries {
		err := o.errorOf(i)
		if err == nil {
			// What follows a mutation that goes back, of the same row, goes back too, so that it is applied after it.
			if again[string(e.row())] {
				o.back = append(o.back, e)
			} else {
				o.applied = append(o.applied, e)
			}
			continue
		}
		d := diagnose(err)
		search := d.remedy == isolate && together || d.cut && single && !alone && p.suspected()
		split := d.remedy == split && !alone
		pause := e.flight.mutator.call.pause(d, p.failed)
		switch {
		case search || split:
			e.trials++
			pause = 0
		case !d.uncounted:
			e.attempts++
		}
		if d.final() && !search && !split || !search && !split && e.spent(pause) {
			o.refused = append(o.refused, e)
			o.failed = append(o.failed, mutationError(e, d, p.region.Server, err))
			continue
		}
		if len(o.back) == 0 || o.cure.uncounted {
			o.cure, o.pause, o.cause = d, pause, err
		}
		o.search = o.search || search
		again[string(e.row())] = true
		o.back = append(o.back, e)
	}
	o.moved = w.c.locator.heed(p.region, o.cure)
}

// suspected reports whether a lane whose call ended with the connection has had enough of them to search for the cause.
func (p *part) suspected() bool { return p.search.suspects > 0 || p.search.cuts+1 >= cutsBefore }

// count tells how many mutations have a remedy.
func (o *outcome) count(r remedy) (n int) {
	for _, err := range o.errs {
		if err != nil && diagnose(err).remedy == r {
			n++
		}
	}
	return n
}

// announce tells the hook that something will be sent again.
func (w *writer) announce(o *outcome) {
	if hook := w.c.opts.Hooks.Retry; hook != nil && len(o.back) > 0 {
		hook(retryInfo(o.part.region.Table, o.part.region, o.cure, o.pause, len(o.back), o.part.failed+1, o.cause))
	}
}

// spent reports whether a mutation has used up its retries or its time.
func (e entry) spent(pause time.Duration) bool {
	return int(e.attempts) > e.flight.mutator.call.Retries || time.Now().Add(pause).After(e.flight.deadline)
}

func mutationError(e entry, d diagnosis, server string, err error) MutationError {
	kind := d.kind
	if kind == 0 {
		kind = Transient
	}
	m := MutationError{Index: int(e.index), Kind: kind, Attempts: e.tries(), Server: server, Err: err}
	if d.remedy != reconnect {
		m.Class = d.class
	}
	return m
}

// takeBack returns what was not applied to the front of its lanes, which wait and are looked up as the remedy demands, and
// frees the lanes that waited for the answer. w.mu is held. It gives what a closed client cannot take back.
func (w *writer) takeBack(o *outcome) (lost []entry) {
	p := o.part
	p.release()
	if w.closed {
		return o.back
	}
	if !p.lane.dead {
		p.lane.resolved(len(o.applied), len(o.refused))
	}
	if len(o.back) == 0 {
		if len(o.applied) > 0 && !p.lane.dead {
			p.lane.recover()
		}
		w.wake(p.heirs...)
		return nil
	}
	ls := w.tables[p.lane.table]
	byLane := make(map[*lane][]entry)
	for _, e := range o.back {
		l := p.lane
		if l.dead {
			l = ls.of(e.row())
		}
		byLane[l] = append(byLane[l], e)
	}
	for l, es := range byLane {
		l.pushFront(es)
		l.holder = nil
		w.nurse(l, o, len(es))
		if l.failures >= illFrom {
			w.sicken(l, es)
		}
	}
	w.wake(p.heirs...)
	return nil
}

// nurse applies the remedy to a lane that n mutations go back to. w.mu is held.
func (w *writer) nurse(l *lane, o *outcome, n int) {
	l.why = o.cause
	if !o.cure.uncounted {
		l.failures++
	}
	if o.cure.cut {
		l.cuts++
	}
	if o.search {
		l.suspect(n)
	}
	switch o.cure.remedy {
	case relocate, reconnect:
		if l.region == o.part.region {
			l.region = o.moved
		}
	case split:
		l.limit = max(1, len(o.part.entries)/2)
	}
	if o.pause <= 0 {
		w.wake(l)
		return
	}
	failed := o.part.region
	if l.region != nil || o.cure.remedy != relocate && o.cure.remedy != reconnect {
		failed = nil
	}
	w.rest(l, o.pause, failed)
}

// tell gives to the hook what was applied, and results to flights: in this order, since a flight's rows are its submitter's again
// once it is done.
func (w *writer) tell(o *outcome, took time.Duration) {
	if hook := w.c.opts.Hooks.Applied; hook != nil && len(o.applied) > 0 {
		bytes := 0
		for _, e := range o.applied {
			bytes += e.size()
		}
		region := o.part.region
		o.told = AppliedInfo{Table: region.Table, Region: region, Rows: len(o.applied), Bytes: bytes, Duration: took, applied: o.applied}
		hook(&o.told)
	}
	for es := o.applied; len(es) > 0; {
		n := 1
		for n < len(es) && es[n].flight == es[0].flight {
			n++
		}
		w.settle(es[:n])
		es = es[n:]
	}
	for i, e := range o.refused {
		w.settle([]entry{e}, o.failed[i])
	}
}
