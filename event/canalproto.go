package event

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// canalPacketReader reads Canal's Protobuf: a Packet whose body is Messages. Each message is an Entry of the database's log, and an entry
// that changes rows holds all of them. Each row is an event. The columns go to the nodes of the images by name, as they are read.
type canalPacketReader struct {
	root, data, old *Node
	begun           bool // an event of the record has been started
}

// The tags of the Canal fields that are read: their numbers, and the wire types of their values. A field with another tag is unknown, as in
// any Protobuf.
const (
	packetType, packetCompression, packetBody = 3<<3 | varint, 4<<3 | varint, 5<<3 | lengthed
	messagesMessage                           = 2<<3 | lengthed
	entryHeader, entryType, entryValue        = 1<<3 | lengthed, 2<<3 | varint, 3<<3 | lengthed
	headerFile, headerPos, headerServer       = 2<<3 | lengthed, 3<<3 | varint, 4<<3 | varint
	headerTime, headerDatabase, headerTable   = 6<<3 | varint, 8<<3 | lengthed, 9<<3 | lengthed
	changeEvent, changeRows                   = 2<<3 | varint, 12<<3 | lengthed
	rowBefore, rowAfter                       = 1<<3 | lengthed, 2<<3 | lengthed
	columnName, columnNull, columnValue       = 3<<3 | lengthed, 6<<3 | varint, 8<<3 | lengthed

	varint   = int(protowire.VarintType)
	lengthed = int(protowire.BytesType)
)

// Values of its enums.
const (
	typeMessages    = 7
	compressionNone = 1
	entryRows       = 2
	entryHeartbeat  = 4
	eventUpdate     = 2
)

// canalEvents are the names of the kinds of events in the flat JSON.
var canalEvents = []string{"", "INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "ERASE", "QUERY", "TRUNCATE", "RENAME", "CINDEX", "DINDEX",
	"GTID",
	"XACOMMIT", "XAROLLBACK", "MHEARTBEAT"}

// message is the unread rest of a Protobuf message.
type message []byte

// protoField is one field of it: a number, or bytes.
type protoField struct {
	tag   int
	bits  uint64
	bytes []byte
}

// enum returns the field as an enum's number, of which Protobuf keeps 32 bits.
func (f *protoField) enum() int32 { return int32(f.bits) }

// next reads the next field of the message; ok is false if none can be read.
func (m *message) next() (f protoField, ok bool) {
	number, kind, n := protowire.ConsumeTag(*m)
	if n < 0 {
		return f, false
	}
	f.tag = int(number)<<3 | int(kind)
	size, rest := 0, (*m)[n:]
	switch kind {
	case protowire.VarintType:
		f.bits, size = protowire.ConsumeVarint(rest)
	case protowire.BytesType:
		f.bytes, size = protowire.ConsumeBytes(rest)
	default:
		size = protowire.ConsumeFieldValue(number, kind, rest)
	}
	if size < 0 {
		return f, false
	}
	*m = rest[size:]
	return f, true
}

// each calls take for each field of the message. what names the message in errors.
func (m message) each(what string, take func(protoField) *Error) *Error {
	size := len(m)
	for len(m) > 0 {
		at := size - len(m)
		f, ok := m.next()
		if !ok {
			return &Error{Reason: Undecodable, Detail: fmt.Sprintf("%s cannot be read from byte %d of %d on", what, at, size)}
		}
		if err := take(f); err != nil {
			return err
		}
	}
	return nil
}

