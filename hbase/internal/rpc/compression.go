package rpc

import (
	"fmt"
	"net"
	"strings"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/wire"
)

// packing returns the compression of cell blocks on a service's connections. Only ClientService has any.
func (o *Options) packing(service Service) wire.Compression {
	if service != ClientService {
		return wire.None
	}
	return o.Compression
}

// expand returns the cell block of an answer uncompressed.
func (c *conn) expand(cells []byte) ([]byte, error) {
	cells, err := c.packing.Expand(cells, c.opts.MaxAnswerBytes)
	if err != nil {
		return nil, remote.Invalid(c.addr, err)
	}
	return cells, nil
}

const unsupportedCodec = remote.Package + "ipc.UnsupportedCompressionCodecException"

// maxProbeAnswer exceeds the size of the answer to a probe, an exception with its stack.
const maxProbeAnswer = 1 << 20

// probe makes the server expand a cell block that belongs to nothing before the connection is used. A server that knows a codec's name but
// lacks its library accepts the connection all the same; it would later answer writes with misleading exceptions, and reads not at all.
func probe(socket net.Conn, addr string, c wire.Compression) error {
	if c == wire.None {
		return nil
	}
	cell := wire.AppendCell(nil, wire.Cell{Row: []byte("probe")})
	request, err := wire.AppendRequest(nil, wire.Call{ID: 1, Method: "Multi", Compression: c}, &hbasepb.MultiRequest{}, cell)
	if err != nil {
		return err
	}
	if _, err := socket.Write(request); err != nil {
		return fmt.Errorf("handshake: %w", err)
	}
	frame, err := wire.ReadFrame(socket, maxProbeAnswer)
	if err != nil {
		return fmt.Errorf("handshake: %w", err)
	}
	answer, err := wire.DecodeResponse(frame)
	if err != nil || answer.Exception == nil {
		return err
	}
	return probeError(remote.NewException(addr, answer.Exception), c)
}

// probeError distinguishes a server that lacks the codec from one that fails for another reason.
func probeError(e *remote.Exception, c wire.Compression) error {
	text, _, _ := strings.Cut(e.Text, "\n")
	if e.Class != unsupportedCodec && !strings.Contains(text, "unable to read call parameter") {
		return e
	}
	if _, cause, ok := strings.Cut(text, "; "); ok {
		text = cause
	}
	return &remote.Exception{Server: e.Server, Class: unsupportedCodec, DoNotRetry: true, Text: fmt.Sprintf(
		"it cannot compress cell blocks with %s (%s): set hbase.compression to none or to a codec that all region servers have, "+
			"or install the codec's library on them", c, text)}
}
