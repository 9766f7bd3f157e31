package event

import (
	"encoding/binary"
	"fmt"
)

// canalPacketReader reads Canal's Protobuf: a Packet whose body are Messages, each an Entry of the database's log, of which one that
// changes rows holds all of them. Each row is an event. The columns go to the nodes of the images as they come, by their names.
type canalPacketReader struct {
	root, data, old *Node
	begun           bool // an event of the record is at hand
}

// The numbers of Canal's fields, and of what its enums say, that are read.
const (
	packetType, packetCompression, packetBody = 3, 4, 5
	messagesMessage                           = 2
	entryHeader, entryType, entryValue        = 1, 2, 3
	headerFile, headerPos, headerServer       = 2, 3, 4
	headerTime, headerDatabase, headerTable   = 6, 8, 9
	changeEvent, changeRows                   = 2, 12
	rowBefore, rowAfter                       = 1, 2
	columnName, columnNull, columnValue       = 3, 6, 8

	typeMessages    = 7
	compressionNone = 1
	entryRows       = 2
	entryHeartbeat  = 4
	eventUpdate     = 2
)

// canalEvents are the kinds of events, as the flat JSON calls them.
var canalEvents = []string{"", "INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "ERASE", "QUERY", "TRUNCATE", "RENAME", "CINDEX", "DINDEX",
	"GTID",
	"XACOMMIT", "XAROLLBACK", "MHEARTBEAT"}

// message is what is left to read of a Protobuf message.
type message []byte

// field is one field of it: a number, or bytes.
type protoField struct {
	number int
	bits   uint64
	bytes  []byte
}

// next reads the next field of the message; ok is false where none can be read.
func (m *message) next() (f protoField, ok bool) {
	tag, n := binary.Uvarint(*m)
	if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<29-1 {
		return f, false
	}
	f.number = int(tag >> 3)
	rest := (*m)[n:]
	switch size := 0; tag & 7 {
	case 0:
		if f.bits, size = binary.Uvarint(rest); size <= 0 {
			return f, false
		}
		*m = rest[size:]
	case 1, 5:
		if size = 8; tag&7 == 5 {
			size = 4
		}
		if len(rest) < size {
			return f, false
		}
		*m = rest[size:]
	case 2:
		length, size := binary.Uvarint(rest)
		if size <= 0 || length > uint64(len(rest)-size) {
			return f, false
		}
		f.bytes, *m = rest[size:size+int(length):size+int(length)], rest[size+int(length):]
	default:
		return f, false
	}
	return f, true
}

// each calls take for each field of the message that is called what.
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
	kind, compression, body := uint64(0), uint64(compressionNone), []byte(nil)
	err := message(rec.Value).each("the packet", func(f protoField) *Error {
		switch f.number {
		case packetType:
			kind = f.bits
		case packetCompression:
			compression = f.bits
		case packetBody:
			body = f.bytes
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case kind != typeMessages:
		return &Error{Reason: Undecodable, Detail: fmt.Sprintf("it is no packet of messages as Canal writes them: its type is %d", kind)}
	case compression > compressionNone:
		return &Error{Reason: Undecodable, Detail: fmt.Sprintf("the packet is compressed, by way %d; have Canal not compress it", compression)}
	}
	err = message(body).each("the messages", func(f protoField) *Error {
		if f.number != messagesMessage {
			return nil
		}
		return r.entry(f.bytes, b)
	})
	if err == nil && !r.begun {
		b.LeaveOut(Empty)
	}
	return err
}

// event begins an event, which is the first one of the record or another one.
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
	kind := uint64(entryRows)
	if err := message(p).each("an entry", func(f protoField) *Error {
		switch f.number {
		case entryHeader:
			header = f.bytes
		case entryType:
			kind = f.bits
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

// mostRepeated bounds what is read again for each row of a record, in bytes of all rows.
const mostRepeated = 64 << 20

// change reads the rows that an entry changes. One that changes none, as a statement that alters a table, is an event without a row.
func (r *canalPacketReader) change(header, value []byte, b *Builder) *Error {
	kind, rows := uint64(eventUpdate), 0
	if err := message(value).each("a change", func(f protoField) *Error {
		switch f.number {
		case changeEvent:
			kind = f.bits
		case changeRows:
			rows++
		}
		return nil
	}); err != nil {
		return err
	}
	if rows*len(header) > mostRepeated {
		return &Error{Reason: TooLarge, Detail: "an entry has too many rows for so long a header, which is read again for each"}
	}
	name := ""
	if kind < uint64(len(canalEvents)) {
		name = canalEvents[kind]
	}
	if rows == 0 {
		if err := r.event(b); err != nil {
			return err
		}
		return r.header(header, name, b)
	}
	return message(value).each("a change", func(f protoField) *Error {
		if f.number != changeRows {
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

// header reads what the entry says of all its rows into the nodes beside those of the row.
func (r *canalPacketReader) header(p []byte, kind string, b *Builder) *Error {
	for _, n := range r.root.children {
		if n.key == "type" {
			if err := b.Text(n, b.Keep([]byte(kind))); err != nil {
				return err
			}
		}
	}
	return message(p).each("a header", func(f protoField) *Error {
		n := r.root.Find([]byte(canalHeaders[f.number]))
		switch {
		case n == nil:
			return nil
		case f.bytes != nil:
			return b.Text(n, f.bytes)
		}
		return b.Int(n, int64(f.bits))
	})
}

// canalHeaders are the names of the envelope's fields by the numbers that they have in a header.
var canalHeaders = map[int]string{headerFile: "file", headerPos: "pos", headerServer: "server", headerTime: "es",
	headerDatabase: "database",
	headerTable:    "table"}

// row reads a row. One that is deleted stands where others say what they were before, and is taken as the flat JSON has it: as its data.
func (r *canalPacketReader) row(p []byte, deleted bool, b *Builder) *Error {
	after, before := r.data, r.old
	if deleted {
		after, before = nil, r.data
	}
	return message(p).each("a row", func(f protoField) *Error {
		switch {
		case f.number == rowBefore:
			return r.column(before, f.bytes, b)
		case f.number == rowAfter && after != nil:
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
		switch f.number {
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
