package event_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"brine/event"
)

// wrap returns a schema of rows in an envelope, with a field gone that is true in deletes.
func wrap(e event.Envelope, version int, fields ...event.Field) event.Schema {
	s := event.Schema{Version: version, Images: event.Images{Deleted: "gone"}}
	s.Fields = append(fields, event.Field{Name: "gone", Type: event.Bool})
	return e.Wrap(s)
}

func at(name string, t event.Type, path ...string) event.Field {
	return event.Field{Name: name, Type: t, Path: path}
}

// said returns the outcome of a record: its events, one per line, or the reject.
func said(t *testing.T, s event.Schema, rec *event.Record) string {
	t.Helper()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	var b event.Batch
	if err := event.NewDecoder(s).Decode(rec, &b); err != nil {
		return err.Error()
	}
	var lines []string
	for i := range b.Events {
		lines = append(lines, shown(s, &b.Events[i]))
	}
	return strings.Join(lines, "\n")
}

func shown(s event.Schema, ev *event.Event) string {
	if ev.LeftOut != "" {
		return "left out: " + string(ev.LeftOut)
	}
	out := show(s, *ev)
	for i, v := range ev.Values {
		if v.Type == event.Nested {
			out += fmt.Sprintf(" %s=%s", s.Fields[i].Name, v.Text())
		}
	}
	if ev.Former != nil {
		out += ", formerly" + show(s, event.Event{Values: ev.Former})[len("version=0"):]
	}
	return out
}

var (
	mysql = wrap(event.Envelope{Form: event.Debezium}, 2, at("id", event.Int), at("name", event.Text), at("at", event.TimeMS, "$source", "ts_ms"),
		at("op", event.Text, "$op"))
	keyed = wrap(event.Envelope{Form: event.Debezium, Keys: []string{"id"}}, 2, at("id", event.Int), at("name", event.Text),
		at("lsn", event.Int, "$source", "lsn"))
	partial = wrap(event.Envelope{Form: event.Debezium, Keys: []string{"id"}, Partial: true}, 2, at("id", event.Int), at("name", event.Text),
		at("lsn", event.Int, "$source", "lsn"))
	refusing = wrap(event.Envelope{Form: event.Debezium, Refused: []event.LeftOut{event.Truncate, event.Message}}, -1, at("id", event.Int))
	flat     = wrap(event.Envelope{Form: event.Debezium, Unwrapped: true, Keys: []string{"id"}}, 2, at("id", event.Int), at("name", event.Text),
		at("at", event.TimeMS, "$source", "ts_ms"), at("lsn", event.Int, "$lsn"))
	named   = wrap(event.Envelope{Form: event.Debezium, Unwrapped: true, Keys: []string{"name"}}, -1, at("name", event.Text))
	defined = wrap(event.Envelope{Form: event.Debezium, Unwrapped: true, Keys: []string{"ddl"}}, -1, at("ddl", event.Text))
)

const (
	source   = `"source":{"connector":"mysql","name":"s1","ts_ms":900,"ts_us":900000,"snapshot":"false","db":"shop","table":"orders","file":"bin.000003","pos":805,"row":0}`
	postgres = `"source":{"connector":"postgresql","name":"s2","ts_ms":900,"snapshot":"false","schema":"public","table":"orders","txId":7,"lsn":77,"xmin":null}`
)

