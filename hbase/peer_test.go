package hbase

import (
	"bufio"
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/locate"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/wire"

	"google.golang.org/protobuf/proto"
)

// peer is a scripted cluster of one server without a socket. Requests go to answer, and to the well-behaved defaults below if that returns
// nil. It has one table, "t", with as many regions as splits make.
type peer struct {
	t      testing.TB
	splits []string
	answer func(*peerCall) *reply // may be nil
	opened uint64                 // sequence number of the regions' opening, 2 if zero; guarded by mu
	// moved has, by region name, the addresses in hbase:meta that are not peerAddr; the peer answers there too. Empty: on no server; noRow:
	// no row. Guarded by mu.
	moved   map[string]string
	damaged map[int]bool // regions whose rows in hbase:meta cannot be read; guarded by mu

	mu    sync.Mutex
	calls []string // methods, in order of arrival
	rows  []string // of the mutations of answered Multis, in order
	cells []int32  // number of cells of each of them
	wg    sync.WaitGroup
	conns []net.Conn
}

type peerCall struct {
	wire.Request
	method string
	nth    int // number of this call among those of its method, from 0
}

// multi decodes a Multi.
func (c *peerCall) multi() *hbasepb.MultiRequest {
	m := new(hbasepb.MultiRequest)
	if err := proto.Unmarshal(c.Param, m); err != nil {
		panic(err)
	}
	return m
}

// reply is an answer. With silent or drop there is none, apart from raw before the connection ends.
type reply struct {
	exception *hbasepb.ExceptionResponse
	param     proto.Message
	cells     []byte
	raw       []byte // instead of a frame
	silent    bool
	drop      bool
	after     <-chan struct{}
}

func exception(class, text string) *reply {
	return &reply{exception: &hbasepb.ExceptionResponse{
		ExceptionClassName: proto.String(remote.Package + class), StackTrace: proto.String(text),
	}}
}

const peerAddr = "peer.example:16000"

func newPeer(t testing.TB, splits ...string) *peer {
	p := &peer{t: t, splits: splits}
	t.Cleanup(p.stop)
	return p
}

func (p *peer) stop() {
	p.mu.Lock()
	conns := p.conns
	p.mu.Unlock()
	for _, c := range conns {
		c.Close()
	}
	p.wg.Wait()
}

func (p *peer) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = append(p.conns, server)
	p.wg.Go(func() {
		defer server.Close()
		p.serve(server)
	})
	return client, nil
}

// options returns options for a test in a synctest bubble.
func (p *peer) options() Options {
	return Options{
		Connect: "rpc://" + peerAddr, User: "test", Dial: p.dial,
		Pause: time.Millisecond, PauseServerOverloaded: 2 * time.Millisecond, Retries: 3,
		RPCTimeout: 2 * time.Second, OperationTimeout: 4 * time.Second, ScannerTimeout: 2 * time.Second,
	}
}

// unhurried returns options for a test by the machine's clock, in which no call of a machine that stands still for a while times out.
func (p *peer) unhurried() Options {
	o := p.options()
	o.RPCTimeout, o.OperationTimeout, o.ScannerTimeout = 0, 0, 0 // the defaults
	return o
}

// open opens a client that is closed at the end of the test.
func (p *peer) open(opts Options) *Client {
	p.t.Helper()
	c, err := Open(context.Background(), opts)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { c.Close() })
	return c
}

// serve answers requests one after the other, except for those that wait.
func (p *peer) serve(conn net.Conn) {
	r := bufio.NewReader(conn)
	if _, err := io.CopyN(io.Discard, r, wire.PreambleLen); err != nil {
		return
	}
	if _, err := wire.ReadFrame(r, 1<<30); err != nil {
		return
	}
	var write sync.Mutex
	for {
		frame, err := wire.ReadFrame(r, 1<<30)
		if err != nil {
			return
		}
		req, err := wire.DecodeRequest(frame)
		if err != nil {
			p.t.Errorf("peer: %v", err)
			return
		}
		c := &peerCall{Request: req, method: req.Header.GetMethodName()}
		reply := p.ask(c)
		switch {
		case reply.drop && reply.raw != nil:
			p.reply(conn, &write, c, reply)
			return
		case reply.drop:
			return
		case reply.silent:
			continue
		case reply.after == nil:
			p.reply(conn, &write, c, reply)
		default:
			p.wg.Go(func() {
				<-reply.after
				p.reply(conn, &write, c, reply)
			})
		}
	}
}

