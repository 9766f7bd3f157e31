package hbase

import (
	"context"
	"slices"
	"sync"
	"time"

	"brine/hbase/internal/wire"
)

// multi is one call of mutations to one server. It and its parts are used again when its answer has been dealt with.
type multi struct {
	line     *line
	from     *queue
	left     time.Time // when it was sent
	nth      int       // of those that are out
	ctx      context.Context
	giveUp   context.CancelCauseFunc // ends ctx
	followed bool                    // somebody looks where its regions are
	parts    []*part
	spare    []*part
	outcomes []outcome
	told     SentInfo
}

var multis = sync.Pool{New: func() any { return new(multi) }}

func newMulti(s *line, q *queue, now time.Time) *multi {
	m := multis.Get().(*multi)
	m.line, m.from, m.left = s, q, now
	return m
}

// part returns an empty part, which is the call's when it is appended to its parts.
func (m *multi) part() *part {
	n := len(m.parts)
	if n == len(m.spare) {
		m.spare = append(m.spare, new(part))
	}
	return m.spare[n]
}

// recycle gives the call back. No lane may wait for a part of it any more.
func (m *multi) recycle() {
	for _, p := range m.parts {
		clear(p.entries)
		clear(p.heirs)
		*p = part{entries: p.entries[:0], heirs: p.heirs[:0]}
	}
	clear(m.parts)
	clear(m.outcomes)
	*m = multi{parts: m.parts[:0], spare: m.spare, outcomes: m.outcomes[:0]}
	multis.Put(m)
}

// send makes the call and sees to it that every one of its mutations gets a result or goes back into its lane.
func (w *writer) send(m *multi) {
	server := m.parts[0].region.Server
	w.announceSend(m, server)
	r, err := w.c.servers.roundTrip(m.ctx, endpoint{server, clientService}, "Multi", m.encode)
	m.giveUp(nil)
	took := time.Since(m.left)
	m.read(server, r.Param, err)
	var dead bool
	for i := range m.outcomes {
		o := &m.outcomes[i]
		w.judge(o, m)
		dead = dead || o.cure.dead
	}
	if dead {
		w.c.locator.cache.dropServer(server)
	}
	for i := range m.outcomes {
		w.announce(&m.outcomes[i])
	}
	w.announceSent(m, server, took, err)
	w.mu.Lock()
	lost := w.answered(m, took)
	if dead {
		w.desert(m.line)
	}
	w.begin(m.line)
	w.mu.Unlock()
	for i := range m.outcomes {
		w.tell(&m.outcomes[i], took)
	}
	for _, e := range lost {
		w.settle([]entry{e}, failures([]entry{e}, ErrClosed)...)
	}
	m.recycle()
}

// announceSend tells the hook that a call leaves.
func (w *writer) announceSend(m *multi, server string) {
	hook := w.c.opts.Hooks.Send
	if hook == nil {
		return
	}
	i := SendInfo{Server: server, Regions: len(m.parts), Out: m.nth}
	for _, p := range m.parts {
		i.Rows += len(p.entries)
		i.Bytes += p.bytes
		i.Waited = max(i.Waited, m.left.Sub(p.entries[0].flight.submitted))
	}
	hook(i)
}

// announceSent tells the hook that a call is answered, or failed.
func (w *writer) announceSent(m *multi, server string, took time.Duration, err error) {
	hook := w.c.opts.Hooks.Sent
	if hook == nil {
		return
	}
	m.told = SentInfo{Server: server, Regions: len(m.parts), Left: m.left, Duration: took, Err: err, parts: m.parts}
	for _, p := range m.parts {
		m.told.Rows += len(p.entries)
	}
	for i := range m.outcomes {
		m.told.Again += len(m.outcomes[i].back)
	}
	hook(&m.told)
}