func TestDebezium(t *testing.T) {
	for _, c := range []struct {
		name   string
		schema event.Schema
		in     string
		want   string
	}{
		{"create", mysql, `{"before":null,"after":{"id":1,"name":"ann","x":[]},` + source + `,"op":"c","ts_ms":950,"transaction":null}`,
			`version=900 id=1 name="ann" at=900 op="c" gone=false`},
		{"snapshot", mysql, `{"before":null,"after":{"id":1,"name":null},` + source + `,"op":"r","ts_ms":950}`, `version=900 id=1 at=900 op="r" gone=false`},
		{"update", mysql, `{"before":{"id":1,"name":"ann"},"after":{"id":1,"name":"bob"},` + source + `,"op":"u","ts_ms":950}`,
			`version=900 id=1 name="bob" at=900 op="u" gone=false, formerly id=1 name="ann" at=900 op="u" gone=false`},
		{"delete", mysql, `{"before":{"id":1004,"name":"Anne"},"after":null,"source":{"connector":"mysql","name":"s1","ts_ms":900,"ts_us":900000,"snapshot":"false","db":"inventory","table":"customers","gtid":null,"file":"bin.000003","pos":805,"row":0,"thread":7},"op":"d","ts_ms":960}`,
			`version=900 id=1004 name="Anne" at=900 op="d" gone=true`},
		{"after a delete", mysql, ``, `left out: tombstone`},
		{"op before the images", mysql, `{"op":"d",` + source + `,"after":null,"before":{"id":1,"name":"ann"}}`, `version=900 id=1 name="ann" at=900 op="d" gone=true`},
		{"truncate", mysql, `{"before":null,"after":null,` + source + `,"op":"t","ts_ms":950}`, `left out: truncate`},
		{"truncate without images", mysql, `{` + source + `,"op":"t","ts_ms":950}`, `left out: truncate`},
		{"truncate refused", refusing, `{` + source + `,"op":"t","ts_ms":950}`, `undecodable: it is a truncate, which the pipeline's envelope refuses`},
		{"message", keyed, `{"op":"m","ts_ms":950,` + postgres + `,"message":{"prefix":"p","content":"aGk="}}`, `left out: message`},
		{"message refused", refusing, `{"op":"m","message":{}}`, `undecodable: it is a message, which the pipeline's envelope refuses`},
		{"heartbeat", mysql, `{"ts_ms":950}`, `left out: heartbeat`},
		{"schema change", mysql, `{` + source + `,"ts_ms":950,"databaseName":"shop","schemaName":null,"ddl":"ALTER TABLE orders …","tableChanges":[]}`, `left out: schema_change`},
		{"schema change without ddl", mysql, `{` + source + `,"ts_ms":950,"databaseName":"shop","schemaName":"public","ddl":null,"tableChanges":[{"type":"CREATE"}]}`, `left out: schema_change`},
		{"transaction begins", mysql, `{"status":"BEGIN","id":"571","ts_ms":950,"event_count":null,"data_collections":null}`, `left out: transaction`},
		{"transaction ends", mysql, `{"status":"END","id":"571","ts_ms":950,"event_count":2,"data_collections":[{"data_collection":"s1.a","event_count":1}]}`, `left out: transaction`},

		{"no kind", mysql, `{"before":null,"after":{"id":1},` + source + `}`,
			`missing_field: field op: it is not a change in Debezium's format; write unwrapped: true in the envelope if its rows come without one`},
		{"another kind", mysql, `{"op":"x","after":{"id":1},` + source + `}`, `undecodable: field op: unknown kind of change: "x"`},
		{"a kind that is none", mysql, `{"op":1}`, `wrong_type: field op: a string is expected, found a number`},
		{"a create of nothing", mysql, `{"op":"c","after":null,` + source + `}`, `missing_field: field after: a change of this kind must have the row here`},
		{"delete of a table without a key", mysql, `{"op":"d","before":null,"after":null,` + source + `}`, `missing_field: field before: the row's former values are not known; make the database log whole rows (in Postgres REPLICA IDENTITY FULL, in MySQL binlog_row_image=FULL), or write before: key in the envelope`},
		{"update of Postgres where full rows are expected", mysql, `{"op":"u","before":null,"after":{"id":1},` + source + `}`, `missing_field: field before: the row's former values are not known; make the database log whole rows (in Postgres REPLICA IDENTITY FULL, in MySQL binlog_row_image=FULL), or write before: key in the envelope`},
		{"a before-image of the key where full rows are expected", mysql, `{"op":"u","before":{"id":1},"after":{"id":1,"name":"ann"},` + source + `}`, `missing_field: field before.name: the before-image lacks it, so its former value is not known; make the database log whole rows (in Postgres REPLICA IDENTITY FULL), or write before: key in the envelope`},

		{"update with the key", keyed, `{"op":"u","before":null,"after":{"id":1,"name":"ann"},` + postgres + `}`, `version=77 id=1 name="ann" lsn=77 gone=false`},
		{"update of the key", keyed, `{"op":"u","before":{"id":2,"name":""},"after":{"id":1,"name":"ann"},` + postgres + `}`, `version=77 id=1 name="ann" lsn=77 gone=false`},
		{"delete with the key", keyed, `{"op":"d","before":{"id":1},"after":null,` + postgres + `}`, `version=77 id=1 lsn=77 gone=true`},
		{"delete with made-up columns", keyed, `{"op":"d","before":{"id":1,"name":""},"after":null,` + postgres + `}`, `version=77 id=1 lsn=77 gone=true`},

		{"unavailable, whole", keyed, `{"op":"u","before":null,"after":{"id":1,"name":"__debezium_unavailable_value"},` + postgres + `}`,
			`missing_field: field after.name: the database did not send the column because it has not changed, but each change must carry it; make it log whole rows (in Postgres REPLICA IDENTITY FULL), or write changes: partial`},
		{"unavailable, partial", partial, `{"op":"u","before":null,"after":{"id":1,"name":"__debezium_unavailable_value"},` + postgres + `}`, `version=77 id=1 lsn=77 gone=false`},
		{"unavailable under a new key, partial", partial, `{"op":"c","before":null,"after":{"id":2,"name":"__debezium_unavailable_value"},` + postgres + `}`,
			`missing_field: field after.name: the database did not send the column because only the row's key has changed, but under its new key the row lacks it; make it log whole rows (in Postgres REPLICA IDENTITY FULL)`},
		{"unavailable and known before", mysql, `{"op":"u","before":{"id":1,"name":"long"},"after":{"id":1,"name":"__debezium_unavailable_value"},` + source + `}`,
			`version=900 id=1 name="long" at=900 op="u" gone=false, formerly id=1 name="long" at=900 op="u" gone=false`},
		{"unavailable in both", mysql, `{"op":"u","before":{"id":1,"name":"__debezium_unavailable_value"},"after":{"id":1,"name":"__debezium_unavailable_value"},` + source + `}`,
			`missing_field: field after.name: the database did not send the column because it has not changed, but each change must carry it; make it log whole rows (in Postgres REPLICA IDENTITY FULL), or write changes: partial`},
		{"unavailable number", partial, `{"op":"u","before":null,"after":{"id":"__debezium_unavailable_value","name":"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="},` + postgres + `}`, `version=77 lsn=77 gone=false`},
		{"of another kind", mysql, `{"op":"c","after":{"id":"1"},` + source + `}`, `wrong_type: field after.id: an integer is expected, found a string`},

		{"unwrapped", flat, `{"id":1,"name":"ann","__op":"u","__lsn":77,"__source_ts_ms":900,"__deleted":"false"}`, `version=900 id=1 name="ann" at=900 lsn=77 gone=false`},
		{"unwrapped delete", flat, `{"id":1,"name":null,"__op":"d","__lsn":77,"__source_ts_ms":900,"__deleted":"true"}`, `version=900 id=1 at=900 lsn=77 gone=true`},
		{"unwrapped delete by its op", flat, `{"id":1,"__op":"d","__source_ts_ms":900}`, `version=900 id=1 at=900 gone=true`},
		{"unwrapped tombstone", flat, `null`, `undecodable: the record has no value, which is either the delete of its key's row, or follows a row that already marks the delete; write deletes: tombstone in the pipeline if rows are deleted only in this way, or deletes: marked if __deleted or __op marks each delete`},
		{"unwrapped, a schema change", named, `{` + source + `,"ts_ms":950,"databaseName":"shop","schemaName":null,"ddl":"ALTER TABLE orders …","tableChanges":[]}`, `left out: schema_change`},
		{"unwrapped, a schema change without ddl", named, `{` + source + `,"ts_ms":950,"databaseName":"shop","schemaName":"public","ddl":null,"tableChanges":[{"type":"CREATE"}]}`, `left out: schema_change`},
		{"unwrapped, a transaction begins", named, `{"status":"BEGIN","id":"571","ts_ms":950,"event_count":null,"data_collections":null}`, `left out: transaction`},
		{"unwrapped, a transaction ends", named, `{"status":"END","id":"571","ts_ms":950,"event_count":2,"data_collections":[{"data_collection":"s1.a","event_count":1}]}`, `left out: transaction`},
		{"unwrapped, a row with columns named so", named, `{"name":"ann","ddl":7,"tableChanges":"x","event_count":[],"data_collections":{}}`, `version=1000 name="ann" gone=false`},
		{"unwrapped, a row with only columns named so", named, `{"ddl":1,"tableChanges":2,"__op":"c"}`, `version=1000 gone=false`},
		{"unwrapped, a declared column named so", defined, `{"ddl":"x","tableChanges":2}`, `version=1000 ddl="x" gone=false`},
		{"unwrapped, half of a schema change", named, `{"ddl":1}`, `version=1000 gone=false`},
		{"unwrapped without a version", flat, `{"id":1}`, `missing_field: field __source_ts_ms: it is the version of the event`},
		{"unwrapped, unavailable", flat, `{"id":1,"name":"__debezium_unavailable_value","__source_ts_ms":900}`,
			`missing_field: field name: the database did not send the column because it has not changed, but each change must carry it; make it log whole rows (in Postgres REPLICA IDENTITY FULL), or write changes: partial`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, in := range []string{c.in, `{"schema":null,"payload":` + c.in + `}`, ` { "payload" : ` + c.in + `, "schema" : {"type":"struct","fields":[]} } `} {
				if c.in == "" && in != "" {
					in = `{"schema":null,"payload":null}`
				}
				if got := said(t, c.schema, &event.Record{Value: valueOf(in), Timestamp: 1000}); got != c.want {
					t.Errorf("%s\ngot  %s\nwant %s", in, got, c.want)
				}
			}
		})
	}
	beat := &event.Record{Topic: "__debezium-heartbeat.s1", Value: []byte(`{"ts_ms":1}`)}
	if got := said(t, flat, beat); got != "left out: heartbeat" {
		t.Errorf("a heartbeat by its topic: %s", got)
	}
}

