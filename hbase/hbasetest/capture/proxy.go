package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// proxy forwards connections and records their frames. Each connection has two goroutines, one per direction; they end with the connection,
// or at the latest with the program.
type proxy struct {
	recorder recorder
	swap     *strings.Replacer // applied to servers' messages: replaces their ports with the proxy's

	mu  sync.Mutex
	err error // the first one
}

// newSwap returns a replacer of the ports with which a server names itself: as a protobuf field (tag 2, varint) and as host:port in
// hbase:meta. The ports' varints have three bytes each, and their decimals five digits, so no length in the frame changes.
func newSwap(pairs ...[2]string) *strings.Replacer {
	var words []string
	for _, pair := range pairs {
		words = append(words, field(port(pair[0])), field(port(pair[1])), ":"+port(pair[0]), ":"+port(pair[1]))
	}
	return strings.NewReplacer(words...)
}

func port(addr string) string { return addr[strings.LastIndexByte(addr, ':')+1:] }

func field(port string) string {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n < 1<<14 {
		panic("a port of five digits above 16383 is needed, not " + port)
	}
	return string(protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), n))
}

func (p *proxy) serve(l net.Listener, server string) {
	for {
		client, err := l.Accept()
		if err != nil {
			return // the listener was closed because the command has ended
		}
		upstream, err := net.DialTimeout("tcp", server, 5*time.Second)
		if err != nil {
			p.fail(err)
			client.Close()
			continue
		}
		methods := &sync.Map{} // call id → method
		go p.requests(client, upstream, methods)
		go p.responses(upstream, client, methods)
	}
}

// requests forwards the preamble, the connection header and then request frames.
func (p *proxy) requests(client, server net.Conn, methods *sync.Map) {
	defer server.Close()
	preamble := make([]byte, 6)
	if _, err := io.ReadFull(client, preamble); err != nil {
		return
	}
	opening := preamble
	if string(preamble[:4]) == "HBas" { // other preambles are not followed by a header
		header, err := readFrame(client)
		if err != nil {
			return
		}
		opening = append(opening, header...)
	}
	p.fail(p.recorder.write("connection", "open", opening))
	if _, err := server.Write(opening); err != nil {
		return
	}
	for {
		frame, err := readFrame(client)
		if err != nil {
			return
		}
		id, method := requestHeader(frame[4:])
		methods.Store(id, method)
		p.fail(p.recorder.write(method, "request", frame))
		if _, err := server.Write(frame); err != nil {
			return
		}
	}
}

func (p *proxy) responses(server, client net.Conn, methods *sync.Map) {
	defer client.Close()
	for {
		frame, err := readFrame(server)
		if err != nil {
			return
		}
		id, _ := requestHeader(frame[4:]) // the call id is field 1 of both headers
		method, known := methods.LoadAndDelete(id)
		if !known {
			method = "preamble"
		}
		p.fail(p.recorder.write(fmt.Sprint(method), "response", frame))
		if _, err := client.Write([]byte(p.swap.Replace(string(frame)))); err != nil {
			return
		}
	}
}

func (p *proxy) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}

func (p *proxy) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// readFrame reads a frame with its length prefix.
func readFrame(r io.Reader) ([]byte, error) {
	frame := make([]byte, 4)
	if _, err := io.ReadFull(r, frame); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(frame)
	if n > 64<<20 {
		return nil, errors.New("frame of more than 64 MiB")
	}
	frame = append(frame, make([]byte, n)...)
	_, err := io.ReadFull(r, frame[4:])
	return frame, err
}

// requestHeader returns the call id (field 1) and the method (field 3) of a frame without its length prefix.
func requestHeader(frame []byte) (id uint64, method string) {
	header, _ := protowire.ConsumeBytes(frame)
	for len(header) > 0 {
		number, kind, n := protowire.ConsumeTag(header)
		if n < 0 {
			break
		}
		size := protowire.ConsumeFieldValue(number, kind, header[n:])
		if size < 0 {
			break
		}
		switch {
		case number == 1 && kind == protowire.VarintType:
			id, _ = protowire.ConsumeVarint(header[n:])
		case number == 3 && kind == protowire.BytesType:
			b, _ := protowire.ConsumeBytes(header[n:])
			method = string(bytes.Clone(b))
		}
		header = header[n+size:]
	}
	return id, method
}

// recorder writes each frame to a file of its own, numbered in the order seen.
type recorder struct {
	dir string
	mu  sync.Mutex
	n   int
}

func (r *recorder) write(method, kind string, frame []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	return os.WriteFile(filepath.Join(r.dir, fmt.Sprintf("%03d.%s.%s", r.n, method, kind)), frame, 0o600)
}
