package wire

import (
	"fmt"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// AppendResponse appends a whole response frame. param is nil beside an exception. The header's cell block length is set
// here, from cells.
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

// Response is a response as a client reads it. Param and Cells are views into the frame; Param is nil if there is none.
type Response struct {
	CallID    uint32
	Exception *hbasepb.ExceptionResponse // nil: none
	Param     []byte
	Cells     []byte
}

// DecodeResponse decodes a frame given without its length prefix. It allocates only for an exception.
func DecodeResponse(frame []byte) (Response, error) {
	head, rest, err := delimited(frame, "response header")
	if err != nil {
		return Response{}, err
	}
	r, cells, err := decodeResponseHeader(head)
	if err != nil {
		return Response{}, err
	}
	if cells > uint64(len(rest)) {
		return Response{}, fmt.Errorf("%w: cell block of %d bytes announced, %d there", ErrMalformed, cells, len(rest))
	}
	cut := len(rest) - int(cells)
	r.Cells = rest[cut:]
	if cut == 0 {
		return r, nil
	}
	param, tail, err := delimited(rest[:cut], "result")
	if err != nil {
		return Response{}, err
	}
	if len(tail) > 0 {
		return Response{}, fmt.Errorf("%w: %d bytes between result and cell block", ErrMalformed, len(tail))
	}
	r.Param = param
	return r, nil
}

// decodeResponseHeader reads call_id 1, exception 2, cell_block_meta 3.
func decodeResponseHeader(b []byte) (r Response, cells uint64, err error) {
	for len(b) > 0 {
		f, rest, err := nextField(b)
		if err != nil {
			return r, 0, err
		}
		b = rest
		switch {
		case f.is(1, protowire.VarintType):
			r.CallID = uint32(f.varint)
		case f.is(2, protowire.BytesType):
			if r.Exception, err = decodeExceptionResponse(f.bytes); err != nil {
				return r, 0, fmt.Errorf("exception: %w", err)
			}
		case f.is(3, protowire.BytesType):
			if cells, err = decodeCellBlockMeta(f.bytes); err != nil {
				return r, 0, err
			}
		}
	}
	return r, cells, nil
}

// MaxText is how much is kept of an exception's class, and of its message and stack.
const MaxText = 16 << 10

// clipped copies the beginning of a text.
func clipped(b []byte) string { return string(b[:min(len(b), MaxText)]) }

// decodeExceptionResponse reads exception_class_name 1, stack_trace 2, hostname 3, port 4, do_not_retry 5, server_overloaded 6.
func decodeExceptionResponse(b []byte) (*hbasepb.ExceptionResponse, error) {
	e := new(hbasepb.ExceptionResponse)
	for len(b) > 0 {
		f, rest, err := nextField(b)
		if err != nil {
			return nil, err
		}
		b = rest
		switch {
		case f.is(1, protowire.BytesType):
			e.ExceptionClassName = proto.String(clipped(f.bytes))
		case f.is(2, protowire.BytesType):
			e.StackTrace = proto.String(clipped(f.bytes))
		case f.is(3, protowire.BytesType):
			e.Hostname = proto.String(clipped(f.bytes))
		case f.is(4, protowire.VarintType):
			e.Port = proto.Int32(int32(f.varint))
		case f.is(5, protowire.VarintType):
			e.DoNotRetry = proto.Bool(f.varint != 0)
		case f.is(6, protowire.VarintType):
			e.ServerOverloaded = proto.Bool(f.varint != 0)
		}
	}
	return e, nil
}

func decodeCellBlockMeta(b []byte) (length uint64, err error) {
	for len(b) > 0 {
		f, rest, err := nextField(b)
		if err != nil {
			return 0, err
		}
		b = rest
		if f.is(1, protowire.VarintType) {
			length = uint64(uint32(f.varint))
		}
	}
	return length, nil
}

// field is one field of an encoded message: bytes for a nested message, string or bytes, varint for numbers.
type field struct {
	number protowire.Number
	typ    protowire.Type
	varint uint64
	bytes  []byte
}

func (f *field) is(n protowire.Number, t protowire.Type) bool { return f.number == n && f.typ == t }

// nextField cuts the first field off an encoded message. Fields of types that HBase does not use are skipped whole.
func nextField(b []byte) (f field, rest []byte, err error) {
	number, typ, n := protowire.ConsumeTag(b)
	if n < 0 {
		return f, nil, fmt.Errorf("%w: %w", ErrMalformed, protowire.ParseError(n))
	}
	f.number, f.typ = number, typ
	b = b[n:]
	switch typ {
	case protowire.VarintType:
		f.varint, n = protowire.ConsumeVarint(b)
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(b)
	default:
		n = protowire.ConsumeFieldValue(number, typ, b)
	}
	if n < 0 {
		return f, nil, fmt.Errorf("%w: field %d: %w", ErrMalformed, number, protowire.ParseError(n))
	}
	return f, b[n:], nil
}
