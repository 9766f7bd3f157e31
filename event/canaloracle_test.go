package event_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"brine/event"
)

// Canal's messages, by name and number. Each field has presence.
const canalMessages = `syntax = "proto3";
message Packet {
  optional int32 magic_number = 1; optional int32 version = 2; optional PacketType type = 3; optional Compression compression = 4; optional bytes body = 5;
}
enum PacketType { NO_TYPE = 0; HANDSHAKE = 1; ACK = 3; MESSAGES = 7; }
enum Compression { NO_COMPRESSION = 0; NONE = 1; ZLIB = 2; }
message Messages { optional int64 batch_id = 1; repeated bytes messages = 2; }
message Entry { optional Header header = 1; optional EntryType entryType = 2; optional bytes storeValue = 3; }
enum EntryType { NO_ENTRY = 0; TRANSACTIONBEGIN = 1; ROWDATA = 2; TRANSACTIONEND = 3; HEARTBEAT = 4; GTIDLOG = 5; }
message Header {
  optional int32 version = 1; optional string logfileName = 2; optional int64 logfileOffset = 3; optional int64 serverId = 4; optional string serverenCode = 5;
  optional int64 executeTime = 6; optional int32 sourceType = 7; optional string schemaName = 8; optional string tableName = 9; optional int64 eventLength = 10;
  optional EventType eventType = 11; repeated Pair props = 12; optional string gtid = 13;
}
enum EventType {
  NO_EVENT = 0; INSERT = 1; UPDATE = 2; DELETE = 3; CREATE = 4; ALTER = 5; ERASE = 6; QUERY = 7; TRUNCATE = 8; RENAME = 9; CINDEX = 10; DINDEX = 11;
  GTID = 12; XACOMMIT = 13; XAROLLBACK = 14; MHEARTBEAT = 15;
}
message RowChange {
  optional int64 tableId = 1; optional EventType eventType = 2; optional bool isDdl = 10; optional string sql = 11; repeated RowData rowDatas = 12;
  repeated Pair props = 13; optional string ddlSchemaName = 14;
}
message RowData { repeated Column beforeColumns = 1; repeated Column afterColumns = 2; repeated Pair props = 3; }
message Column {
  optional int32 index = 1; optional int32 sqlType = 2; optional string name = 3; optional bool isKey = 4; optional bool updated = 5; optional bool isNull = 6;
  repeated Pair props = 7; optional string value = 8; optional int32 length = 9; optional string mysqlType = 10;
}
message Pair { optional string key = 1; optional string value = 2; }`

// canalOracle reads packets with Protobuf's own library.
type canalOracle struct{ file protoreflect.FileDescriptor }

func newCanalOracle(t testing.TB) canalOracle {
	t.Helper()
	c := protocompile.Compiler{Resolver: &protocompile.SourceResolver{
		Accessor: protocompile.SourceAccessorFromMap(map[string]string{"canal.proto": canalMessages})}}
	files, err := c.Compile(t.Context(), "canal.proto")
	if err != nil {
		t.Fatal(err)
	}
	return canalOracle{files[0]}
}

// pb is a message of the oracle.
type pb struct{ *dynamicpb.Message }

func (o canalOracle) message(name string) pb {
	return pb{dynamicpb.NewMessage(o.file.Messages().ByName(protoreflect.Name(name)))}
}

func (m pb) has(field string) bool { return m.Has(m.field(field)) }

func (m pb) get(field string) protoreflect.Value { return m.Get(m.field(field)) }

func (m pb) field(name string) protoreflect.FieldDescriptor {
	return m.Descriptor().Fields().ByName(protoreflect.Name(name))
}

// enum returns a field's number, or otherwise if the field is absent.
func (m pb) enum(field string, otherwise protoreflect.EnumNumber) protoreflect.EnumNumber {
	if m.has(field) {
		return m.get(field).Enum()
	}
	return otherwise
}

func (m pb) list(field string) (out []pb) {
	l := m.get(field).List()
	for i := range l.Len() {
		out = append(out, pb{l.Get(i).Message().Interface().(*dynamicpb.Message)})
	}
	return out
}

func (o canalOracle) parse(name string, b []byte) (m pb, ok bool) {
	m = o.message(name)
	return m, proto.Unmarshal(b, m.Message) == nil
}

