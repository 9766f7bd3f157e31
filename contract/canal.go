package contract

import (
	"fmt"
	"strings"

	"brine/event"
)

// packets reports whether records are packets of Canal's own messages, which are Protobuf whatever the pipeline takes from them.
func (t *Terms) packets() bool {
	return t.Schema.Envelope != nil && t.Schema.Envelope.Form == event.CanalProtobuf
}

// packet returns the part of Canal's messages that is read, as a .proto file with Canal's names and numbers. No message declares the
// columns of the rows, so they are listed before the messages.
func (t *Terms) packet() []byte {
	root := t.part(event.InValue)
	var b strings.Builder
	fmt.Fprintf(&b, "// Records that pipeline %s of brine accepts from topic %s: each is a Packet as Canal writes it, of type\n"+
		"// MESSAGES and not compressed, whose bytes contain other messages. Fields that are not listed are ignored.\n//\n"+
		"// Columns of rows, each a text or null:\n", t.Pipeline, t.Topic)
	for _, n := range root.at(t.Schema.Images.After).children {
		n.texts = true
		fmt.Fprintf(&b, "//   %s: %s\n", n.key, strings.TrimSuffix(t.kind(n)+"; "+t.says(n), "; "))
	}
	b.WriteString("syntax = \"proto3\";\n" + canalPacket)
	for _, f := range canalHeader {
		if n := root.child(f.key); n != nil && n.field != nil && t.says(n) != "" {
			fmt.Fprintf(&b, "  // %s\n", t.says(n))
		}
		fmt.Fprintf(&b, "  %s;\n", f.declared)
	}
	b.WriteString("}\n" + canalRows)
	return []byte(b.String())
}

// kind describes, for people, the text of a column.
func (t *Terms) kind(n *tree) string {
	if n.field == nil {
		return "JSON"
	}
	return n.field.Type.String()
}

const canalPacket = `
enum PacketType {
  PACKAGETYPECOMPATIBLEPROTO2 = 0;
  MESSAGES = 7;
}

enum Compression {
  COMPRESSIONCOMPATIBLEPROTO2 = 0;
  NONE = 1;
}

message Packet {
  PacketType type = 3;
  optional Compression compression = 4;  // none where it is absent
  bytes body = 5;  // Messages
}

message Messages {
  repeated bytes messages = 2;  // each an Entry
}

enum EntryType {
  ENTRYTYPECOMPATIBLEPROTO2 = 0;
  TRANSACTIONBEGIN = 1;
  ROWDATA = 2;
  TRANSACTIONEND = 3;
  HEARTBEAT = 4;
}

message Entry {
  Header header = 1;
  optional EntryType entryType = 2;  // ROWDATA where it is absent; others are left out
  bytes storeValue = 3;  // of ROWDATA, a RowChange
}

message Header {
`

// canalHeader are the fields of the header, by their names in brine.yaml.
var canalHeader = []struct{ key, declared string }{
	{"file", "string logfileName = 2"}, {"pos", "int64 logfileOffset = 3"}, {"server", "int64 serverId = 4"},
	{"es", "int64 executeTime = 6"}, {"database", "string schemaName = 8"}, {"table", "string tableName = 9"},
}

const canalRows = `
enum EventType {
  EVENTTYPECOMPATIBLEPROTO2 = 0;
  INSERT = 1;
  UPDATE = 2;
  DELETE = 3;
  CREATE = 4;
  ALTER = 5;
  ERASE = 6;
  QUERY = 7;
  TRUNCATE = 8;
  RENAME = 9;
}

message RowChange {
  optional EventType eventType = 2;  // UPDATE where it is absent
  repeated RowData rowDatas = 12;  // none where a statement changes a table
}

message RowData {
  repeated Column beforeColumns = 1;
  repeated Column afterColumns = 2;
}

message Column {
  string name = 3;
  optional bool isNull = 6;
  string value = 8;
}
`
