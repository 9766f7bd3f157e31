//go:build !race

// The race detector allocates, and makes pools drop their contents.

package hbase

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"brine/hbase/internal/wire"
)

// quietConn is a connection to a server that acknowledges every Multi and allocates nothing once its buffers have grown: of a call, it
// reads only the id and the number of mutations of each region.
type quietConn struct {
	mu     sync.Mutex
	wake   *sync.Cond // guards everything below; signalled when it changes
	in     []byte     // written and not yet parsed
	out    []byte     // to be read
	read   int        // bytes of out already read
	param  []byte
	result []byte
	greet  bool // preamble and connection header have arrived
	closed bool
}

func newQuietConn() *quietConn {
	c := &quietConn{}
	c.wake = sync.NewCond(&c.mu)
	return c
}

func (c *quietConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	c.in = append(c.in, b...)
	rest := c.in
	if !c.greet {
		rest, c.greet = rest[wire.PreambleLen+wire.PrefixLen+int(binary.BigEndian.Uint32(rest[wire.PreambleLen:])):], true
	}
	for len(rest) >= wire.PrefixLen {
		n := wire.PrefixLen + int(binary.BigEndian.Uint32(rest))
		if len(rest) < n {
			break
		}
		c.answer(rest[wire.PrefixLen:n])
		rest = rest[n:]
	}
	c.in = c.in[:copy(c.in, rest)]
	c.wake.Broadcast()
	return len(b), nil
}

// answer appends an acknowledgement of all mutations of a Multi.
func (c *quietConn) answer(frame []byte) {
	header, n := protowire.ConsumeBytes(frame)
	id, _ := protowire.ConsumeVarint(header[1:]) // the first field of a RequestHeader is the call id
	request, _ := protowire.ConsumeBytes(frame[n:])
	c.param = c.param[:0]
	for len(request) > 0 { // MultiRequest.regionAction is field 1, and RegionAction.action field 3
		_, _, tag := protowire.ConsumeTag(request)
		region, n := protowire.ConsumeBytes(request[tag:])
		request = request[tag+n:]
		c.result = c.result[:0]
		for index := uint64(0); len(region) > 0; {
			number, kind, tag := protowire.ConsumeTag(region)
			n := protowire.ConsumeFieldValue(number, kind, region[tag:])
			region = region[tag+n:]
			if number != 3 {
				continue
			}
			// ResultOrException{index: 1, result: {} of field 2}
			c.result = protowire.AppendTag(c.result, 1, protowire.BytesType)
			c.result = protowire.AppendVarint(c.result, uint64(1+protowire.SizeVarint(index)+2))
			c.result = protowire.AppendVarint(append(c.result, 1<<3), index)
			c.result = append(c.result, 2<<3|2, 0)
			index++
		}
		c.param = protowire.AppendBytes(protowire.AppendTag(c.param, 1, protowire.BytesType), c.result)
	}
	start := len(c.out)
	c.out = append(c.out, 0, 0, 0, 0, byte(1+protowire.SizeVarint(id)), 1<<3)
	c.out = protowire.AppendVarint(c.out, id)
	c.out = protowire.AppendBytes(c.out, c.param)
	binary.BigEndian.PutUint32(c.out[start:], uint32(len(c.out)-start-wire.PrefixLen))
}

func (c *quietConn) Read(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.read == len(c.out) {
		if c.closed {
			return 0, io.EOF
		}
		c.wake.Wait()
	}
	n := copy(b, c.out[c.read:])
	if c.read += n; c.read == len(c.out) {
		c.out, c.read = c.out[:0], 0
	}
	return n, nil
}

func (c *quietConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.wake.Broadcast()
	return nil
}

func (*quietConn) LocalAddr() net.Addr              { return nil }
func (*quietConn) RemoteAddr() net.Addr             { return nil }
func (*quietConn) SetDeadline(time.Time) error      { return nil }
func (*quietConn) SetReadDeadline(time.Time) error  { return nil }
func (*quietConn) SetWriteDeadline(time.Time) error { return nil }

// turning is a connection to a peer that becomes a quiet one.
type turning struct {
	net.Conn
	quiet  *quietConn
	turned *atomic.Bool
}

func (c *turning) Write(b []byte) (int, error) {
	if c.turned.Load() {
		return c.quiet.Write(b)
	}
	return c.Conn.Write(b)
}

func (c *turning) Read(b []byte) (int, error) {
	if !c.turned.Load() {
		if n, err := c.Conn.Read(b); !c.turned.Load() {
			return n, err
		}
	}
	return c.quiet.Read(b)
}

func (c *turning) Close() error {
	return errors.Join(c.Conn.Close(), c.quiet.Close())
}

func (*turning) SetReadDeadline(time.Time) error  { return nil }
func (*turning) SetWriteDeadline(time.Time) error { return nil }

// quiet opens a client that has located all regions of a table, and whose region server is quiet from then on.
func quiet(t testing.TB) *Client {
	p := newPeer(t, sixteen()...)
	var turned atomic.Bool
	var conns []net.Conn
	var mu sync.Mutex
	opts := p.unhurried()
	opts.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := p.dial(ctx, network, addr)
		mu.Lock()
		defer mu.Unlock()
		conns = append(conns, conn)
		q := newQuietConn()
		q.greet = true // the peer has received it
		return &turning{conn, q, &turned}, err
	}
	c := p.open(opts)
	if failed := land(t, c, puts(append(sixteen(), "0")...)); failed != nil {
		t.Fatal(failed)
	}
	turned.Store(true)
	mu.Lock()
	defer mu.Unlock()
	for _, conn := range conns {
		conn.Close() // makes its readers switch to the quiet one
	}
	return c
}

// BenchmarkSubmitQuiet is BenchmarkSubmit with a peer that costs little and allocates nothing: the reported allocations are the client's.
func BenchmarkSubmitQuiet(b *testing.B) { benchmarkSubmit(b, quiet(b)) }

// A mutation allocates nothing once buffers have grown; the remaining allocations are per batch and call: a flight, a frame, goroutines.
func TestMutationsDoNotAllocate(t *testing.T) {
	const size, window = 500, 8
	c := quiet(t)
	var batches [window]*Batch
	for i := range batches {
		batches[i] = NewBatch("t")
		scanEvents(batches[i], size, i*size)
	}
	ctx := context.Background()
	round := func() {
		var flights [window]*Flight
		for i, b := range batches {
			flights[i] = c.Submit(ctx, b)
		}
		for _, f := range flights {
			if failed, err := f.Wait(ctx); err != nil || failed != nil {
				t.Fatal(failed, err)
			}
		}
	}
	for range 20 {
		round()
	}
	per := testing.AllocsPerRun(50, round) / (window * size)
	t.Logf("%.4f allocations per mutation", per)
	if per > 0.05 {
		t.Errorf("%.4f allocations per mutation, want at most 0.05", per)
	}
}