// answered frees what the call kept busy and gives its lanes back what was not applied. w.mu is held. It gives what a closed
// client cannot take back.
func (w *writer) answered(m *multi, took time.Duration) (lost []entry) {
	q := m.from
	q.out = slices.DeleteFunc(q.out, func(o *multi) bool { return o == m })
	q.lanes -= len(m.parts)
	for i := range m.outcomes {
		o := &m.outcomes[i]
		if len(o.applied) > 0 {
			l := o.part.lane
			l.slow = m.line.pace.slow(took, l.slow && len(m.parts) == 1)
		}
		lost = append(lost, w.takeBack(o)...)
	}
	if q == &m.line.healthy || len(m.parts) == 1 && len(m.outcomes[0].applied) > 0 {
		m.line.pace.observe(took)
	}
	return lost
}

// desert has all lanes of a server looked up again, since it has gone: none waits for a call that only shows this again. What
// is out comes back by itself. w.mu is held.
func (w *writer) desert(s *line) {
	for _, q := range []*queue{&s.healthy, &s.sick} {
		for _, l := range q.ready {
			l.ready = false
		}
		clear(q.ready)
		q.ready = q.ready[:0]
	}
	for _, ls := range w.tables {
		for _, l := range ls.all {
			if l.region != nil && l.region.Server == s.addr {
				l.region = nil
				w.wake(l)
			}
		}
	}
}

// scratch is what encoding and decoding a Multi needs beside the frame.
type scratch struct {
	param     []byte
	cells     []byte // only to be compressed
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
			mu := &e.flight.batch.mutations[e.place()]
			s.mutations = append(s.mutations, wire.Mutation{
				Row: e.row(), Delete: mu.delete, Cells: int(mu.count), Durability: e.flight.mutator.opts.Durability.wire(), TTL: mu.ttl,
			})
		}
		s.param = wire.AppendRegionAction(s.param, p.region.Name, s.mutations)
		size += p.bytes
	}
	if c.Compression != wire.None {
		s.cells = m.appendCells(s.cells[:0])
		return wire.AppendEncodedRequest(dst, c, s.param, s.cells)
	}
	dst, err := wire.BeginRequest(dst, c, s.param, size)
	if err != nil {
		return nil, err
	}
	return m.appendCells(dst), nil
}

func (m *multi) appendCells(dst []byte) []byte {
	for _, p := range m.parts {
		for _, e := range p.entries {
			dst = append(dst, e.cells()...)
		}
	}
	return dst
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
	search  bool    // for the one of back that is at fault
	cure    diagnosis
	cause   error // that the cure is for
	pause   time.Duration
	moved   *Region
	told    AppliedInfo // to the hook
}

// read reads the answer into the outcomes. The parts that it does not mention, and the mutations, were not answered.
func (m *multi) read(server string, response []byte, err error) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	for _, p := range m.parts {
		m.outcomes = append(m.outcomes, outcome{part: p})
		o := &m.outcomes[len(m.outcomes)-1]
		if err != nil {
			o.err = err
			continue
		}
		r, rest, ok, bad := wire.NextRegionResult(response)
		switch response = rest; {
		case bad != nil:
			o.err = invalid(server, bad)
		case !ok:
			o.err = invalid(server, errMissing)
		default:
			o.read(server, r, s)
		}
	}
}

// read reads one region's results.
func (o *outcome) read(server string, r wire.RegionResult, s *scratch) {
	if e := r.Exception; e.Class != "" {
		o.err = &remoteError{server: server, class: clip(e.Class), text: e.Text}
		return
	}
	n := len(o.part.entries)
	s.seen = slices.Grow(s.seen[:0], n)[:n]
	clear(s.seen)
	answered := 0
	for {
		result, ok, err := r.Next()
		if err != nil {
			o.err = invalid(server, err)
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
			o.failOne(i, &remoteError{server: server, class: clip(e.Class), text: e.Text})
		}
	}
	if answered == n {
		return
	}
	missing := invalid(server, errMissing)
	for i, seen := range s.seen {
		if !seen {
			o.failOne(i, missing)
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