// typed has a column of each of Debezium's types that JSON lacks.
func typed(bare bool) event.Schema {
	price := event.Field{Name: "price", Type: event.Text, Numbers: true}
	day, seen := event.Field{Name: "day", Type: event.TimeMS}, event.Field{Name: "seen", Type: event.TimeMS}
	zoned := event.Field{Name: "zoned", Type: event.TimeMS}
	if bare {
		price = event.Field{Name: "price", Type: event.Text, Decimal: true, Scale: 2}
		day = event.Field{Name: "day", Type: event.Time, Format: "epoch_days"}
		seen, zoned = event.Field{Name: "seen", Type: event.Time, Format: "epoch_us"}, event.Field{Name: "zoned", Type: event.Time}
	}
	return wrap(event.Envelope{Form: event.Debezium}, -1, at("id", event.Int), price,
		event.Field{Name: "ratio", Type: event.Text, Numbers: true}, day, seen, zoned)
}

const column = `{"type":"struct","optional":true,"field":"%s","name":"s1.shop.orders.Value","fields":[` +
	`{"type":"int64","optional":false,"field":"id"},` +
	`{"type":"bytes","optional":true,"name":"org.apache.kafka.connect.data.Decimal","version":1,"parameters":{"scale":"2","connect.decimal.precision":"10"},"field":"price"},` +
	`{"type":"struct","fields":[{"type":"int32","field":"scale"},{"type":"bytes","field":"value"}],"name":"io.debezium.data.VariableScaleDecimal","field":"ratio"},` +
	`{"type":"int32","name":"io.debezium.time.Date","version":1,"field":"day"},` +
	`{"type":"int64","name":"io.debezium.time.MicroTimestamp","version":1,"field":"seen"},` +
	`{"type":"string","name":"io.debezium.time.ZonedTimestamp","version":1,"field":"zoned"}]}`

