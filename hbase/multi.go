package hbase

import (
	"fmt"
	"sync"
	"time"

	"brine/hbase/internal/wire"
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