// Read implements Reader.
func (r *canalPacketReader) Read(rec *Record, b *Builder) *Error {
	r.begun = false
	kind, compression, body := int32(0), int32(compressionNone), []byte(nil)
	err := message(rec.Value).each("the packet", func(f protoField) *Error {
		switch f.tag {
		case packetType:
			kind = f.enum()
		case packetCompression:
			compression = f.enum()
		case packetBody:
			body = f.bytes
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case kind != typeMessages:
		return &Error{Reason: Undecodable, Detail: fmt.Sprintf("it is not a packet of Canal messages: its type is %d", kind)}
	case compression < 0 || compression > compressionNone:
		return &Error{Reason: Undecodable, Detail: fmt.Sprintf("the packet is compressed (method %d); turn off compression in Canal",
			compression)}
	}
	err = message(body).each("the messages", func(f protoField) *Error {
		if f.tag != messagesMessage {
			return nil
		}
		return r.entry(f.bytes, b)
	})
	if err == nil && !r.begun {
		b.LeaveOut(Empty)
	}
	return err
}

// event starts an event: the first of the record, or another one.
func (r *canalPacketReader) event(b *Builder) *Error {
	if r.begun {
		return b.Next()
	}
	r.begun = true
	return nil
}

// entry reads an entry of the log.
func (r *canalPacketReader) entry(p []byte, b *Builder) *Error {
	var header, value []byte
	kind := int32(entryRows)
	if err := message(p).each("an entry", func(f protoField) *Error {
		switch f.tag {
		case entryHeader:
			if header == nil {
				header = f.bytes[:len(f.bytes):len(f.bytes)]
			} else {
				header = append(header, f.bytes...) // together they make one message
			}
		case entryType:
			kind = f.enum()
		case entryValue:
			value = f.bytes
		}
		return nil
	}); err != nil {
		return err
	}
	if kind == entryRows {
		return r.change(header, value, b)
	}
	if err := r.event(b); err != nil {
		return err
	}
	if kind == entryHeartbeat {
		b.LeaveOut(Heartbeat)
	} else { // a transaction begins or ends, or has a GTID
		b.LeaveOut(Transaction)
	}
	return nil
}

// mostRepeated bounds what is read again for each row of a record, in bytes over all rows.
const mostRepeated = 64 << 20

// change reads the rows that an entry changes. An entry that changes none, such as a statement that alters a table, is an event without a
// row.
func (r *canalPacketReader) change(header, value []byte, b *Builder) *Error {
	kind, rows := int32(eventUpdate), 0
	if err := message(value).each("a change", func(f protoField) *Error {
		switch f.tag {
		case changeEvent:
			kind = f.enum()
		case changeRows:
			rows++
		}
		return nil
	}); err != nil {
		return err
	}
	if rows*len(header) > mostRepeated {
		return &Error{Reason: TooLarge, Detail: "an entry has too many rows for a header of this length, which is read again for each row"}
	}
	name := ""
	if kind >= 0 && int(kind) < len(canalEvents) {
		name = canalEvents[kind]
	}
	if rows == 0 {
		if err := r.event(b); err != nil {
			return err
		}
		return r.header(header, name, b)
	}
	return message(value).each("a change", func(f protoField) *Error {
		if f.tag != changeRows {
			return nil
		}
		if err := r.event(b); err != nil {
			return err
		}
		if err := r.header(header, name, b); err != nil {
			return err
		}
		return r.row(f.bytes, name == "DELETE", b)
	})
}

// header reads the entry's header, which applies to all its rows, into the nodes beside those of the row.
func (r *canalPacketReader) header(p []byte, kind string, b *Builder) *Error {
	for _, n := range r.root.children {
		if n.key == "type" {
			if err := b.Text(n, b.Keep([]byte(kind))); err != nil {
				return err
			}
		}
	}
	return message(p).each("a header", func(f protoField) *Error {
		n := r.root.Find([]byte(canalHeaders[f.tag]))
		switch {
		case n == nil:
			return nil
		case b.Has(n):
			b.Forget(n) // the last one counts
		}
		if f.tag&7 == lengthed {
			return b.Text(n, f.bytes)
		}
		return b.Int(n, int64(f.bits))
	})
}

// canalHeaders are the names of the envelope's fields, by their tags in a header.
var canalHeaders = map[int]string{headerFile: "file", headerPos: "pos", headerServer: "server", headerTime: "es",
	headerDatabase: "database",
	headerTable:    "table"}

// row reads a row. A deleted row has its values in the before columns, and is taken as in the flat JSON: as its data.
func (r *canalPacketReader) row(p []byte, deleted bool, b *Builder) *Error {
	after, before := r.data, r.old
	if deleted {
		after, before = nil, r.data
	}
	return message(p).each("a row", func(f protoField) *Error {
		switch {
		case f.tag == rowBefore:
			return r.column(before, f.bytes, b)
		case f.tag == rowAfter && after != nil:
			return r.column(after, f.bytes, b)
		}
		return nil
	})
}

// column reads a column of an image.
func (r *canalPacketReader) column(image *Node, p []byte, b *Builder) *Error {
	var name, text []byte
	null := false
	if err := message(p).each("a column", func(f protoField) *Error {
		switch f.tag {
		case columnName:
			name = f.bytes
		case columnNull:
			null = f.bits != 0
		case columnValue:
			text = f.bytes
		}
		return nil
	}); err != nil {
		return err
	}
	if !b.Has(image) {
		if err := b.Enter(image); err != nil {
			return err
		}
	}
	n := image.Find(name)
	switch {
	case n == nil:
		b.Undeclared(image, name)
		return nil
	case null:
		return b.Null(n)
	}
	return b.Parse(n, text)
}