var connectSchema = `{"type":"struct","fields":[` + fmt.Sprintf(column, "before") + `,` + fmt.Sprintf(column, "after") +
	`,{"type":"string","field":"op"}],"optional":false,"name":"s1.shop.orders.Envelope"}`

func TestDebeziumTypes(t *testing.T) {
	row := func(price, ratio, day, seen, zoned string) string {
		return fmt.Sprintf(`{"op":"c","before":null,"after":{"id":1,"price":%s,"ratio":%s,"day":%s,"seen":%s,"zoned":%s}}`, price, ratio, day, seen, zoned)
	}
	for _, c := range []struct {
		name, in, want string
		bare           string // without a schema; empty: the same
	}{
		{"all", row(`"MDk="`, `{"scale":2,"value":"MDk="}`, `19000`, `1700000000123456`, `"2023-11-14T22:13:20.5Z"`),
			`version=1000 id=1 price="123.45" ratio="123.45" day=1641600000000 seen=1700000000123 zoned=1700000000500 gone=false`, ""},
		{"below zero", row(`"/w=="`, `{"scale":0,"value":"/w=="}`, `-1`, `-1`, `"1969-12-31T23:59:59Z"`),
			`version=1000 id=1 price="-0.01" ratio="-1" day=-86400000 seen=-1 zoned=-1000 gone=false`, ""},
		{"null", row(`null`, `null`, `null`, `null`, `null`), `version=1000 id=1 gone=false`, ""},
		{"no decimal", row(`"?"`, `null`, `1`, `1`, `null`), `wrong_type: field after.price: a decimal of bytes in base64 is expected, found "?"`, ""},
		{"no variable decimal", row(`null`, `{"value":"MDk="}`, `1`, `1`, `null`), `wrong_type: field after.ratio: a string is expected, found an object`, ""},
		{"the year 0", row(`null`, `null`, `-719528`, `-62167219200000000`, `"0000-01-01T00:00:00Z"`),
			`version=1000 id=1 day=-62167219200000 seen=-62167219200000 zoned=-62167219200000 gone=false`, ""},
		{"the year 9999", row(`null`, `null`, `2932896`, `253402300799999999`, `"9999-12-31T23:59:59.999999Z"`),
			`version=1000 id=1 day=253402214400000 seen=253402300799999 zoned=253402300799999 gone=false`, ""},
		{"more days than there are", row(`null`, `null`, `9223372036854775807`, `1`, `null`), `wrong_type: field after.day: the time does not fit 64 bits of milliseconds`,
			`wrong_type: field after.day: a time in days since 1970 is expected, found "9223372036854775807"`},
		{"more µs than there are", row(`null`, `null`, `1`, `9223372036854775808`, `null`), `wrong_type: field after.seen: the number does not fit 64 bits`,
			`wrong_type: field after.seen: a time in microseconds since 1970 is expected, found "9223372036854775808"`},
		{"a long decimal", row(`"`+strings.Repeat("MDk5", 20)+`"`, `null`, `1`, `1`, `null`), `wrong_type: field after.price: the decimal has more than 38 digits`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := said(t, typed(false), &event.Record{Value: []byte(`{"schema":` + connectSchema + `,"payload":` + c.in + `}`), Timestamp: 1000}); got != c.want {
				t.Errorf("with schema\ngot  %s\nwant %s", got, c.want)
			}
			if got := said(t, typed(true), &event.Record{Value: []byte(c.in), Timestamp: 1000}); got != cmp.Or(c.bare, c.want) {
				t.Errorf("bare\ngot  %s\nwant %s", got, cmp.Or(c.bare, c.want))
			}
		})
	}
}

