package wire

import (
	"encoding/binary"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/encoding/protowire"
)

// Mutation is one action of a Multi whose cells are in the cell block: the next Cells cells of it.
type Mutation struct {
	Row    []byte
	Delete bool // otherwise a put
	Cells  int

	Durability hbasepb.MutationProto_Durability
	TTL        int64 // of its cells in ms; 0: not set
}

// ttlAttribute is the name of the attribute that holds the TTL: 8 bytes, big-endian.
const ttlAttribute = "_ttl"

// ttlSize is the size of that attribute as a message: name 1 and value 2.
const ttlSize = 1 + 1 + len(ttlAttribute) + 1 + 1 + 8

// AppendRegionAction appends one region's mutations, in order, to an encoded MultiRequest without an allocation. Action i is mutation i.
// The bytes are the same as from hbasepb:
//
//	MultiRequest { regionAction 1: {
//	    region 1: { type 1: REGION_NAME, value 2 }
//	    action 3: { index 1, mutation 2: { row 1, mutate_type 2, attribute 5: { name 1, value 2 }, durability 6,
//	                                       associated_cell_count 8 } } … } }
func AppendRegionAction(dst, region []byte, ms []Mutation) []byte {
	size := regionSize(region)
	for i := range ms {
		size += 1 + protowire.SizeBytes(actionSize(i, &ms[i]))
	}
	dst = appendRegion(dst, region, size)
	for i := range ms {
		m := &ms[i]
		dst = appendMessageHead(dst, 3, actionSize(i, m))
		dst = appendVarintField(dst, 1, uint64(i))
		dst = appendMessageHead(dst, 2, mutationSize(m))
		dst = appendBytesField(dst, 1, m.Row)
		dst = appendVarintField(dst, 2, uint64(m.kind()))
		if m.TTL != 0 {
			dst = appendMessageHead(dst, 5, ttlSize)
			dst = protowire.AppendString(protowire.AppendTag(dst, 1, protowire.BytesType), ttlAttribute)
			dst = appendMessageHead(dst, 2, 8)
			dst = binary.BigEndian.AppendUint64(dst, uint64(m.TTL))
		}
		if m.Durability != hbasepb.MutationProto_USE_DEFAULT {
			dst = appendVarintField(dst, 6, uint64(m.Durability))
		}
		dst = appendVarintField(dst, 8, uint64(m.Cells))
	}
	return dst
}

func (m *Mutation) kind() hbasepb.MutationProto_MutationType {
	if m.Delete {
		return hbasepb.MutationProto_DELETE
	}
	return hbasepb.MutationProto_PUT
}

func actionSize(i int, m *Mutation) int {
	return 1 + protowire.SizeVarint(uint64(i)) + 1 + protowire.SizeBytes(mutationSize(m))
}

func mutationSize(m *Mutation) int {
	size := 1 + protowire.SizeBytes(len(m.Row)) + 2 + 1 + protowire.SizeVarint(uint64(m.Cells))
	if m.TTL != 0 {
		size += 1 + 1 + ttlSize
	}
	if m.Durability != hbasepb.MutationProto_USE_DEFAULT {
		size += 2
	}
	return size
}

func appendMessageHead(dst []byte, field protowire.Number, size int) []byte {
	dst = protowire.AppendTag(dst, field, protowire.BytesType)
	return protowire.AppendVarint(dst, uint64(size))
}

// Exception is an exception in a Multi's response. An empty Class means none.
type Exception struct {
	Class string
	Text  string // message and stack, as printed by Java
}

// RegionResult is the result of one RegionAction: an exception for all of it, or outcomes to be read with Next.
type RegionResult struct {
	Exception Exception
	rest      []byte // fields that Next has not read yet
}

// Outcome is the result of one action. Without HasResult and without an exception, the server has not answered the action.
type Outcome struct {
	Index     uint32
	HasResult bool
	Result    []byte // an encoded hbasepb.Result
	Exception Exception
}

// NextRegionResult decodes the first regionActionResult (field 1) of an encoded MultiResponse and returns the rest; ok is false if there is
// none left.
func NextRegionResult(b []byte) (r RegionResult, rest []byte, ok bool, err error) {
	for len(b) > 0 {
		var f field
		if f, b, err = nextField(b); err != nil {
			return r, nil, false, err
		}
		if !f.is(1, protowire.BytesType) {
			continue
		}
		r.rest = f.bytes
		r.Exception, err = regionException(f.bytes)
		return r, b, err == nil, err
	}
	return r, nil, false, nil
}

// regionException finds field 2 of a RegionActionResult. It follows the outcomes if there are both.
func regionException(b []byte) (e Exception, err error) {
	for len(b) > 0 {
		var f field
		if f, b, err = nextField(b); err != nil {
			return e, err
		}
		if f.is(2, protowire.BytesType) {
			if e, err = decodeException(f.bytes); err != nil {
				return e, err
			}
		}
	}
	return e, nil
}

// Next decodes the next outcome; ok is false if there is none left.
func (r *RegionResult) Next() (o Outcome, ok bool, err error) {
	for len(r.rest) > 0 {
		var f field
		if f, r.rest, err = nextField(r.rest); err != nil {
			return o, false, err
		}
		if f.is(1, protowire.BytesType) {
			o, err = decodeOutcome(f.bytes)
			return o, err == nil, err
		}
	}
	return o, false, nil
}

// decodeOutcome decodes a ResultOrException: index 1, result 2, exception 3.
func decodeOutcome(b []byte) (o Outcome, err error) {
	for len(b) > 0 {
		var f field
		if f, b, err = nextField(b); err != nil {
			return o, err
		}
		switch {
		case f.is(1, protowire.VarintType):
			o.Index = uint32(f.varint)
		case f.is(2, protowire.BytesType):
			o.HasResult, o.Result = true, f.bytes
		case f.is(3, protowire.BytesType):
			if o.Exception, err = decodeException(f.bytes); err != nil {
				return o, err
			}
		}
	}
	return o, nil
}

// decodeException decodes a NameBytesPair: name 1, value 2. A pair without a name is still an exception.
func decodeException(b []byte) (e Exception, err error) {
	e.Class = "unnamed exception"
	for len(b) > 0 {
		var f field
		if f, b, err = nextField(b); err != nil {
			return e, err
		}
		switch {
		case f.is(1, protowire.BytesType) && len(f.bytes) > 0:
			e.Class = string(f.bytes)
		case f.is(2, protowire.BytesType):
			e.Text = string(f.bytes[:min(len(f.bytes), MaxText)])
		}
	}
	return e, nil
}