func (p *peer) reply(conn io.Writer, write *sync.Mutex, c *peerCall, r *reply) {
	write.Lock()
	defer write.Unlock()
	b := r.raw
	if b == nil {
		h := &hbasepb.ResponseHeader{CallId: c.Header.CallId, Exception: r.exception}
		var err error
		if b, err = wire.AppendResponse(nil, h, r.param, r.cells); err != nil {
			p.t.Errorf("peer: %v", err)
		}
	}
	_, _ = conn.Write(b) // a client that has gone does not read
}

// mostCalls is more than any test makes. In a synctest bubble, no deadline ends a client that calls again without a pause.
const mostCalls = 200_000

func (p *peer) ask(c *peerCall) *reply {
	p.mu.Lock()
	for _, m := range p.calls {
		if m == c.method {
			c.nth++
		}
	}
	p.calls = append(p.calls, c.method)
	over := len(p.calls) > mostCalls
	p.mu.Unlock()
	if over {
		panic("a client that asks without end: stopped before its calls fill the memory")
	}
	if p.answer != nil {
		if r := p.answer(c); r != nil {
			return r
		}
	}
	return p.tame(c)
}

func (p *peer) tame(c *peerCall) *reply {
	server := &hbasepb.ServerName{HostName: proto.String("peer.example"), Port: proto.Uint32(16000), StartCode: proto.Uint64(1)}
	switch c.method {
	case "GetActiveMaster":
		return &reply{param: &hbasepb.GetActiveMasterResponse{ServerName: server}}
	case "GetMetaRegionLocations":
		info := &hbasepb.RegionInfo{RegionId: proto.Uint64(1), TableName: locate.TableName(locate.MetaTable)}
		return &reply{param: &hbasepb.GetMetaRegionLocationsResponse{MetaLocations: []*hbasepb.RegionLocation{
			{RegionInfo: info, ServerName: server, SeqNum: proto.Int64(1)},
		}}}
	case "Scan":
		return p.scanMeta(c)
	case "Get":
		return &reply{param: &hbasepb.GetResponse{}}
	case "Multi":
		return p.multi(c)
	}
	return exception("DoNotRetryIOException", "the peer does not know "+c.method)
}

func (p *peer) multi(c *peerCall) *reply {
	m := c.multi()
	for _, ra := range m.RegionAction {
		p.note(ra)
	}
	return &reply{param: acknowledgement(m)}
}

// acknowledgement returns the answer to a Multi that was applied.
func acknowledgement(m *hbasepb.MultiRequest) *hbasepb.MultiResponse {
	out := new(hbasepb.MultiResponse)
	for _, ra := range m.RegionAction {
		result := new(hbasepb.RegionActionResult)
		for _, a := range ra.Action {
			result.ResultOrException = append(result.ResultOrException, applied(a.GetIndex()))
		}
		out.RegionActionResult = append(out.RegionActionResult, result)
	}
	return out
}

func applied(i uint32) *hbasepb.ResultOrException {
	return &hbasepb.ResultOrException{Index: &i, Result: new(hbasepb.Result)}
}

func failedWith(i uint32, class, text string) *hbasepb.ResultOrException {
	return &hbasepb.ResultOrException{Index: &i, Exception: &hbasepb.NameBytesPair{Name: proto.String(remote.Package + class), Value: []byte(text)}}
}

// appliedRows returns the rows of all mutations that the default answer acknowledged, in order.
func (p *peer) appliedRows() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.rows...)
}

// puts returns a batch with a put of each row.
func puts(rows ...string) *Batch {
	b := NewBatch("t")
	for i, r := range rows {
		b.Mutate([]byte(r))
		b.Put([]byte("e"), []byte("q"), int64(i+1), []byte("value of "+r))
	}
	return b
}

// land submits a batch and waits for it.
func land(t testing.TB, c *Client, b *Batch) []MutationError {
	t.Helper()
	failed, err := c.Submit(t.Context(), b).Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return failed
}

// lookAfter is the interval at which the client checks whether a region that fails, or whose call stays unanswered, is open elsewhere.
const lookAfter = time.Second