// TestSchemasChangeBetweenRecords checks that the previous record's schema does not matter.
func TestSchemasChangeBetweenRecords(t *testing.T) {
	row := `{"op":"c","before":null,"after":{"id":1,"price":"MDk="}}`
	other := strings.ReplaceAll(connectSchema, `"scale":"2"`, `"scale":"1"`)
	records := []string{
		`{"schema":` + connectSchema + `,"payload":` + row + `}`, `{"schema":` + other + `,"payload":` + row + `}`,
		`{"payload":` + row + `,"schema":` + connectSchema + `}`, `{"schema":` + connectSchema + `,"payload":` + row + `,"more":1}`,
		`{"schema":` + connectSchema + `,"payload":` + row + `} `, `{"schema":` + connectSchema + `,"payload":` + row,
		`{"schema":` + connectSchema + `,"payload":null}`, `{"schema":[],"payload":` + row + `}`, row,
	}
	s := typed(false)
	alone := make([]string, len(records))
	for i, r := range records {
		alone[i] = said(t, s, &event.Record{Value: []byte(r), Timestamp: 1000})
	}
	for i, want := range []string{`price="123.45"`, `price="1234.5"`, `price="123.45"`, `undecodable: there is data after the payload`, `price="123.45"`, "undecodable: it ends too early",
		"left out: tombstone", "undecodable: field schema: it is not a Kafka Connect schema", `price="MDk="`} {
		if !strings.Contains(alone[i], want) {
			t.Errorf("record %d: got %s, want %s", i, alone[i], want)
		}
	}
	d := event.NewDecoder(s)
	for i := range records {
		for k := range records {
			for _, n := range []int{i, k} {
				var b event.Batch
				got := ""
				if err := d.Decode(&event.Record{Value: []byte(records[n]), Timestamp: 1000}, &b); err != nil {
					got = err.Error()
				} else {
					got = shown(s, &b.Events[0])
				}
				if got != alone[n] {
					t.Errorf("record %d after others: %s, alone %s", n, got, alone[n])
				}
			}
		}
	}
}

