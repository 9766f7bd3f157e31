package hbase

import (
	"encoding/binary"
	"errors"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// CompareOp says how a stored value must compare to a given one: stored Less given, and so on. Equal is the zero value.
type CompareOp uint8

// The comparison operators.
const (
	Equal CompareOp = iota
	NotEqual
	Less
	LessOrEqual
	Greater
	GreaterOrEqual
)

var compareTypes = [...]hbasepb.CompareType{
	Equal: hbasepb.CompareType_EQUAL, NotEqual: hbasepb.CompareType_NOT_EQUAL,
	Less: hbasepb.CompareType_LESS, LessOrEqual: hbasepb.CompareType_LESS_OR_EQUAL,
	Greater: hbasepb.CompareType_GREATER, GreaterOrEqual: hbasepb.CompareType_GREATER_OR_EQUAL,
}

// message returns the operator as filters encode it.
func (o CompareOp) message() *hbasepb.CompareType { return compareTypes[o].Enum() }

// mirrored returns the operator with its sides swapped, as conditions encode it: there HBase compares the given value to the stored one.
func (o CompareOp) mirrored() *hbasepb.CompareType {
	switch o {
	case Less:
		return Greater.message()
	case LessOrEqual:
		return GreaterOrEqual.message()
	case Greater:
		return Less.message()
	case GreaterOrEqual:
		return LessOrEqual.message()
	}
	return o.message()
}

// Comparator is what a CompareOp compares to. Only the types of this package are comparators.
type Comparator interface {
	comparator() (*hbasepb.Comparator, error)
}

type (
	// Bytes compares all bytes lexicographically [BinaryComparator].
	Bytes []byte
	// Prefix compares to the stored value's first bytes, as many as Prefix has [BinaryPrefixComparator].
	Prefix []byte
	// Long compares to a big-endian int64, the format of counters [LongComparator].
	Long int64
	// Substring is Equal to values that contain it, ignoring case [SubstringComparator].
	Substring string
	// Regex is a Java regular expression. It is Equal to values that contain a match [RegexStringComparator].
	Regex string
	// Null is Equal to a missing value [NullComparator].
	Null struct{}
)

func packComparator(class string, m proto.Message) (*hbasepb.Comparator, error) {
	b, err := proto.Marshal(m)
	if err != nil {
		return nil, err
	}
	name := filterPackage + class
	return &hbasepb.Comparator{Name: &name, SerializedComparator: b}, nil
}

func comparatorMessage(c Comparator) (*hbasepb.Comparator, error) {
	if c == nil {
		return nil, errors.New("a comparison without a Comparator")
	}
	return c.comparator()
}

func compareMessage(op CompareOp, with Comparator) (*hbasepb.CompareFilter, error) {
	m, err := comparatorMessage(with)
	return &hbasepb.CompareFilter{CompareOp: op.message(), Comparator: m}, err
}

// given returns a comparable that always has a value, because HBase takes a missing value for null.
func given(b []byte) *hbasepb.ByteArrayComparable {
	if b == nil {
		b = []byte{}
	}
	return &hbasepb.ByteArrayComparable{Value: b}
}

func (c Bytes) comparator() (*hbasepb.Comparator, error) {
	return packComparator("BinaryComparator", &hbasepb.BinaryComparator{Comparable: given(c)})
}

func (c Prefix) comparator() (*hbasepb.Comparator, error) {
	return packComparator("BinaryPrefixComparator", &hbasepb.BinaryPrefixComparator{Comparable: given(c)})
}

func (c Long) comparator() (*hbasepb.Comparator, error) {
	b := binary.BigEndian.AppendUint64(nil, uint64(c))
	return packComparator("LongComparator", &hbasepb.LongComparator{Comparable: given(b)})
}

func (c Substring) comparator() (*hbasepb.Comparator, error) {
	return packComparator("SubstringComparator", &hbasepb.SubstringComparator{Substr: proto.String(string(c))})
}

func (c Regex) comparator() (*hbasepb.Comparator, error) {
	const dotAll = 32 // Java's Pattern.DOTALL, the default of the Java client
	return packComparator("RegexStringComparator", &hbasepb.RegexStringComparator{
		Pattern: proto.String(string(c)), PatternFlags: proto.Int32(dotAll), Charset: proto.String("UTF-8"), Engine: proto.String("JAVA"),
	})
}

func (Null) comparator() (*hbasepb.Comparator, error) {
	return &hbasepb.Comparator{Name: proto.String(filterPackage + "NullComparator"), SerializedComparator: []byte{}}, nil
}
