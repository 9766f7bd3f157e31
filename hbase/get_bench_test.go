//go:build unix

package hbase

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// overTCP makes the peer answer on a socket, and returns the dial function for it.
func (p *peer) overTCP(serve func(net.Conn)) func(context.Context, string, string) (net.Conn, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	p.wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.mu.Lock()
			p.conns = append(p.conns, conn)
			p.mu.Unlock()
			p.wg.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	p.t.Cleanup(func() { l.Close() })
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, l.Addr().String())
	}
}

// quietGets answers each Get with the same row, without an allocation, and everything else like the peer.
func (p *peer) quietGets(conn net.Conn) {
	var cells []byte
	for _, q := range []string{"a", "b", "c", "d"} {
		cells = wire.AppendCell(cells, wire.Cell{Row: []byte("a"), Family: []byte("e"), Qualifier: []byte(q), Timestamp: 1, Type: Put,
			Value: bytes.Repeat([]byte("x"), 40)})
	}
	answer, err := wire.AppendResponse(nil, &hbasepb.ResponseHeader{CallId: proto.Uint32(1 << 28)}, // five bytes long
		&hbasepb.GetResponse{Result: &hbasepb.Result{AssociatedCellCount: proto.Int32(4)}}, cells)
	if err != nil {
		p.t.Error(err)
		return
	}
	r := bufio.NewReader(conn)
	w := bufio.NewWriter(conn)
	if _, err := io.CopyN(io.Discard, r, wire.PreambleLen); err != nil {
		return
	}
	if _, err := wire.ReadFrame(r, 1<<30); err != nil {
		return
	}
	for {
		if r.Buffered() == 0 && w.Flush() != nil {
			return
		}
		prefix, err := r.Peek(wire.PrefixLen)
		if err != nil {
			return
		}
		n := wire.PrefixLen + int(binary.BigEndian.Uint32(prefix))
		frame, err := r.Peek(n)
		if err != nil {
			return
		}
		header, _ := protowire.ConsumeBytes(frame[wire.PrefixLen:])
		id, k := protowire.ConsumeVarint(header[1:]) // call id, method
		if !bytes.HasPrefix(header[1+k:], []byte{3<<3 | 2, 3, 'G', 'e', 't'}) {
			req, err := wire.DecodeRequest(frame[wire.PrefixLen:])
			if err != nil {
				return
			}
			c := &peerCall{Request: req, method: req.Header.GetMethodName()}
			p.reply(w, new(sync.Mutex), c, p.ask(c))
		} else {
			for i := range 5 {
				answer[wire.PrefixLen+2+i] = byte(id>>(7*i))&0x7f | 0x80
			}
			answer[wire.PrefixLen+2+4] &= 0x7f
			_, _ = w.Write(answer)
		}
		_, _ = r.Discard(n)
	}
}

// processTime returns the CPU time of this process.
func processTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkGet reads single rows with four goroutines over one connection. The peer shares the process; it allocates nothing, and costs
// little more than its reads and writes of the socket.
func BenchmarkGet(b *testing.B) {
	p := newPeer(b)
	opts := p.unhurried()
	opts.Dial = p.overTCP(p.quietGets)
	c := p.open(opts)
	get := func(ctx context.Context, row []byte) {
		r, err := c.Get(ctx, "t", Get{Row: row})
		if err != nil || len(r.Cells) != 4 {
			b.Errorf("%d cells, %v", len(r.Cells), err)
		}
	}
	get(b.Context(), []byte("a"))
	b.ReportAllocs()
	cpu := processTime(b)
	b.ResetTimer()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			row := fmt.Appendf(nil, "row %d", w)
			for range b.N / 4 {
				get(b.Context(), row)
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(processTime(b)-cpu)/float64(b.N), "cpu-ns/op")
}