// TestPayloadsBeforeTheirSchemas checks that members may come in any order, whichever part is longer and whatever record came before.
func TestPayloadsBeforeTheirSchemas(t *testing.T) {
	bare := wrap(event.Envelope{Form: event.Debezium, Unwrapped: true, MarkedDeletes: true}, -1,
		event.Field{Name: "id", Type: event.Int, Place: event.InKey, Path: []string{"id"}}, at("name", event.Text), at("type", event.Text))
	bare.KeyFormat = event.JSONFormat{}
	const schema, long = `{"type":"struct","name":"shop.customers.Value"}`, `{"name":"ann, who has a long name","type":"customer","more":"x"}`
	change := `{"op":"c","before":null,"after":{"id":1,"name":"ann"},` + source + `}`
	for _, c := range []struct {
		schema          event.Schema
		schemaOf        string
		payloads, wants [2]string
	}{
		{bare, schema, [2]string{long, `{"name":"bo"}`}, [2]string{`version=1000 id=1 name="ann, who has a long name" type="customer" gone=false`, `version=1000 id=1 name="bo" gone=false`}},
		{mysql, `{"type":"struct"}`, [2]string{change, strings.Replace(change, `"ann"`, `"bo"`, 1)}, [2]string{`version=900 id=1 name="ann" at=900 op="c" gone=false`, `version=900 id=1 name="bo" at=900 op="c" gone=false`}},
	} {
		d := event.NewDecoder(c.schema)
		for n := range 64 { // all sequences of three records of these four
			for _, of := range []int{n % 4, n / 4 % 4, n / 16} {
				payload := c.payloads[of/2]
				in := `{"schema":` + c.schemaOf + `,"payload":` + payload + `}`
				if of%2 == 0 {
					in = `{"payload":` + payload + `,"schema":` + c.schemaOf + `}`
				}
				rec := &event.Record{Key: []byte(`{"id":1}`), Value: []byte(in), Timestamp: 1000}
				if got := strings.TrimSuffix(decodeAll(c.schema, d, rec), "\n"); got != c.wants[of/2] {
					t.Fatalf("%s\ngot  %s\nwant %s", in, got, c.wants[of/2])
				}
			}
		}
	}
}

// TestRowsWithColumnsNamedSchemaAndPayload checks that a row with more columns than these two is not taken for a wrapped one, unless it
// could be one that something was added to.
func TestRowsWithColumnsNamedSchemaAndPayload(t *testing.T) {
	s := wrap(event.Envelope{Form: event.Debezium, Unwrapped: true, MarkedDeletes: true}, -1,
		at("id", event.Int), at("schema", event.Nested), at("payload", event.Nested))
	const added = "undecodable: there is data after the payload"
	for in, want := range map[string]string{
		`{"schema":"s","payload":"p","id":1}`:                `version=1000 id=1 gone=false schema="s" payload="p"`,
		`{"payload":7,"schema":null,"id":1}`:                 `version=1000 id=1 gone=false payload=7`,
		`{"schema":null,"payload":null,"id":1}`:              `version=1000 id=1 gone=false`,
		`{"schema":[],"payload":{"a":1},"id":1}`:             `version=1000 id=1 gone=false schema=[] payload={"a":1}`,
		`{"schema":{"type":"struct"},"payload":[1],"id":1}`:  `version=1000 id=1 gone=false schema={"type":"struct"} payload=[1]`,
		`{"schema":null,"payload":{"id":1},"id":1}`:          added,
		`{"schema":{"type":"struct"},"payload":null,"id":1}`: added,
		`{"payload":{"id":1},"schema":{"fields":[]},"id":1}`: added,
	} {
		if got := said(t, s, &event.Record{Value: []byte(in), Timestamp: 1000}); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
}
