package event_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"brine/event"
	"brine/internal/testenv"
)

// canalColumns returns columns of an image from alternating names and values; "NULL" is null.
func canalColumns(image int, columns ...string) (out []any) {
	for i := 0; i < len(columns); i += 2 {
		column := testenv.Protobuf(1, i/2, 3, columns[i], 8, columns[i+1], 10, "varchar(20)")
		if columns[i+1] == "NULL" {
			column = testenv.Protobuf(1, i/2, 3, columns[i], 6, 1)
		}
		out = append(out, image, column)
	}
	return out
}

// canalEntry returns a log entry at a position, with a kind of entry and a kind of event.
func canalEntry(pos, entry, kind int, change ...any) []byte {
	header := testenv.Protobuf(1, 1, 2, "mysql-bin.000007", 3, pos, 4, 11, 5, "UTF-8", 6, 1700000000000, 7, 2, 8, "shop", 9, "orders", 10, 55, 11, kind)
	return testenv.Protobuf(1, header, 2, entry, 3, testenv.Protobuf(append([]any{1, 99, 2, kind}, change...)...))
}

// canalPacket returns a packet of entries.
func canalPacket(entries ...[]byte) []byte {
	fields := []any{1, 42}
	for _, e := range entries {
		fields = append(fields, 2, e)
	}
	return testenv.Protobuf(3, 7, 4, 1, 5, testenv.Protobuf(fields...))
}

func canalRow(images ...[]any) []byte { return testenv.Protobuf(bytesOf(images)...) }

func bytesOf(images [][]any) (out []any) {
	for _, image := range images {
		out = append(out, image...)
	}
	return out
}

func canalSchema() event.Schema {
	return wrap(event.Envelope{Form: event.CanalProtobuf}, -1, at("id", event.Int), at("total", event.Decimal), at("note", event.Text),
		at("file", event.Text, "$file"), at("pos", event.Int, "$pos"), at("es", event.TimeMS, "$es"), at("n", event.Int, "$row"),
		at("of", event.Text, "$table"))
}

// A Canal packet yields an event for each of its rows; what concerns no row is left out.
func TestCanalPackets(t *testing.T) {
	whole := canalPacket(
		canalEntry(100, 1, 0),
		canalEntry(120, 2, 1, 12, canalRow(canalColumns(2, "id", "1", "total", "9.50", "note", "NULL")), 12, canalRow(canalColumns(2, "id", "2", "total", "1", "note", "a"))),
		canalEntry(140, 2, 2, 12, canalRow(canalColumns(1, "id", "1", "total", "9.50", "note", "NULL"), canalColumns(2, "id", "1", "total", "9.00", "note", "b"))),
		canalEntry(160, 2, 3, 12, canalRow(canalColumns(1, "id", "2", "total", "1", "note", "a"))),
		canalEntry(180, 2, 5, 10, 1, 11, "ALTER TABLE orders"),
		canalEntry(190, 2, 8, 10, 1, 11, "TRUNCATE TABLE orders"),
		canalEntry(195, 4, 0),
		canalEntry(200, 3, 0))
	for _, c := range []struct {
		name  string
		value []byte
		want  string
	}{
		{"a batch", whole, `left out: transaction
version=1 id=1 file="mysql-bin.000007" pos=120 es=1700000000000 n=1 of="orders" gone=false
version=1 id=2 note="a" file="mysql-bin.000007" pos=120 es=1700000000000 n=2 of="orders" gone=false
version=1 id=1 note="b" file="mysql-bin.000007" pos=140 es=1700000000000 n=3 of="orders" gone=false, formerly id=1 file="mysql-bin.000007" pos=140 es=1700000000000 n=3 of="orders" gone=false
version=1 id=2 note="a" file="mysql-bin.000007" pos=160 es=1700000000000 n=4 of="orders" gone=true
left out: schema_change
left out: truncate
left out: heartbeat
left out: transaction`},
		{"nothing", canalPacket(), `left out: empty`},
		{"an acknowledgement", testenv.Protobuf(3, 3, 5, testenv.Protobuf(1, 0)), `undecodable: it is not a packet of Canal messages: its type is 3`},
		{"compressed", testenv.Protobuf(3, 7, 4, 2, 5, "x"), `undecodable: the packet is compressed (method 2); turn off compression in Canal`},
		{"cut off", whole[:len(whole)-1], `undecodable: the packet cannot be read from byte 4 of 1001 on`},
		{"a deep fault", canalPacket([]byte{0x0a}), `undecodable: an entry cannot be read from byte 0 of 1 on`},
		{"no text", canalPacket(canalEntry(1, 2, 1, 12, canalRow(canalColumns(2, "id", "1", "note", "\xff")))), `undecodable: field data.note: invalid UTF-8 in a text`},
		{"a wrong type", canalPacket(canalEntry(1, 2, 1, 12, canalRow(canalColumns(2, "id", "one")))), `wrong_type: field data.id: an integer is expected, found "one"`},
		{"a number past 2⁶³", canalPacket(canalEntry(1, 2, 1, 12, canalRow(canalColumns(2, "id", "9223372036854775808")))), `wrong_type: field data.id: the number does not fit 64 bits`},
		{"a decimal of 39 digits", canalPacket(canalEntry(1, 2, 1, 12, canalRow(canalColumns(2, "id", "1", "total", strings.Repeat("7", 39))))), `wrong_type: field data.total: the decimal has more than 38 digits`},
		{"NaN", canalPacket(canalEntry(1, 2, 1, 12, canalRow(canalColumns(2, "id", "1", "total", "NaN")))), `wrong_type: field data.total: a decimal number is expected, found "NaN"`},
		{"recursion", testenv.Protobuf(3, 7, 4, 1, 5, strings.Repeat("\x0b", 100_000)), `undecodable: the messages cannot be read from byte 0 of 100000 on`},
		{"a value of 5 MB", canalPacket(canalEntry(1, 2, 1, 12, canalRow(canalColumns(2, "id", "1", "note", strings.Repeat("x", 5<<20))))),
			`version=1 id=1 note="` + strings.Repeat("x", 5<<20) + `" file="mysql-bin.000007" pos=1 es=1700000000000 n=0 of="orders" gone=false`},
		{"100,000 columns", canalPacket(canalEntry(1, 2, 1, 12, canalRow(canalColumns(2, append(slices.Repeat([]string{"x", "1"}, 100_000), "id", "1")...)))),
			`version=1 id=1 file="mysql-bin.000007" pos=1 es=1700000000000 n=0 of="orders" gone=false`},
		{"a column twice", canalPacket(canalEntry(1, 2, 1, 12, canalRow(canalColumns(2, "id", "1", "id", "1")))), `undecodable: field data.id: it occurs twice`},
		{"a row of nothing", canalPacket(canalEntry(1, 2, 1, 12, []byte{})), `missing_field: field data: a change of this kind must have the row here`},
	} {
		if got := said(t, canalSchema(), &event.Record{Value: c.value, Timestamp: 1}); got != c.want {
			t.Errorf("%s: got\n%.2000s\nwant\n%.2000s", c.name, got, c.want)
		}
	}
}

