package embedded

import (
	"context"
	"sync"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// procedureMethods return the results of the master's procedures: getProcedureResult.
//
// What they do not do:
//   - a procedure is done when the call that began it is answered, except for a split or a merge, which is answered once it has begun;
//   - at most the last 10,000 procedures of this run are remembered; a procedure goes on when the master is killed;
//   - procedures and locks cannot be listed or aborted.
var procedureMethods = map[string]method{
	"MasterService.getProcedureResult": on(getProcedureResult),
}

// procedures are the master's changes of the catalogue. Each runs in its own goroutine, so that it completes even if the call that began it
// is gone; clients fetch its result by its id. A change sent again with the same nonce is the same procedure, unless that one failed.
type procedures struct {
	mu     sync.Mutex
	last   uint64
	all    map[uint64]*procedure
	nonces map[nonce]uint64
}

type procedure struct {
	id      uint64
	started int64         // ms
	begun   chan struct{} // closed when all checks have passed
	done    chan struct{} // closed at the end; the fields below may then be read
	ended   int64
	err     error
}

type nonce struct{ group, nonce uint64 }

// keptProcedures limits the number of procedures remembered.
const keptProcedures = 10_000

// changes runs f as the only change of the catalogue and returns its procedure's id when f is done. An error of f is returned at once, as
// HBase does for checks that it makes before it begins.
func (c *cluster) changes(ctx context.Context, group, number uint64, f func() error) (*uint64, error) {
	return c.begins(ctx, group, number, func(func()) error {
		c.change.Lock()
		defer c.change.Unlock()
		return f()
	})
}

// begins runs f as a procedure and returns its id once f is done or has called begun. In the latter case getProcedureResult returns how it
// ended.
func (c *cluster) begins(ctx context.Context, group, number uint64, f func(begun func()) error) (*uint64, error) {
	p := c.procs.submit(c, nonce{group, number}, f)
	select {
	case <-p.begun:
	case <-p.done:
		if p.err != nil {
			return nil, p.err
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return &p.id, nil
}

// submit begins a procedure, or returns the one with that nonce.
func (ps *procedures) submit(c *cluster, key nonce, f func(begun func()) error) *procedure {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if id, again := ps.nonces[key]; again && key.nonce != 0 {
		return ps.all[id]
	}
	if len(ps.all) >= keptProcedures || ps.all == nil {
		ps.all, ps.nonces = make(map[uint64]*procedure), make(map[nonce]uint64)
	}
	ps.last++
	p := &procedure{id: ps.last, started: c.now(), begun: make(chan struct{}), done: make(chan struct{})}
	ps.all[p.id], ps.nonces[key] = p, p.id
	c.wg.Go(func() {
		err := f(sync.OnceFunc(func() { close(p.begun) }))
		ps.mu.Lock()
		defer ps.mu.Unlock()
		if err != nil {
			delete(ps.nonces, key)
		}
		p.err, p.ended = err, c.now()
		close(p.done)
	})
	return p
}

func getProcedureResult(_ context.Context, k *call, q *hbasepb.GetProcedureResultRequest) (*hbasepb.GetProcedureResultResponse, error) {
	ps := &k.node.cluster.procs
	ps.mu.Lock()
	p := ps.all[q.GetProcId()]
	ps.mu.Unlock()
	if p == nil {
		return &hbasepb.GetProcedureResultResponse{State: hbasepb.GetProcedureResultResponse_NOT_FOUND.Enum()}, nil
	}
	response := &hbasepb.GetProcedureResultResponse{SubmittedTime: proto.Uint64(uint64(p.started))}
	select {
	case <-p.done:
	default:
		response.State = hbasepb.GetProcedureResultResponse_RUNNING.Enum()
		return response, nil
	}
	response.State, response.LastUpdate = hbasepb.GetProcedureResultResponse_FINISHED.Enum(), proto.Uint64(uint64(p.ended))
	if p.err != nil {
		e := asException(p.err)
		response.Exception = &hbasepb.ForeignExceptionMessage{
			Source:           proto.String("master"),
			GenericException: &hbasepb.GenericExceptionMessage{ClassName: &e.Class, Message: &e.Message},
		}
	}
	return response, nil
}
