package wire

import (
	"fmt"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// A request frame; a response has the same structure.
//
//	int32 n        length of what follows
//	├ varint, RequestHeader
//	├ varint, parameter        the method's message, if the header says so
//	└ cell block               as long as the header says

// Call is the client's part of a request header.
type Call struct {
	ID       uint32
	Method   string
	Timeout  uint32 // ms that the client will wait; 0: not set
	Priority uint32 // 0: not set
	Trace    []byte // encoded RPCTInfo; nil: none

	Compression Compression // of the connection
}

// AppendRequest appends a whole request frame.
func AppendRequest(dst []byte, c Call, param proto.Message, cells []byte) ([]byte, error) {
	cells, err := c.compress(cells)
	if err != nil {
		return nil, err
	}
	dst, start := beginFrame(dst)
	dst = appendRequestHeader(dst, c, len(cells))
	if dst, err = appendDelimited(dst, param); err != nil {
		return nil, fmt.Errorf("parameter of %s: %w", c.Method, err)
	}
	return endFrame(append(dst, cells...), start, 0)
}

// AppendEncodedRequest appends a whole request frame. param is the encoded message.
func AppendEncodedRequest(dst []byte, c Call, param, cells []byte) ([]byte, error) {
	cells, err := c.compress(cells)
	if err != nil {
		return nil, err
	}
	if dst, err = BeginRequest(dst, c, param, len(cells)); err != nil {
		return nil, err
	}
	return append(dst, cells...), nil
}

func (c Call) compress(cells []byte) ([]byte, error) {
	if c.Compression == None {
		return cells, nil
	}
	return c.Compression.Compress(nil, cells)
}

// BeginRequest appends a request frame up to its cell block, which is not compressed: the caller must append exactly cells more bytes.
// param is the encoded message.
func BeginRequest(dst []byte, c Call, param []byte, cells int) ([]byte, error) {
	dst, start := beginFrame(dst)
	dst = appendRequestHeader(dst, c, cells)
	dst = protowire.AppendBytes(dst, param)
	return endFrame(dst, start, cells)
}

// appendRequestHeader appends a delimited RequestHeader by its field numbers, without building a message: call_id 1, trace_info 2,
// method_name 3, request_param 4, cell_block_meta 5 { length 1 }, priority 6, timeout 7.
func appendRequestHeader(dst []byte, c Call, cells int) []byte {
	size := 1 + protowire.SizeVarint(uint64(c.ID)) + 1 + protowire.SizeBytes(len(c.Method)) + 2
	meta := 1 + protowire.SizeVarint(uint64(cells))
	if cells > 0 {
		size += 1 + protowire.SizeBytes(meta)
	}
	if len(c.Trace) > 0 {
		size += 1 + protowire.SizeBytes(len(c.Trace))
	}
	if c.Priority > 0 {
		size += 1 + protowire.SizeVarint(uint64(c.Priority))
	}
	if c.Timeout > 0 {
		size += 1 + protowire.SizeVarint(uint64(c.Timeout))
	}
	dst = protowire.AppendVarint(dst, uint64(size))
	dst = appendVarintField(dst, 1, uint64(c.ID))
	if len(c.Trace) > 0 {
		dst = appendBytesField(dst, 2, c.Trace)
	}
	dst = protowire.AppendTag(dst, 3, protowire.BytesType)
	dst = protowire.AppendString(dst, c.Method)
	dst = appendVarintField(dst, 4, 1)
	if cells > 0 {
		dst = protowire.AppendTag(dst, 5, protowire.BytesType)
		dst = protowire.AppendVarint(dst, uint64(meta))
		dst = appendVarintField(dst, 1, uint64(cells))
	}
	if c.Priority > 0 {
		dst = appendVarintField(dst, 6, uint64(c.Priority))
	}
	if c.Timeout > 0 {
		dst = appendVarintField(dst, 7, uint64(c.Timeout))
	}
	return dst
}

func appendVarintField(dst []byte, field protowire.Number, v uint64) []byte {
	dst = protowire.AppendTag(dst, field, protowire.VarintType)
	return protowire.AppendVarint(dst, v)
}

func appendBytesField(dst []byte, field protowire.Number, b []byte) []byte {
	dst = protowire.AppendTag(dst, field, protowire.BytesType)
	return protowire.AppendBytes(dst, b)
}

// Request is a request as decoded by a server. Param and Cells are views into the frame; Param is nil if there is none.
type Request struct {
	Header *hbasepb.RequestHeader
	Param  []byte
	Cells  []byte
}

// DecodeRequest decodes a frame without its length prefix.
func DecodeRequest(frame []byte) (Request, error) {
	head, rest, err := delimited(frame, "request header")
	if err != nil {
		return Request{}, err
	}
	r := Request{Header: new(hbasepb.RequestHeader)}
	if err := proto.Unmarshal(head, r.Header); err != nil {
		return Request{}, fmt.Errorf("%w: request header: %w", ErrMalformed, err)
	}
	if r.Header.GetRequestParam() {
		if r.Param, rest, err = delimited(rest, "parameter"); err != nil {
			return Request{}, err
		}
	}
	if n := uint64(r.Header.GetCellBlockMeta().GetLength()); n != uint64(len(rest)) {
		return Request{}, fmt.Errorf("%w: cell block of %d bytes announced, %d there", ErrMalformed, n, len(rest))
	}
	r.Cells = rest
	return r, nil
}
