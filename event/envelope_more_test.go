package event_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"brine/event"
)

func TestMaxwell(t *testing.T) {
	rows := wrap(event.Envelope{Form: event.Maxwell}, 2, at("id", event.Int), at("m", event.Float), at("at", event.TimeS, "$ts"), at("pos", event.Text, "$position"))
	for _, c := range []struct{ name, in, want string }{
		{"update", `{"database":"test","table":"e","type":"update","ts":5,"xid":23396,"xoffset":0,"position":"master.000006:800911","data":{"id":1,"m":5.4},"old":{"m":4.2}}`,
			`version=5000 id=1 m=5.4 at=5000 pos="master.000006:800911" gone=false, formerly id=1 m=4.2 at=5000 pos="master.000006:800911" gone=false`},
		{"update from null", `{"type":"update","ts":5,"commit":true,"data":{"id":1,"m":5.4},"old":{"m":null}}`, `version=5000 id=1 m=5.4 at=5000 gone=false, formerly id=1 at=5000 gone=false`},
		{"insert", `{"database":"test","table":"e","type":"insert","ts":5,"xid":1,"commit":true,"data":{"id":1,"m":null}}`, `version=5000 id=1 at=5000 gone=false`},
		{"delete", `{"database":"test","table":"e","type":"delete","ts":5,"xid":1,"commit":true,"data":{"id":1,"m":2}}`, `version=5000 id=1 m=2 at=5000 gone=true`},
		{"bootstrap", `{"type":"bootstrap-insert","ts":5,"data":{"id":1,"m":2}}`, `version=5000 id=1 m=2 at=5000 gone=false`},
		{"bootstrap begins", `{"type":"bootstrap-start","ts":5,"data":{}}`, `left out: bootstrap`},
		{"bootstrap ends", `{"type":"bootstrap-complete","ts":5,"data":{}}`, `left out: bootstrap`},
		{"table-create", `{"type":"table-create","ts":1477053234000,"database":"test","table":"e","sql":"create …","def":{}}`, `left out: schema_change`},
		{"table-alter", `{"type":"table-alter","ts":1477053234000,"old":{"database":"test"},"def":{}}`, `left out: schema_change`},
		{"table-drop", `{"type":"table-drop","ts":1477053234000}`, `left out: schema_change`},
		{"database-create", `{"type":"database-create","ts":1477053234000}`, `left out: schema_change`},
		{"no value", ``, `left out: tombstone`},
		{"update of nothing", `{"type":"update","ts":5,"data":{"id":1}}`, `missing_field: field old: the row's former values are not known; make the database log whole rows (in Postgres REPLICA IDENTITY FULL, in MySQL binlog_row_image=FULL), or write before: key in the envelope`},
		{"no kind", `{"id":1}`, `missing_field: field type: it is not a change in Maxwell's format`},
		{"another kind", `{"type":"upsert","ts":1}`, `undecodable: field type: unknown kind of change: "upsert"`},
		{"no row", `{"type":"insert","ts":1}`, `missing_field: field data: a change of this kind must have the row here`},
	} {
		if got := said(t, rows, &event.Record{Value: valueOf(c.in), Timestamp: 1000}); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestCanal(t *testing.T) {
	s := event.Schema{Version: 5, Sequence: "row", Images: event.Images{Deleted: "gone"}, Fields: []event.Field{
		at("id", event.Int), at("total", event.Text), at("paid", event.Bool), at("rate", event.Float),
		{Name: "made", Type: event.Time, Format: "%Y-%m-%d %H:%M:%S", Zone: "+08:00"},
		at("es", event.TimeMS, "$es"), at("row", event.Int, "$row"), at("gone", event.Bool)}}
	rows := (&event.Envelope{Form: event.Canal}).Wrap(s)
	const types = `"sqlType":{"id":-5,"total":3},"mysqlType":{"id":"bigint(20)","total":"decimal(10,2)"},`
	for _, c := range []struct{ name, in, want string }{
		{"update", `{"id":7,"database":"shop","table":"orders","pkNames":["id"],"isDdl":false,"type":"UPDATE","es":900,"ts":1700000000123,` + types + `"data":[{"id":"1","total":"9.50"}],"old":[{"total":"9.00"}],"gtid":""}`,
			`version=900000 id=1 total="9.50" es=900 row=0 gone=false, formerly id=1 total="9.00" es=900 row=0 gone=false`},
		{"all types", `{"type":"INSERT","es":900,"data":[{"id":"1","total":"9.50","paid":"1","rate":"1.5","made":"1970-01-01 08:00:01"}],"old":null}`,
			`version=900000 id=1 total="9.50" paid=true rate=1.5 made=1000 es=900 row=0 gone=false`},
		{"several rows, old before data", `{"old":[{"total":"1"},{"total":"2","paid":"0"}],"data":[{"id":"1","total":"3","paid":"1"},{"id":"2","total":"2","paid":"0"}],"type":"UPDATE","es":900}`,
			`version=900000 id=1 total="3" paid=true es=900 row=0 gone=false, formerly id=1 total="1" paid=true es=900 row=0 gone=false
version=900001 id=2 total="2" paid=false es=900 row=1 gone=false, formerly id=2 total="2" paid=false es=900 row=1 gone=false`},
		{"deletes", `{"type":"DELETE","es":900,"data":[{"id":"1","total":null},{"id":"2","total":"x"}],"old":null}`,
			"version=900000 id=1 es=900 row=0 gone=true\nversion=900001 id=2 total=\"x\" es=900 row=1 gone=true"},
		{"schema change", `{"data":null,"database":"shop","es":900,"id":1,"isDdl":true,"mysqlType":null,"old":null,"pkNames":null,"sql":"alter table …","table":"orders","type":"ALTER"}`, `left out: schema_change`},
		{"statement", `{"data":null,"es":900,"isDdl":false,"type":"QUERY","sql":"…"}`, `left out: schema_change`},
		{"truncate", `{"data":null,"es":900,"isDdl":true,"type":"TRUNCATE"}`, `left out: truncate`},

		{"one bad row", `{"type":"INSERT","es":900,"data":[{"id":"1"},{"id":"x"}]}`, `wrong_type: field data.id: an integer is expected, found "x"`},
		{"not a number", `{"type":"INSERT","es":900,"data":[{"rate":"NaN"}]}`, `wrong_type: field data.rate: a number is expected, found "NaN"`},
		{"too large", `{"type":"INSERT","es":900,"data":[{"id":"9223372036854775808"}]}`, `wrong_type: field data.id: the number does not fit 64 bits`},
		{"not a bool", `{"type":"INSERT","es":900,"data":[{"paid":"2"}]}`, `wrong_type: field data.paid: a bool is expected, found "2"`},
		{"an empty text", `{"type":"INSERT","es":900,"data":[{"id":""}]}`, `wrong_type: field data.id: an integer is expected, found ""`},
		{"no rows", `{"type":"INSERT","es":900,"data":[]}`, `missing_field: field data: a change of this kind must have the row here`},
		{"null rows", `{"type":"INSERT","es":900,"data":[null]}`, `missing_field: field data: a change of this kind must have the row here`},
		{"rows that are none", `{"type":"INSERT","es":900,"data":[[]]}`, `wrong_type: field data: an object is expected, found an array`},
		{"no list", `{"type":"INSERT","es":900,"data":{}}`, `wrong_type: field data: a list of rows is expected, found an object`},
		{"twice", `{"type":"INSERT","es":900,"data":[{"id":"1"}],"data":[{"id":"1"}]}`, `undecodable: field data: it occurs twice`},
		{"update of nothing", `{"type":"UPDATE","es":900,"data":[{"id":"1"},{"id":"2"}],"old":[{}]}`, `missing_field: field old: the row's former values are not known; make the database log whole rows (in Postgres REPLICA IDENTITY FULL, in MySQL binlog_row_image=FULL), or write before: key in the envelope`},
		{"another kind", `{"type":"REPLACE","es":900,"data":[{"id":"1"}]}`, `undecodable: field type: unknown kind of row change: "REPLACE"`},
		{"no kind", `{"id":1}`, `missing_field: field type: it is not a change in Canal's format`},
		{"more rows than a version counts", `{"type":"INSERT","es":900,"data":[` + strings.TrimSuffix(strings.Repeat(`{"id":"1"},`, 1001), ",") + `]}`,
			`bad_version: field $row: 1000 is not between 0 and 999, the room that a millisecond has`},
		{"something behind", `{"type":"INSERT","es":900,"data":[{"id":"1"}]} {}`, `undecodable: there is data after the object at byte 47`},
	} {
		if got := said(t, rows, &event.Record{Value: []byte(c.in), Timestamp: 1000}); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestEnvelopesThatDoNotFit(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(*event.Schema)
	}{
		{`no envelope "oggit"; write debezium, canal, canal_protobuf or maxwell`, func(s *event.Schema) { s.Envelope = &event.Envelope{Form: "oggit"} }},
		{"records of canal have a fixed format; remove format", func(s *event.Schema) { s.Envelope = &event.Envelope{Form: event.Canal, Unwrapped: true} }},
		{"field lost of the primary key is not declared; add it to fields", func(s *event.Schema) { s.Envelope = &event.Envelope{Form: event.Debezium, Keys: []string{"lost"}} }},
		{"field row, the row's index in its record, is declared text; it must be int", func(s *event.Schema) {
			s.Fields = append(s.Fields, at("row", event.Text, "$row"))
		}},
		{"field id is declared int; a decimal is declared decimal, text or float", func(s *event.Schema) { s.Fields[0].Decimal = true }},
		{"field id: the scale is 39; it must be 0 to 38", func(s *event.Schema) { s.Fields[0].Scale = 39 }},
	} {
		s := wrap(event.Envelope{Form: event.Debezium}, -1, at("id", event.Int))
		c.change(&s)
		if err := s.Validate(); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// FuzzEnvelope checks that any bytes yield in an envelope what the oracle reads, with the same reject whatever was decoded before, and that
// nothing is written for a column that the database did not send. The first argument selects the envelope.
func FuzzEnvelope(f *testing.F) {
	oracles := envelopeOracles(f)
	decoders := make([]*event.Decoder, len(oracles))
	for i, o := range oracles {
		decoders[i] = event.NewDecoder(o.schema)
	}
	image := `{"id":1,"name":"__debezium_unavailable_value","price":"MDk=","day":19000,"more":{"a":[1]}}`
	seeds := []string{
		`{"op":"u","before":` + image + `,"after":` + image + `,"ts_ms":5}`, `{"op":"d","before":` + image + `,"after":null}`, `{"ts_ms":1}`, `{"op":"c","after":{"name":"\u005f_debezium_unavailable_value"}}`,
		`{"schema":` + connectSchema + `,"payload":{"op":"c","before":null,"after":` + image + `}}`, `{"schema":null,"payload":null}`,
		`{"payload":` + image + `,"schema":{"type":"struct","name":"s1.shop.orders.Value"}}`, `{"schema":"x","payload":"y","id":1,"__op":"c"}`,
		`{"payload":{"op":"c","before":null,"after":` + image + `},"schema":{"type":"struct"}}`,
		`{"id":1,"__op":"d","__deleted":"true"}`, `{"type":"update","ts":5,"data":` + image + `,"old":{"name":"x"}}`,
		`{"type":"UPDATE","es":5,"data":[{"id":"1","price":"1","more":"[1]"},{"id":"2"}],"old":[{"id":"3"},null]}`,
		fmt.Sprintf(`{"schema":%s,"payload":{"op":"t"}}`, connectSchema), `{"op":"m"}`, `{"type":"table-drop"}`, begins, ends, alters, altersWithout,
	}
	for _, p := range placeholders {
		seeds = append(seeds, `{"op":"u","before":{"id":1,"more":`+p+`},"after":{"id":1,"name":`+p+`,"more":`+p+`}}`, `{"id":1,"name":`+p+`,"more":`+p+`,"__op":"u"}`)
	}
	for i := range oracles {
		for _, seed := range seeds {
			f.Add(byte(i), []byte(seed))
		}
	}
	count := 0
	f.Fuzz(func(t *testing.T, of byte, value []byte) {
		if int(of) >= len(oracles) || len(value) == 0 { // nil is a tombstone
			return
		}
		o, d, rec := oracles[of], decoders[of], &event.Record{Value: value, Timestamp: 1000}
		o.agrees(t, d, value)
		if count++; count%8 == 0 { // a new decoder takes longer than all else
			if alone, among := decodeAll(o.schema, event.NewDecoder(o.schema), rec), decodeAll(o.schema, d, rec); alone != among {
				t.Errorf("%s: %s\nafter others: %s", o.schema.Envelope.Form, alone, among)
			}
		}
		var b event.Batch
		if o.schema.Envelope.Form != event.Debezium || d.Decode(rec, &b) != nil {
			return
		}
		for _, ev := range b.Events {
			if slices.ContainsFunc(slices.Concat(ev.Values, ev.Former), holdsPlaceholder) {
				t.Errorf("an unavailable value is written: %s", value)
			}
		}
	})
}

// decodeAll returns the outcome of a record.
func decodeAll(s event.Schema, d *event.Decoder, rec *event.Record) string {
	var b event.Batch
	if err := d.Decode(rec, &b); err != nil {
		return err.Error()
	}
	out := ""
	for i := range b.Events {
		out += shown(s, &b.Events[i]) + "\n"
	}
	return out
}
