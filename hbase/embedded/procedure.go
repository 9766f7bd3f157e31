package embedded

import (
	"context"
	"sync"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// procedures are the master's changes of the catalogue. Each is done, or has failed, when the call that began it is
// answered; its result is asked for afterwards by its id. A change asked for again with the same nonce is the same one.
type procedures struct {
	mu     sync.Mutex
	last   uint64
	done   map[uint64]int64 // id → when
	nonces map[nonce]uint64
}

type nonce struct{ group, nonce uint64 }

// keptProcedures bounds what is remembered.
const keptProcedures = 10_000

// change runs f as the only change of the catalogue and gives its procedure id. A failure is answered at once, as HBase
// does for what it can check before it begins.
func (c *cluster) changes(group, number uint64, f func() error) (*uint64, error) {
	c.change.Lock()
	defer c.change.Unlock()
	p := &c.procs
	key := nonce{group, number}
	p.mu.Lock()
	id, again := p.nonces[key]
	p.mu.Unlock()
	if again && number != 0 {
		return &id, nil
	}
	if err := f(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.done) >= keptProcedures || p.done == nil {
		p.done, p.nonces = make(map[uint64]int64), make(map[nonce]uint64)
	}
	p.last++
	id = p.last
	p.done[id] = c.now()
	p.nonces[key] = id
	return &id, nil
}

func getProcedureResult(_ context.Context, k *call, q *hbasepb.GetProcedureResultRequest) (*hbasepb.GetProcedureResultResponse, error) {
	p := &k.node.cluster.procs
	p.mu.Lock()
	defer p.mu.Unlock()
	when, ok := p.done[q.GetProcId()]
	if !ok {
		return &hbasepb.GetProcedureResultResponse{State: hbasepb.GetProcedureResultResponse_NOT_FOUND.Enum()}, nil
	}
	return &hbasepb.GetProcedureResultResponse{
		State: hbasepb.GetProcedureResultResponse_FINISHED.Enum(), SubmittedTime: proto.Uint64(uint64(when)), LastUpdate: proto.Uint64(uint64(when)),
	}, nil
}