// The two outcomes without events.
const (
	rejectedPacket = "rejected"
	unreadPacket   = "" // the library, which reads and checks undeclared fields, cannot read it
)

// said returns the expected result of a packet, as shown formats it for the schema of canalTexts.
func (o canalOracle) said(value []byte) string {
	p, ok := o.parse("Packet", value)
	if !ok {
		return unreadPacket
	}
	if c := p.enum("compression", 1); p.enum("type", 0) != 7 || c != 0 && c != 1 {
		return rejectedPacket
	}
	messages, ok := o.parse("Messages", p.get("body").Bytes())
	if !ok {
		return unreadPacket
	}
	var lines []string
	entries := messages.get("messages").List()
	for i := range entries.Len() {
		e, ok := o.parse("Entry", entries.Get(i).Bytes())
		if !ok {
			return unreadPacket
		}
		switch e.enum("entryType", 2) {
		case 2:
			c, ok := o.parse("RowChange", e.get("storeValue").Bytes())
			if !ok {
				return unreadPacket
			}
			more := o.change(pb{e.get("header").Message().Interface().(*dynamicpb.Message)}, c, len(lines))
			if more == nil {
				return rejectedPacket
			}
			lines = append(lines, more...)
		case 4:
			lines = append(lines, "left out: heartbeat")
		default:
			lines = append(lines, "left out: transaction")
		}
	}
	if lines == nil {
		return "left out: empty"
	}
	return strings.Join(lines, "\n")
}

// change returns the expected lines of a change whose first event is number n of the record, or nil if the record is rejected.
func (o canalOracle) change(header, c pb, n int) (lines []string) {
	kind, rows := c.enum("eventType", 2), c.list("rowDatas")
	switch {
	case len(rows) == 0 && kind == 8:
		return []string{"left out: truncate"}
	case len(rows) == 0 && (kind >= 1 && kind <= 3 || kind <= 0 || kind > 15):
		return nil // a row is missing, or the kind is unknown
	case len(rows) == 0:
		return []string{"left out: schema_change"}
	}
	place := ""
	for _, f := range []string{"file=logfileName", "pos=logfileOffset", "es=executeTime", "n", "of=tableName"} {
		name, field, _ := strings.Cut(f, "=")
		switch {
		case name == "n":
			place += " n=%d"
		case header.has(field) && header.field(field).Kind() == protoreflect.StringKind:
			place += fmt.Sprintf(" %s=%s", name, strings.ReplaceAll(fmt.Sprintf("%q", header.get(field).String()), "%", "%%"))
		case header.has(field):
			place += fmt.Sprintf(" %s=%d", name, header.get(field).Int())
		}
	}
	for _, r := range rows {
		before, twice := canalImage(r.list("beforeColumns"))
		after, again := canalImage(r.list("afterColumns"))
		if kind == 3 {
			before, after, again = nil, before, false
		}
		at := fmt.Sprintf(place, n+len(lines))
		switch {
		case twice || again || kind <= 3 && (kind < 1 || after == nil) || kind == 2 && before == nil:
			return nil
		case kind == 8:
			lines = append(lines, "left out: truncate")
			continue
		case kind > 15 || after != nil && kind > 3:
			return nil
		case kind > 3:
			lines = append(lines, "left out: schema_change")
			continue
		}
		line := "version=1" + canalShown(after, nil) + at + fmt.Sprintf(" gone=%t", kind == 3)
		if before != nil {
			line += ", formerly" + canalShown(before, after) + at + " gone=false"
		}
		lines = append(lines, line)
	}
	return lines
}

// canalImage returns the columns of an image by name, nil if there are none, and whether a declared one occurs twice.
func canalImage(columns []pb) (image map[string]*string, twice bool) {
	for _, c := range columns {
		if image == nil {
			image = map[string]*string{}
		}
		name, text := c.get("name").String(), c.get("value").String()
		_, there := image[name]
		twice = twice || there && (name == "id" || name == "note")
		if image[name] = &text; c.get("isNull").Bool() {
			image[name] = nil
		}
	}
	return image, twice
}

// canalShown formats the declared columns; what an image lacks did not change.
func canalShown(image, unchanged map[string]*string) (out string) {
	for _, name := range []string{"id", "note"} {
		text, ok := image[name]
		if !ok {
			text = unchanged[name]
		}
		if text != nil {
			out += fmt.Sprintf(" %s=%q", name, *text)
		}
	}
	return out
}

