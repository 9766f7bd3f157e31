package hbase

import (
	"context"
	"fmt"
	"sync"
	"time"

	"brine/hbase/internal/wire"
	"brine/internal/backoff"
)

// multi is one call of mutations to one server.
type multi struct {
	line  *line
	from  *queue
	parts []*part
}

// send makes the call and sees to it that every one of its mutations gets a result or goes back into its lane.
func (w *writer) send(m *multi) {
	server := m.parts[0].region.Server
	r, err := w.c.servers.roundTrip(w.c.ctx, endpoint{server, clientService}, "Multi", m.encode)
	outcomes := m.outcomes(server, r.Param, err)
	for i := range outcomes {
		w.judge(&outcomes[i], m)
		w.announce(&outcomes[i])
	}
	w.mu.Lock()
	m.from.calls--
	m.from.lanes -= len(m.parts)
	var lost []entry
	for i := range outcomes {
		lost = append(lost, w.takeBack(&outcomes[i])...)
	}
	w.begin(m.line)
	w.mu.Unlock()
	for i := range outcomes {
		w.tell(&outcomes[i])
	}
	for _, e := range lost {
		w.settle([]entry{e}, failures([]entry{e}, ErrClosed)...)
	}
}

// scratch is what encoding and decoding a Multi needs beside the frame.
type scratch struct {
	param     []byte
	mutations []wire.Mutation
	seen      []bool
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// encode writes the frame: actions by region in the message, the cells of all of them in the same order behind it, copied
// from the batches as they lie there.
func (m *multi) encode(dst []byte, c wire.Call) ([]byte, error) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	s.param = s.param[:0]
	size := 0
	for _, p := range m.parts {
		s.mutations = s.mutations[:0]
		for _, e := range p.entries {
			b := e.flight.batch
			mu := &b.mutations[e.index]
			s.mutations = append(s.mutations, wire.Mutation{Row: e.row(), Delete: mu.delete, Cells: int(mu.count)})
		}
		s.param = wire.AppendRegionAction(s.param, p.region.Name, s.mutations)
		size += p.bytes
	}
	dst, err := wire.BeginRequest(dst, c, s.param, size)
	if err != nil {
		return nil, err
	}
	for _, p := range m.parts {
		for _, e := range p.entries {
			dst = append(dst, e.flight.batch.cellsOf(int(e.index))...)
		}
	}
	return dst, nil
}

// outcome is what became of one part: each mutation is applied, goes back, or has failed for good.
type outcome struct {
	part *part
	err  error   // of the whole part
	errs []error // by mutation; nil if all were applied

	applied []entry // all of the part's, unless something failed
	back    []entry // in their order
	failed  []MutationError
	refused []entry // whose failures are failed
	cure    diagnosis
	pause   time.Duration
	moved   *Region
}

// outcomes reads the answer. The parts that it does not mention, and the mutations, were not answered.
func (m *multi) outcomes(server string, response []byte, err error) []outcome {
	out := make([]outcome, len(m.parts))
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	for i, p := range m.parts {
		out[i].part = p
		if err != nil {
			out[i].err = err
			continue
		}
		r, rest, ok, bad := wire.NextRegionResult(response)
		switch response = rest; {
		case bad != nil:
			out[i].err = fmt.Errorf("%w: %w", errInvalidResponse, bad)
		case !ok:
			out[i].err = errInvalidResponse
		default:
			out[i].read(server, r, s)
		}
	}
	return out
}

// read reads one region's results.
func (o *outcome) read(server string, r wire.RegionResult, s *scratch) {
	if e := r.Exception; e.Class != "" {
		o.err = &remoteError{server: server, class: e.Class, text: e.Text}
		return
	}
	n := len(o.part.entries)
	s.seen = append(s.seen[:0], make([]bool, n)...)
	answered := 0
	for {
		result, ok, err := r.Next()
		if err != nil {
			o.err = fmt.Errorf("%w: %w", errInvalidResponse, err)
			return
		}
		if !ok {
			break
		}
		i := int(result.Index)
		if i >= n || s.seen[i] || !result.HasResult && result.Exception.Class == "" {
			continue
		}
		s.seen[i] = true
		answered++
		if e := result.Exception; e.Class != "" {
			o.failOne(i, &remoteError{server: server, class: e.Class, text: e.Text})
		}
	}
	if answered == n {
		return
	}
	for i, seen := range s.seen {
		if !seen {
			o.failOne(i, errInvalidResponse)
		}
	}
}

func (o *outcome) failOne(i int, err error) {
	if o.errs == nil {
		o.errs = make([]error, len(o.part.entries))
	}
	o.errs[i] = err
}

func (o *outcome) errorOf(i int) error {
	if o.err != nil || o.errs == nil {
		return o.err
	}
	return o.errs[i]
}

