package query

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
)

// Cursor is a place in a view's answer: behind one row. It stays valid while rows and documents are written and removed, because it names
// the row, or the values that the index sorts by, instead of a count.
//
//	cursor   base64url of: byte 1 │ CRC-32 of the view and its arguments │ CRC-32 of the place │ byte 0 key, 1 index │ place
//	place    a Token, or the index's own cursor
type Cursor string

const (
	cursorVersion = 1
	cursorHeader  = 1 + 4 + 4 + 1
)

// cursor returns the cursor for a place in the answer.
func (q *Question) cursor(place string) Cursor {
	if q.view == nil {
		return Cursor(place)
	}
	b := append(make([]byte, 0, cursorHeader+len(place)), cursorVersion)
	b = binary.BigEndian.AppendUint32(b, q.sum)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE([]byte(place)))
	b = append(append(b, q.route()), place...)
	return Cursor(base64.RawURLEncoding.EncodeToString(b))
}

// open returns the place of a cursor, or "" for an empty cursor.
func (q *Question) open(c Cursor) (place string, err error) {
	if c == "" {
		return "", nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(string(c))
	if err != nil || len(b) <= cursorHeader {
		return "", &Fault{Arg: "cursor", Msg: "is incomplete", Fix: "copy it unchanged from the answer"}
	}
	place = string(b[cursorHeader:])
	switch {
	case b[0] != cursorVersion:
		err = &Fault{Arg: "cursor", Msg: "is from another release", Fix: "start over without it"}
	case binary.BigEndian.Uint32(b[5:]) != crc32.ChecksumIEEE([]byte(place)):
		err = &Fault{Arg: "cursor", Msg: "is damaged", Fix: "copy it unchanged from the answer"}
	case binary.BigEndian.Uint32(b[1:]) != q.sum || b[9] != q.route():
		err = &Fault{Arg: "cursor", Msg: "belongs to another view or other arguments",
			Fix: "repeat those that it came from, or start over without it"}
	}
	return place, err
}

func (q *Question) route() byte {
	if q.ByIndex() {
		return 1
	}
	return 0
}
