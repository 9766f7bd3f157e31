package wire

import (
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/encoding/protowire"
)

// AppendGet appends an encoded hbasepb.Get of all columns of a row. The time range is [from, to); both 0 means all. The bytes are the same
// as from hbasepb:
//
//	Get { row 1, time_range 5: { from 1, to 2 }, max_versions 6 }
func AppendGet(dst, row []byte, versions uint32, from, to int64) []byte {
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	dst = protowire.AppendBytes(dst, row)
	if from != 0 || to != 0 {
		dst = appendMessageHead(dst, 5, 1+protowire.SizeVarint(uint64(from))+1+protowire.SizeVarint(uint64(to)))
		dst = appendVarintField(dst, 1, uint64(from))
		dst = appendVarintField(dst, 2, uint64(to))
	}
	return appendVarintField(dst, 6, uint64(versions))
}

// AppendRegionGets appends one region's gets, in order, to an encoded MultiRequest without an allocation. Get i, an encoded hbasepb.Get,
// ends at ends[i] of gets, and becomes action i. The bytes are the same as from hbasepb:
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
	dst = appendRegion(dst, region, size)
	from = 0
	for i, end := range ends {
		dst = appendMessageHead(dst, 3, getSize(i, end-from))
		dst = appendVarintField(dst, 1, uint64(i))
		dst = protowire.AppendTag(dst, 3, protowire.BytesType)
		dst = protowire.AppendBytes(dst, gets[from:end])
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
	dst = appendMessageHead(dst, 1, size)
	dst = appendMessageHead(dst, 1, specifierSize(region))
	dst = appendVarintField(dst, 1, uint64(hbasepb.RegionSpecifier_REGION_NAME))
	dst = protowire.AppendTag(dst, 2, protowire.BytesType)
	return protowire.AppendBytes(dst, region)
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
