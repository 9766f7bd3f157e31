package pipeline

import (
	"context"
	"slices"
	"sync"
	"time"

	"brine/hbase/internal/remote"
	"brine/hbase/internal/rpc"
	"brine/hbase/internal/wire"
)

// multi is one call of mutations to one server. It and its parts are reused after its answer has been handled.
type multi struct {
	encoder  rpc.Encoder // encode as a method value, created once
	server   *serverQueue
	turns    *turns
	left     time.Time // when it was sent
	nth      int       // number of unanswered calls, this one included
	ctx      context.Context
	giveUp   context.CancelCauseFunc // ends ctx
	followed bool                    // its regions are being looked up
	parts    []*part
	spare    []*part
	outcomes []outcome
	info     SentInfo
}

var multis = sync.Pool{New: func() any {
	m := new(multi)
	m.encoder = m.encode
	return m
}}

func newMulti(s *serverQueue, q *turns, now time.Time) *multi {
	m := multis.Get().(*multi)
	m.server, m.turns, m.left = s, q, now
	return m
}

// part returns an empty part. It becomes the call's when it is appended to parts.
func (m *multi) part() *part {
	n := len(m.parts)
	if n == len(m.spare) {
		m.spare = append(m.spare, new(part))
	}
	return m.spare[n]
}

// recycle returns the call to its pool. No lane may be waiting for any of its parts.
func (m *multi) recycle() {
	for _, p := range m.parts {
		clear(p.entries)
		clear(p.heirs)
		*p = part{entries: p.entries[:0], heirs: p.heirs[:0]}
	}
	clear(m.parts)
	clear(m.outcomes)
	*m = multi{encoder: m.encoder, parts: m.parts[:0], spare: m.spare, outcomes: m.outcomes[:0]}
	multis.Put(m)
}

// send makes the call and ensures that every one of its mutations gets a result or returns to its lane.
func (w *Writer) send(m *multi) {
	server := m.parts[0].region.Server
	w.announceSend(m, server)
	r, err := w.env.Send(m.ctx, server, m.encoder)
	m.giveUp(nil)
	took := time.Since(m.left)
	m.read(server, r.Param, err)
	var dead bool
	for i := range m.outcomes {
		o := &m.outcomes[i]
		w.judge(o, m)
		dead = dead || o.cure.Dead
	}
	if dead {
		w.env.ForgetServer(server)
	}
	for i := range m.outcomes {
		w.announceRetry(&m.outcomes[i])
	}
	w.announceSent(m, server, took, err)
	w.mu.Lock()
	lost := w.finish(m, took)
	if dead {
		w.relocateAll(m.server)
	}
	w.dispatch(m.server)
	w.mu.Unlock()
	for i := range m.outcomes {
		w.report(&m.outcomes[i], took)
	}
	for _, e := range lost {
		w.settle([]entry{e}, failures([]entry{e}, remote.ErrClosed)...)
	}
	m.recycle()
}

// scratch is the memory for encoding and decoding a Multi, except for the frame.
type scratch struct {
	param     []byte
	cells     []byte // only used for compression
	mutations []wire.Mutation
	seen      []bool
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// encode writes the frame: the actions by region in the message, followed by the cells of all of them in the same order, copied unchanged
// from the batches.
func (m *multi) encode(dst []byte, c wire.Call) ([]byte, error) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	s.param = s.param[:0]
	size := 0
	for _, p := range m.parts {
		s.mutations = s.mutations[:0]
		for _, e := range p.entries {
			mu := &e.flight.batch.mutations[e.position()]
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

// finish frees what the call kept busy and returns to its lanes what was not applied. It returns what a closed client cannot take back. The
// caller holds w.mu.
func (w *Writer) finish(m *multi, took time.Duration) (lost []entry) {
	q := m.turns
	q.unanswered = slices.DeleteFunc(q.unanswered, func(o *multi) bool { return o == m })
	q.lanesOut -= len(m.parts)
	for i := range m.outcomes {
		o := &m.outcomes[i]
		if len(o.applied) > 0 {
			l := o.part.lane
			l.slow = m.server.pace.slow(took, l.slow && len(m.parts) == 1)
		}
		lost = append(lost, w.requeue(o)...)
	}
	if q == &m.server.shared || len(m.parts) == 1 && len(m.outcomes[0].applied) > 0 {
		m.server.pace.observe(took)
	}
	return lost
}

// relocateAll locates all lanes of a dead server again, so that none waits for a call that only fails again. What is unanswered returns by
// itself. The caller holds w.mu.
func (w *Writer) relocateAll(s *serverQueue) {
	for _, q := range []*turns{&s.shared, &s.alone} {
		for _, l := range q.ready {
			l.leave(ready)
		}
		clear(q.ready)
		q.ready = q.ready[:0]
	}
	for _, ls := range w.tables {
		for _, l := range ls.all {
			if l.region != nil && l.region.Server == s.addr {
				l.region = nil
				w.schedule(l)
			}
		}
	}
}