// TestWhatCanalRepeatsIsBounded: what a record says once is read again for each of its rows, so without a bound a small record could take
// minutes.
func TestWhatCanalRepeatsIsBounded(t *testing.T) {
	var rows []any
	for range 5000 {
		rows = append(rows, 12, []byte{})
	}
	header := testenv.Protobuf(1, 1, 2, "mysql-bin.000007", 3, 1, 8, "shop", 9, strings.Repeat("o", 16<<10), 11, 8)
	packet := canalPacket(testenv.Protobuf(1, header, 2, 2, 3, testenv.Protobuf(append([]any{1, 99, 2, 8}, rows...)...)))
	flat := `{"data":[` + strings.Repeat(`{"id":"1"},`, 4999) + `{"id":"1"}],"type":"INSERT","ts":1700000000000,"table":"` + strings.Repeat("o", 16<<10) + `"}`
	for name, c := range map[string]struct {
		form  event.EnvelopeForm
		value []byte
	}{"Protobuf": {event.CanalProtobuf, packet}, "JSON": {event.Canal, []byte(flat)}} {
		s := wrap(event.Envelope{Form: c.form}, -1, at("id", event.Int), at("of", event.Text, "$table"))
		err := event.NewDecoder(s).Decode(&event.Record{Value: c.value, Timestamp: 5}, new(event.Batch))
		rejected, ok := errors.AsType[*event.Error](err)
		if !ok || rejected.Reason != event.TooLarge || !strings.Contains(rejected.Detail, "too many rows") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Its place in the log is a version.
func TestCanalPacketsHavePlaces(t *testing.T) {
	s := canalSchema()
	s.Position = &event.Position{File: "file", Pos: "pos"}
	got := said(t, s, &event.Record{Value: canalPacket(canalEntry(120, 2, 1, 12, canalRow(canalColumns(2, "id", "1")))), Timestamp: 1})
	if want := `version=30064771192 id=1 file="mysql-bin.000007" pos=120 es=1700000000000 n=0 of="orders" gone=false`; got != want {
		t.Errorf("got %s", got)
	}
}

// FuzzCanalPacket checks that any bytes yield events or a reject, the same each time, and that nothing of a reject remains.
func FuzzCanalPacket(f *testing.F) {
	f.Add(canalPacket(canalEntry(120, 2, 1, 12, canalRow(canalColumns(2, "id", "1", "total", "9.50", "note", "NULL")), 12, canalRow(canalColumns(2, "id", "2"))),
		canalEntry(180, 2, 5, 10, 1, 11, "ALTER"), canalEntry(200, 3, 0)))
	f.Add(canalPacket(canalEntry(140, 2, 2, 12, canalRow(canalColumns(1, "id", "1"), canalColumns(2, "id", "3")))))
	f.Add([]byte{0x18, 7, 0x2a, 2, 0x12, 0})
	f.Fuzz(func(t *testing.T, value []byte) {
		d, again := event.NewDecoder(canalSchema()), event.NewDecoder(canalSchema())
		var first, second event.Batch
		kept := bytes.Clone(value)
		err := d.Decode(&event.Record{Value: value, Timestamp: 1}, &first)
		repeated := again.Decode(&event.Record{Value: value, Timestamp: 1}, &second)
		switch {
		case !bytes.Equal(kept, value):
			t.Fatal("the record was changed")
		case (err == nil) != (repeated == nil) || err != nil && err.Error() != repeated.Error():
			t.Fatalf("%v, and again %v", err, repeated)
		case err != nil && len(first.Events) > 0:
			t.Fatal("a reject leaves events")
		case len(first.Events) != len(second.Events):
			t.Fatalf("%d events, and again %d", len(first.Events), len(second.Events))
		}
		for i := range first.Events {
			for j, v := range first.Events[i].Values {
				if !v.Equal(second.Events[i].Values[j]) {
					t.Fatalf("value %d of event %d differs", j, i)
				}
			}
		}
	})
}
