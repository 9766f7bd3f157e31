package wire

import (
	"slices"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/encoding/protowire"
)

// AppendGet appends an encoded hbasepb.Get of columns of a row. No columns means all; otherwise each must have a family. The time range is
// [from, to); both 0 means all. The bytes are the same as from hbasepb:
//
//	Get { row 1, column 2: { family 1, qualifier 2 … } …, time_range 5: { from 1, to 2 }, max_versions 6 }
func AppendGet(dst, row []byte, columns []*hbasepb.Column, versions uint32, from, to int64) []byte {
	dst = appendBytesField(dst, 1, row)
	for _, c := range columns {
		size := 1 + protowire.SizeBytes(len(c.Family))
		for _, q := range c.Qualifier {
			size += 1 + protowire.SizeBytes(len(q))
		}
		dst = appendMessageHead(dst, 2, size)
		dst = appendBytesField(dst, 1, c.Family)
		for _, q := range c.Qualifier {
			dst = appendBytesField(dst, 2, q)
		}
	}
	if from != 0 || to != 0 {
		dst = appendMessageHead(dst, 5, 1+protowire.SizeVarint(uint64(from))+1+protowire.SizeVarint(uint64(to)))
		dst = appendVarintField(dst, 1, uint64(from))
		dst = appendVarintField(dst, 2, uint64(to))
	}
	return appendVarintField(dst, 6, uint64(versions))
}

// AppendGetRequest appends a whole request frame of one get, an encoded hbasepb.Get. The bytes are the same as from hbasepb:
//
//	GetRequest { region 1: { type 1: REGION_NAME, value 2 }, get 2 }
func AppendGetRequest(dst []byte, c Call, region, get []byte) ([]byte, error) {
	dst, start := beginFrame(dst)
	dst = appendRequestHeader(dst, c, 0)
	dst = protowire.AppendVarint(dst, uint64(regionSize(region)+1+protowire.SizeBytes(len(get))))
	dst = appendSpecifier(dst, region)
	return endFrame(appendBytesField(dst, 2, get), start, 0)
}

// AppendRegionGets appends one region's gets, in order, to an encoded MultiRequest, with at most one allocation. Get i, an encoded
// hbasepb.Get, ends at ends[i] of gets, and becomes action i. The bytes are the same as from hbasepb:
//
//	MultiRequest { regionAction 1: {
//	    region 1: { type 1: REGION_NAME, value 2 }
//	    action 3: { index 1, get 3 } … } }
func AppendRegionGets(dst, region, gets []byte, ends []int) []byte {
	size, from := regionSize(region), 0
	for i, end := range ends {
		size += 1 + protowire.SizeBytes(getSize(i, end-from))
		from = end
	}
	dst = appendRegion(slices.Grow(dst, 1+protowire.SizeBytes(size)), region, size)
	from = 0
	for i, end := range ends {
		dst = appendMessageHead(dst, 3, getSize(i, end-from))
		dst = appendVarintField(dst, 1, uint64(i))
		dst = appendBytesField(dst, 3, gets[from:end])
		from = end
	}
	return dst
}

// getSize is the size of an action of a get.
func getSize(i, get int) int {
	return 1 + protowire.SizeVarint(uint64(i)) + 1 + protowire.SizeBytes(get)
}

// regionSize is the size of the specifier of a region as a field.
func regionSize(region []byte) int { return 1 + protowire.SizeBytes(specifierSize(region)) }

func specifierSize(region []byte) int { return 2 + 1 + protowire.SizeBytes(len(region)) }

// appendRegion appends the head of a regionAction of that size, and the specifier of its region.
func appendRegion(dst, region []byte, size int) []byte {
	return appendSpecifier(appendMessageHead(dst, 1, size), region)
}

// appendSpecifier appends the specifier of a region as field 1.
func appendSpecifier(dst, region []byte) []byte {
	dst = appendMessageHead(dst, 1, specifierSize(region))
	dst = appendVarintField(dst, 1, uint64(hbasepb.RegionSpecifier_REGION_NAME))
	return appendBytesField(dst, 2, region)
}

// ResultHead is what an encoded hbasepb.Result says besides its cells.
type ResultHead struct {
	Cells  int  // associated_cell_count (2): how many cells of the cell block are the result's
	Stale  bool // stale (4)
	Inline bool // the message itself holds cells (1)
}

// DecodeResultHead decodes a Result.
func DecodeResultHead(b []byte) (h ResultHead, err error) {
	for len(b) > 0 {
		var f field
		if f, b, err = nextField(b); err != nil {
			return h, err
		}
		switch {
		case f.is(1, protowire.BytesType):
			h.Inline = true
		case f.is(2, protowire.VarintType):
			h.Cells = int(int32(f.varint))
		case f.is(4, protowire.VarintType):
			h.Stale = f.varint != 0
		}
	}
	return h, nil
}

// DecodeGetResponse decodes an encoded hbasepb.GetResponse, whose result is field 1; without one, the head is zero. It returns false, so
// that hbasepb decodes the message or says what is wrong with it, if the message is not what servers usually send: cells in the message,
// several results, unknown fields, damage.
func DecodeGetResponse(b []byte) (h ResultHead, ok bool) {
	if len(b) == 0 {
		return h, true
	}
	f, rest, err := nextField(b)
	if err != nil || len(rest) > 0 || !f.is(1, protowire.BytesType) {
		return h, false
	}
	h, err = DecodeResultHead(f.bytes)
	return h, err == nil && !h.Inline
}