// judge decides for each mutation, and for the lane, by the table of remedies.
func (w *writer) judge(o *outcome, m *multi) {
	p := o.part
	if o.err == nil && o.errs == nil {
		o.applied = p.entries
		return
	}
	alone := len(m.parts) == 1 && len(p.entries) == 1
	again := make(map[string]bool) // rows of which something goes back
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
		if !d.uncounted && d.remedy != split {
			e.attempts++
		}
		pause := w.c.opts.pause(d, p.failed)
		if d.remedy == split {
			pause = 0
		}
		final := d.remedy == giveUp || d.remedy == reopen || d.remedy == split && alone
		if final || w.spent(e, pause) {
			o.refused = append(o.refused, e)
			o.failed = append(o.failed, mutationError(e, d, p.region.Server, err))
			continue
		}
		if len(o.back) == 0 || o.cure.uncounted {
			o.cure, o.pause = d, pause
		}
		again[string(e.row())] = true
		o.back = append(o.back, e)
	}
	o.moved = w.c.locator.heed(p.region, o.cure)
}

// announce tells the hook that something will be sent again.
func (w *writer) announce(o *outcome) {
	if hook := w.c.opts.Hooks.Retry; hook != nil && len(o.back) > 0 {
		hook(retryInfo(o.part.region.Table, o.part.region, o.cure, o.pause, len(o.back)))
	}
}

// spent tells whether a mutation has used up both its retries and its time.
func (w *writer) spent(e entry, pause time.Duration) bool {
	return int(e.attempts) > w.c.opts.Retries && time.Now().Add(pause).After(e.flight.deadline)
}

func mutationError(e entry, d diagnosis, server string, err error) MutationError {
	kind := d.kind
	if kind == 0 {
		kind = Transient
	}
	m := MutationError{Index: int(e.index), Kind: kind, Attempts: int(e.attempts), Server: server, Err: err}
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
		w.nurse(l, o)
	}
	w.wake(p.heirs...)
	return nil
}

// nurse applies the remedy to a lane. w.mu is held.
func (w *writer) nurse(l *lane, o *outcome) {
	if !o.cure.uncounted {
		l.failures++
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
	l.stopTimer()
	l.timer = time.AfterFunc(o.pause, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		l.timer = nil
		w.wake(l)
	})
}

// tell gives results to flights, and to the hook what was applied.
func (w *writer) tell(o *outcome) {
	bytes := 0
	for es := o.applied; len(es) > 0; {
		n := 1
		for n < len(es) && es[n].flight == es[0].flight {
			n++
		}
		for _, e := range es[:n] {
			bytes += e.size()
		}
		w.settle(es[:n])
		es = es[n:]
	}
	p := o.part
	if hook := w.c.opts.Hooks.Applied; hook != nil && len(o.applied) > 0 {
		hook(AppliedInfo{Table: p.region.Table, Region: p.region, Rows: len(o.applied), Bytes: bytes})
	}
	for i, e := range o.refused {
		w.settle([]entry{e}, o.failed[i])
	}
}

// locate finds the region of a lane's first row, however long that takes, and carves the lane accordingly.
func (w *writer) locate(l *lane) {
	for failures := 0; ; failures++ {
		row, sick := w.first(l)
		if row == nil {
			return
		}
		r, err := w.find(l.table, row, sick || failures > 1)
		if err == nil {
			w.place(l, r)
			return
		}
		d := diagnose(err)
		pause := w.c.opts.pause(d, failures)
		if gone := w.abandon(l, err, d, failures+1, pause); gone {
			return
		}
		if hook := w.c.opts.Hooks.Retry; hook != nil {
			hook(retryInfo(l.table, nil, d, pause, 0))
		}
		if backoff.Wait(w.c.ctx, pause) != nil {
			return // closed
		}
	}
}

// find looks a row up, and makes sure that a failing region's table has not been disabled.
func (w *writer) find(table string, row []byte, suspect bool) (*Region, error) {
	ctx, cancel := context.WithTimeout(w.c.ctx, w.c.opts.OperationTimeout)
	defer cancel()
	if suspect && table != metaTable {
		if disabled, err := w.c.locator.tableDisabled(ctx, table); err == nil && disabled {
			return nil, fmt.Errorf("%w: %s", ErrDisabled, table)
		}
	}
	return w.c.locator.find(ctx, table, row)
}

// first gives the first row of a lane that is being located, or nil if there is nothing to locate it for any more.
func (w *writer) first(l *lane) (row []byte, sick bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.dead || w.closed || len(l.queue) == 0 {
		l.locating = false
		return nil, false
	}
	return l.queue[0].row(), l.failures > 1
}

// place gives a lane the region that was found for it.
func (w *writer) place(l *lane, r *Region) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l.locating = false
	if l.dead {
		return // its heirs have been woken
	}
	fresh := w.tables[l.table].carve(r)
	w.wake(append(fresh, l)...)
}

// abandon fails what a look-up's failure is final for: everything in the lane if the remedy is to give up, else those
// whose retries and time are spent. It tells whether nothing is left to look up.
func (w *writer) abandon(l *lane, err error, d diagnosis, failures int, pause time.Duration) (gone bool) {
	final := d.remedy == giveUp || d.remedy == reopen || d.remedy == split
	var out, left []entry
	w.mu.Lock()
	for _, e := range l.queue {
		e.attempts += int32(failures)
		if final || w.spent(e, pause) {
			out = append(out, e)
			continue
		}
		e.attempts -= int32(failures)
		left = append(left, e)
	}
	l.queue = left
	gone = len(left) == 0
	if gone {
		l.locating = false
	}
	w.mu.Unlock()
	for _, e := range out {
		w.settle([]entry{e}, mutationError(e, d, "", err))
	}
	return gone
}
