package registry

import (
	"encoding/binary"
	"unicode/utf8"
)

// maxNesting is the largest depth of messages declared within others: more than any Protobuf compiler takes.
const maxNesting = 64

// Message returns which message of the schema Data is, as given by Confluent's framing, and the bytes of the message. The path is the
// position of the message in the file, then within that message, and so on. It is appended to into[:0], so that a caller who provides the
// capacity allocates nothing.
func (f *Framed) Message(into []int) (path []int, data []byte, err error) {
	if f.InHeader {
		path, _, err = MessageIndexes(f.Indexes, into)
		return path, f.Data, err
	}
	return MessageIndexes(f.Data, into)
}

// MessageIndexes reads the message indexes with which b begins: zigzag varints, first the count and then each index; a count of 0 stands
// for [0]. The path is appended to into[:0]; rest is what follows.
func MessageIndexes(b []byte, into []int) (path []int, rest []byte, err error) {
	path = into[:0]
	count, b, ok := zigzag(b)
	if !ok || count > maxNesting {
		return path, nil, errIndexes
	}
	if count == 0 {
		return append(path, 0), b, nil
	}
	for range count {
		var index int
		if index, b, ok = zigzag(b); !ok {
			return path, nil, errIndexes
		}
		path = append(path, index)
	}
	return path, b, nil
}

var errIndexes = &FrameError{Msg: "the message indexes behind the schema's id cannot be read",
	Fix: "use the registry's Protobuf serializer; for another format, declare that format"}

// zigzag reads one non-negative number, in the form of Kafka's 32-bit varints.
func zigzag(b []byte) (n int, rest []byte, ok bool) {
	u, size := binary.Uvarint(b)
	if size <= 0 || size > 5 || u > 1<<32-1 || u&1 != 0 { // odd ones are negative
		return 0, nil, false
	}
	return int(u >> 1), b[size:], true
}

// typeHeader is the header in which Apicurio's serializer writes the message's name, without its package, if ids are in headers.
var typeHeader = [...]string{Value: "apicurio.protobuf.type", Key: "apicurio.protobuf.type.key"}

// MessageHeader returns the message name in Apicurio's header, if there is one. Data may have a name in addition, see MessageName.
func MessageHeader(part Part, header func(name string) ([]byte, bool)) (name []byte, ok bool) {
	name, ok = header(typeHeader[part])
	return name, ok && messageName(name)
}

// MessageName reads the name that Apicurio's Protobuf serializer may write before the message: a length-prefixed message of its own, whose
// field 1 is the name. A message may begin with such bytes by chance, so a name counts only if the schema declares it. Otherwise the whole
// data is the schema's first message.
func MessageName(b []byte) (name, rest []byte, ok bool) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size < 2 || size > uint64(len(b)-n) {
		return nil, b, false
	}
	ref, after := b[n:n+int(size)], b[n+int(size):]
	length, m := binary.Uvarint(ref[1:])
	if ref[0] != 1<<3|2 || m <= 0 || length != uint64(len(ref)-1-m) || !messageName(ref[1+m:]) {
		return nil, b, false
	}
	return ref[1+m:], after, true
}

// messageName reports whether b can be the name of a message.
func messageName(b []byte) bool {
	if len(b) == 0 || len(b) > 1<<10 || b[0] >= '0' && b[0] <= '9' {
		return false
	}
	for _, c := range b {
		if c >= utf8.RuneSelf || c != '_' && c != '.' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}
