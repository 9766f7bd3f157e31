package wire

import (
	"bufio"
	"bytes"
	"fmt"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// AppendResponse appends a whole response frame. param is nil if there is an exception. AppendResponse sets the cell block length in the
// header from cells.
func AppendResponse(dst []byte, h *hbasepb.ResponseHeader, param proto.Message, cells []byte) ([]byte, error) {
	if len(cells) > 0 {
		h.CellBlockMeta = &hbasepb.CellBlockMeta{Length: proto.Uint32(uint32(len(cells)))}
	}
	dst, start := beginFrame(dst)
	dst, err := appendDelimited(dst, h)
	if err != nil {
		return nil, fmt.Errorf("response header: %w", err)
	}
	if param != nil {
		if dst, err = appendDelimited(dst, param); err != nil {
			return nil, fmt.Errorf("result: %w", err)
		}
	}
	return endFrame(append(dst, cells...), start, 0)
}

// Response is a response as decoded by a client. Param and Cells are views into the frame; Param is nil if there is none.
type Response struct {
	CallID    uint32
	Exception *hbasepb.ExceptionResponse // nil: none
	Param     []byte
	Cells     []byte
}

// ResponseHeader is the part of a response that precedes the result.
type ResponseHeader struct {
	CallID    uint32
	Exception *hbasepb.ExceptionResponse // nil: none
	Rest      int                        // bytes of the frame after the header
	cells     uint64                     // of these, bytes of the cell block
}

// MaxText is the number of bytes kept of an exception's class, and of its message and stack.
const MaxText = 16 << 10

// ReadResponseHeader reads the header of a response whose frame has n bytes. It never has more than MaxText of each of an exception's texts
// in memory, however long they are. It allocates only for an exception.
func ReadResponseHeader(in *bufio.Reader, n int) (ResponseHeader, error) {
	frame := message{in, n}
	head, err := frame.nested()
	if err != nil {
		return ResponseHeader{}, fmt.Errorf("response header: %w", err)
	}
	h := ResponseHeader{Rest: frame.left}
	if err := h.read(&head); err != nil {
		return ResponseHeader{}, fmt.Errorf("response header: %w", err)
	}
	if h.cells > uint64(h.Rest) {
		return ResponseHeader{}, fmt.Errorf("%w: cell block of %d bytes announced, %d there", ErrMalformed, h.cells, h.Rest)
	}
	return h, nil
}

// read decodes call_id 1, exception 2, cell_block_meta 3.
func (h *ResponseHeader) read(m *message) error {
	for m.left > 0 {
		tag, err := m.tag()
		if err != nil {
			return err
		}
		switch tag {
		case tagOf(1, protowire.VarintType):
			var v uint64
			v, err = m.varint()
			h.CallID = uint32(v)
		case tagOf(2, protowire.BytesType):
			h.Exception, err = readException(m, h.Exception)
		case tagOf(3, protowire.BytesType):
			h.cells, err = readCellBlockMeta(m, h.cells)
		default:
			err = m.skip(tag)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readException decodes exception_class_name 1, stack_trace 2, hostname 3, port 4, do_not_retry 5, server_overloaded 6, and merges them
// into e if it is not nil.
func readException(in *message, e *hbasepb.ExceptionResponse) (*hbasepb.ExceptionResponse, error) {
	m, err := in.nested()
	if err != nil {
		return nil, err
	}
	if e == nil {
		e = new(hbasepb.ExceptionResponse)
	}
	for m.left > 0 {
		tag, err := m.tag()
		if err != nil {
			return nil, err
		}
		var v uint64
		switch tag {
		case tagOf(1, protowire.BytesType):
			e.ExceptionClassName, err = m.text()
		case tagOf(2, protowire.BytesType):
			e.StackTrace, err = m.text()
		case tagOf(3, protowire.BytesType):
			e.Hostname, err = m.text()
		case tagOf(4, protowire.VarintType):
			v, err = m.varint()
			e.Port = proto.Int32(int32(v))
		case tagOf(5, protowire.VarintType):
			v, err = m.varint()
			e.DoNotRetry = proto.Bool(v != 0)
		case tagOf(6, protowire.VarintType):
			v, err = m.varint()
			e.ServerOverloaded = proto.Bool(v != 0)
		default:
			err = m.skip(tag)
		}
		if err != nil {
			return nil, fmt.Errorf("exception: %w", err)
		}
	}
	return e, nil
}

// readCellBlockMeta decodes length 1, or returns length unchanged if there is none.
func readCellBlockMeta(in *message, length uint64) (uint64, error) {
	m, err := in.nested()
	for err == nil && m.left > 0 {
		var tag uint64
		if tag, err = m.tag(); err != nil {
			break
		}
		if tag != tagOf(1, protowire.VarintType) {
			err = m.skip(tag)
			continue
		}
		length, err = m.varint()
		length = uint64(uint32(length))
	}
	return length, err
}

// Response returns the response with header h whose Rest bytes are body.
func (h *ResponseHeader) Response(body []byte) (Response, error) {
	cut := len(body) - int(h.cells)
	r := Response{CallID: h.CallID, Exception: h.Exception, Cells: body[cut:]}
	if cut == 0 {
		return r, nil
	}
	param, tail, err := delimited(body[:cut], "result")
	if err != nil {
		return Response{}, err
	}
	if len(tail) > 0 {
		return Response{}, fmt.Errorf("%w: %d bytes between result and cell block", ErrMalformed, len(tail))
	}
	r.Param = param
	return r, nil
}

// DecodeResponse decodes a frame without its length prefix.
func DecodeResponse(frame []byte) (Response, error) {
	h, err := ReadResponseHeader(bufio.NewReaderSize(bytes.NewReader(frame), 0), len(frame))
	if err != nil {
		return Response{}, err
	}
	return h.Response(frame[len(frame)-h.Rest:])
}