// canalTexts declares columns as texts, so that any value is valid.
func canalTexts() event.Schema {
	return wrap(event.Envelope{Form: event.CanalProtobuf}, -1, at("id", event.Text), at("note", event.Text), at("file", event.Text, "$file"),
		at("pos", event.Int, "$pos"), at("es", event.TimeMS, "$es"), at("n", event.Int, "$row"), at("of", event.Text, "$table"))
}

// agrees compares a decoder with the library on the same bytes, and reports whether the library has a result.
func (o canalOracle) agrees(t *testing.T, value []byte) bool {
	t.Helper()
	want := o.said(value)
	if want == unreadPacket || len(value) == 0 { // the latter is a tombstone
		return false
	}
	var b event.Batch
	s := canalTexts()
	err := event.NewDecoder(s).Decode(&event.Record{Value: value, Timestamp: 1}, &b)
	got := rejectedPacket
	if err == nil {
		got = ""
		for i := range b.Events {
			got += "\n" + shown(s, &b.Events[i])
		}
		got = strings.TrimPrefix(got, "\n")
	}
	if got != want {
		t.Fatalf("%x: got\n%s (%v)\nwant\n%s", value, got, err, want)
	}
	return true
}

// within maps fields of bytes to the messages that they hold.
var within = map[protoreflect.FullName]string{"Packet.body": "Messages", "Messages.messages": "Entry", "Entry.storeValue": "RowChange"}

// random makes a message. What determines whether a packet is read at all is mostly valid.
func (o canalOracle) random(r *rand.Rand, m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		switch fd.Name() {
		case "type":
			m.Set(fd, protoreflect.ValueOfEnum(7))
			continue
		case "compression", "entryType":
			if r.IntN(8) > 0 {
				continue
			}
		case "eventType":
			if r.IntN(3) > 0 {
				m.Set(fd, protoreflect.ValueOfEnum(protoreflect.EnumNumber(1+r.IntN(3))))
				continue
			}
		}
		switch {
		case fd.IsList():
			for range r.IntN(4) {
				m.Mutable(fd).List().Append(o.value(r, fd))
			}
		case r.IntN(6) > 0:
			m.Set(fd, o.value(r, fd))
		}
	}
}

func (o canalOracle) value(r *rand.Rand, fd protoreflect.FieldDescriptor) protoreflect.Value {
	switch fd.Kind() {
	case protoreflect.MessageKind:
		m := o.message(string(fd.Message().Name()))
		o.random(r, m)
		return protoreflect.ValueOfMessage(m)
	case protoreflect.BytesKind:
		m := o.message(within[fd.FullName()])
		o.random(r, m)
		b, err := proto.Marshal(m.Message)
		if err != nil {
			panic(err)
		}
		return protoreflect.ValueOfBytes(b)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(r.IntN(19) - 1))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(r.IntN(4) == 0)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(r.Uint32()))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(r.Int64() >> r.IntN(64))
	}
	names := []string{"id", "note", "other", "é%d", "", "x\n"}
	return protoreflect.ValueOfString(names[r.IntN(len(names))])
}

// packet makes a packet from a seed; some are joined with others and some are changed.
func (o canalOracle) packet(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	var out []byte
	for range 1 + r.IntN(6)/5 {
		m := o.message("Packet")
		o.random(r, m)
		b, err := proto.Marshal(m.Message)
		if err != nil {
			panic(err)
		}
		out = append(out, b...)
	}
	for range r.IntN(3) * r.IntN(2) {
		if len(out) > 0 {
			out[r.IntN(len(out))] ^= 1 << r.IntN(8)
		}
	}
	return out
}

// TestRandomCanalPackets compares with Protobuf's own library on packets that it wrote, some of them damaged.
func TestRandomCanalPackets(t *testing.T) {
	o := newCanalOracle(t)
	read := 0
	for seed := range uint64(3000) {
		if o.agrees(t, o.packet(seed)) {
			read++
		}
	}
	if read < 2000 {
		t.Errorf("the library reads %d of 3000 packets", read)
	}
}

// FuzzCanalPacketBesideTheLibrary compares with Protobuf's own library on any bytes that it can read.
func FuzzCanalPacketBesideTheLibrary(f *testing.F) {
	o := newCanalOracle(f)
	for seed := range uint64(20) {
		f.Add(o.packet(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) { o.agrees(t, value) })
}
