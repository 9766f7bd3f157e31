package propose

import (
	"encoding/json"

	"google.golang.org/protobuf/encoding/protowire"

	"brine/event"
)

// packetColumn is a column of a row in Canal's Protobuf.
type packetColumn struct {
	name, value, kind string // kind is its type in MySQL, if it is there
	key, null         bool
}

// The numbers of the fields of Canal's Protobuf that packetRows reads, in the messages named.
const (
	packetType, packetBody              protowire.Number = 3, 5    // Packet
	messagesEntry                       protowire.Number = 2       // Messages
	entryType, entryChange              protowire.Number = 2, 3    // Entry
	changeRow                           protowire.Number = 12      // RowChange
	rowBefore, rowAfter                 protowire.Number = 1, 2    // RowData
	columnName, columnKey, columnNull   protowire.Number = 3, 4, 6 // Column
	columnValue, columnKind             protowire.Number = 8, 10
	packetOfMessages, entryOfChangeRows                  = 7, 2 // values of the types
)

// fieldsOf calls each for the fields of a Protobuf message that are numbers or have a length. It reports whether it could read all.
func fieldsOf(message []byte, each func(number protowire.Number, bits uint64, contents []byte)) bool {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return false
		}
		message = message[n:]
		switch kind {
		case protowire.VarintType:
			var bits uint64
			if bits, n = protowire.ConsumeVarint(message); n >= 0 {
				each(number, bits, nil)
			}
		case protowire.BytesType:
			var contents []byte
			if contents, n = protowire.ConsumeBytes(message); n >= 0 {
				each(number, 0, contents)
			}
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return false
		}
		message = message[n:]
	}
	return true
}

// packetRows returns the rows in a packet of Canal, each as it was after its change, or before it if that was a delete. ok is false if it
// is not such a packet.
func packetRows(value []byte) (rows [][]packetColumn, ok bool) {
	kind, entries := uint64(0), 0
	read := fieldsOf(value, func(number protowire.Number, bits uint64, body []byte) {
		switch number {
		case packetType:
			kind = bits
		case packetBody:
			ok = fieldsOf(body, func(number protowire.Number, _ uint64, entry []byte) {
				if number == messagesEntry {
					entries++
					rows = append(rows, entryRows(entry)...)
				}
			})
		}
	})
	return rows, read && ok && kind == packetOfMessages && entries > 0
}

// entryRows returns the rows of an entry of the log.
func entryRows(entry []byte) (rows [][]packetColumn) {
	kind, change := uint64(entryOfChangeRows), []byte(nil)
	fieldsOf(entry, func(number protowire.Number, bits uint64, contents []byte) {
		switch number {
		case entryType:
			kind = bits
		case entryChange:
			change = contents
		}
	})
	if kind != entryOfChangeRows {
		return nil
	}
	fieldsOf(change, func(number protowire.Number, _ uint64, row []byte) {
		if number != changeRow {
			return
		}
		var before, after []packetColumn
		fieldsOf(row, func(number protowire.Number, _ uint64, column []byte) {
			switch number {
			case rowBefore:
				before = append(before, columnIn(column))
			case rowAfter:
				after = append(after, columnIn(column))
			}
		})
		if after == nil {
			after = before
		}
		if after != nil {
			rows = append(rows, after)
		}
	})
	return rows
}

func columnIn(column []byte) (c packetColumn) {
	fieldsOf(column, func(number protowire.Number, bits uint64, contents []byte) {
		switch number {
		case columnName:
			c.name = string(contents)
		case columnKey:
			c.key = bits != 0
		case columnNull:
			c.null = bits != 0
		case columnValue:
			c.value = string(contents)
		case columnKind:
			c.kind = string(contents)
		}
	})
	return c
}

// ofPackets extracts rows from packets of Canal's Protobuf, their primary key, and the types of their columns if packets have them.
func (e *encoding) ofPackets(raw []event.Record) {
	e.changes, e.texts = &changes{form: event.CanalProtobuf, whole: true}, true
	e.objects = func(value []byte, each func([]byte)) {
		rows, _ := packetRows(value)
		for _, row := range rows {
			each(textsOf(row, func(c packetColumn) (string, bool) { return c.value, !c.null }))
		}
	}
	for i := range raw {
		rows, _ := packetRows(raw[i].Value)
		if len(rows) == 0 {
			continue
		}
		for _, c := range rows[0] {
			if c.key {
				e.changes.key = append(e.changes.key, c.name)
			}
		}
		e.fields = mysqlFields(textsOf(rows[0], func(c packetColumn) (string, bool) { return c.kind, true }))
		for _, c := range rows[0] {
			if c.kind == "" {
				e.fields = nil
			}
		}
		return
	}
}

// textsOf returns a JSON object with a text for each column, in their order.
func textsOf(row []packetColumn, text func(packetColumn) (value string, has bool)) []byte {
	out := []byte("{")
	for _, c := range row {
		value, has := text(c)
		if !has {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		name, _ := json.Marshal(c.name) //nolint:errchkjson // a text
		of, _ := json.Marshal(value)    //nolint:errchkjson // a text
		out = append(append(append(out, name...), ':'), of...)
	}
	return append(out, '}')
}
