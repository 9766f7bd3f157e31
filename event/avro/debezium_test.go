package avro_test

import (
	"cmp"
	"fmt"
	"math/big"
	"strings"
	"testing"

	twmb "github.com/twmb/avro"

	"brine/event"
	"brine/event/avro"
	"brine/registry"
)

// debeziumSchema is what Kafka Connect's Avro converter registers for a table's changes: columns with their meaning in connect.name, unions
// with null, and the connector's source.
const debeziumSchema = `{"type":"record","name":"Envelope","namespace":"s1.shop.orders","fields":[
	{"name":"before","type":["null",{"type":"record","name":"Value","fields":[
		{"name":"id","type":"long"},
		{"name":"user","type":["null","string"],"default":null},
		{"name":"price","type":["null",{"type":"bytes","scale":2,"precision":10,"connect.version":1,"connect.parameters":{"scale":"2","connect.decimal.precision":"10"},
			"connect.name":"org.apache.kafka.connect.data.Decimal","logicalType":"decimal"}],"default":null},
		{"name":"rate","type":["null",{"type":"record","name":"VariableScaleDecimal","namespace":"io.debezium.data","fields":[{"name":"scale","type":"int"},
			{"name":"value","type":"bytes"}],"connect.doc":"Variable scaled decimal","connect.version":1,"connect.name":"io.debezium.data.VariableScaleDecimal"}],"default":null},
		{"name":"day","type":["null",{"type":"int","connect.version":1,"connect.name":"io.debezium.time.Date"}],"default":null},
		{"name":"made","type":{"type":"long","connect.version":1,"connect.name":"io.debezium.time.MicroTimestamp"}},
		{"name":"seen","type":{"type":"long","connect.version":1,"connect.default":0,"connect.name":"io.debezium.time.Timestamp"}},
		{"name":"changed","type":["null",{"type":"string","connect.version":1,"connect.name":"io.debezium.time.ZonedTimestamp"}],"default":null},
		{"name":"gift","type":["null","boolean"],"default":null},
		{"name":"more","type":["null",{"type":"string","connect.version":1,"connect.name":"io.debezium.data.Json"}],"default":null}],
		"connect.name":"s1.shop.orders.Value"}],"default":null},
	{"name":"after","type":["null","Value"],"default":null},
	{"name":"source","type":{"type":"record","name":"Source","namespace":"io.debezium.connector.postgresql","fields":[
		{"name":"version","type":"string"},{"name":"connector","type":"string"},{"name":"name","type":"string"},{"name":"ts_ms","type":"long"},
		{"name":"snapshot","type":[{"type":"string","connect.version":1,"connect.parameters":{"allowed":"true,first,last,false,incremental"},"connect.default":"false",
			"connect.name":"io.debezium.data.Enum"},"null"],"default":"false"},
		{"name":"db","type":"string"},{"name":"table","type":"string"},{"name":"lsn","type":["null","long"],"default":null}],
		"connect.name":"io.debezium.connector.postgresql.Source"}},
	{"name":"transaction","type":["null",{"type":"record","name":"block","namespace":"event","fields":[{"name":"id","type":"string"},{"name":"total_order","type":"long"},
		{"name":"data_collection_order","type":"long"}],"connect.version":1,"connect.name":"event.block"}],"default":null},
	{"name":"op","type":"string"},
	{"name":"ts_ms","type":["null","long"],"default":null}],"connect.version":1,"connect.name":"s1.shop.orders.Envelope"}`

// heartbeatSchema and transactionSchema are those of records that change no row.
const (
	heartbeatSchema   = `{"type":"record","name":"Heartbeat","namespace":"io.debezium.connector.common","fields":[{"name":"ts_ms","type":"long"}],"connect.name":"io.debezium.connector.common.Heartbeat"}`
	transactionSchema = `{"type":"record","name":"TransactionMetadataValue","namespace":"io.debezium.connector.common","fields":[{"name":"status","type":"string"},
		{"name":"id","type":"string"},{"name":"event_count","type":["null","long"],"default":null},{"name":"ts_ms","type":"long"}]}`
)

// orderRow is a row of the table; price is in hundredths.
func orderRow(id int64, user string, price int64) map[string]any {
	return map[string]any{"id": id, "user": user, "price": big.NewRat(price, 100), "rate": map[string]any{"scale": 3, "value": []byte{0x30, 0x39}}, "day": int32(19844),
		"made": int64(1714550400123456), "seen": int64(1714550400123), "changed": "2024-05-01T08:00:00.5Z", "gift": true, "more": `{"a":1}`}
}

func orderChange(op string, before, after any, lsn int64) map[string]any {
	return map[string]any{"before": before, "after": after, "op": op, "ts_ms": int64(1714550400999), "transaction": nil,
		"source": map[string]any{"version": "3.0", "connector": "postgresql", "name": "s1", "ts_ms": int64(1714550400500), "snapshot": "false", "db": "shop", "table": "orders",
			"lsn": lsn}}
}

// valueText shows a value of any type.
func valueText(v event.Value) string {
	switch v.Type {
	case event.Decimal, event.Text, event.Nested, event.Bytes:
		return string(v.Text())
	case event.Bool:
		return fmt.Sprint(v.Bool())
	case event.Date, event.TimeUS, event.TimeNS, event.TimeMS, event.Int:
		return fmt.Sprint(v.Int())
	}
	return "null"
}

// Debezium's changes in Avro, with a registry, mean the same as in JSON: operations, images, keys that change, decimals and times with all
// digits, columns that were not sent, and records that change no row.
func TestDebeziumInAvro(t *testing.T) {
	s := newShelf()
	s.add(1, "s1.shop.orders-value", debeziumSchema)
	s.add(2, "__debezium-heartbeat.s1-value", heartbeatSchema)
	s.add(3, "s1.transaction-value", transactionSchema)
	row := func(names ...string) (out []event.Field) {
		types := map[string]event.Type{"id": event.Int, "user": event.Text, "price": event.Decimal, "rate": event.Decimal, "day": event.Date, "made": event.TimeUS,
			"seen": event.TimeMS, "changed": event.TimeUS, "gift": event.Bool, "more": event.Text}
		for _, name := range names {
			out = append(out, event.Field{Name: name, Type: types[name]})
		}
		return out
	}
	schema := func(keys ...string) event.Schema {
		fields := append(row("id", "user", "price", "rate", "day", "made", "seen", "changed", "gift", "more"),
			event.Field{Name: "lsn", Type: event.Int, Path: []string{"$source", "lsn"}}, event.Field{Name: "gone", Type: event.Bool})
		e := &event.Envelope{Form: event.Debezium, Keys: keys}
		out := e.Wrap(event.Schema{Fields: fields, Version: -1, Position: &event.Position{LSN: "lsn"}, Images: event.Images{Deleted: "gone"},
			HaltBreaking: true, Needed: []int{0}, Format: avro.Registered(registry.Confluent, s)})
		if err := out.Validate(); err != nil {
			t.Fatal(err)
		}
		return out
	}
	encode := func(id byte, text string, value any) []byte {
		p, err := twmb.MustParse(text).AppendEncode([]byte{0, 0, 0, 0, id}, value)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	change := func(op string, before, after any, lsn int64) []byte {
		return encode(1, debeziumSchema, orderChange(op, before, after, lsn))
	}
	was, is := orderRow(1004, "u1", 950), orderRow(1004, "u2", 900)
	lacking := orderRow(1004, "u2", 900)
	lacking["more"] = "__debezium_unavailable_value"
	onlyKey := orderRow(1004, "", 0)
	for _, name := range []string{"user", "price", "rate", "day", "changed", "gift", "more"} {
		onlyKey[name] = nil
	}
	const whole = "9.00 12.345 19844 1714550400123456 1714550400123 1714550400500000 true"
	for _, c := range []struct {
		name   string
		schema event.Schema
		value  []byte
		want   string
	}{
		{"a row is made", schema(), change("c", nil, is, 7), "version 7: 1004 u2 " + whole + ` {"a":1} 7 false`},
		{"a row of a snapshot", schema(), change("r", nil, is, 7), "version 7: 1004 u2 " + whole + ` {"a":1} 7 false`},
		{"a row changes", schema(), change("u", was, is, 8), "version 8: 1004 u2 " + whole + ` {"a":1} 8 false, formerly 1004 u1 9.50`},
		{"a row is deleted", schema(), change("d", was, nil, 9), "version 9: 1004 u1 9.50 12.345 19844 1714550400123456 1714550400123 1714550400500000 true " + `{"a":1} 9 true`},
		{"a column was not sent, and stands in the before-image", schema(), change("u", was, lacking, 8), "version 8: 1004 u2 " + whole + ` {"a":1} 8 false, formerly 1004 u1 9.50`},
		{"a column was not sent at all", schema("id"), change("u", nil, lacking, 8), "missing_field: field after.more: the database did not send the column"},
		{"nothing but the key is known", schema("id"), change("d", onlyKey, nil, 9), "version 9: 1004"},
		{"a table is emptied", schema(), change("t", nil, nil, 9), "left out: truncate"},
		{"a program's message", schema(), change("m", nil, nil, 9), "left out: message"},
		{"a heartbeat", schema(), encode(2, heartbeatSchema, map[string]any{"ts_ms": int64(1)}), "left out: heartbeat"},
		{"a transaction ends", schema(), encode(3, transactionSchema, map[string]any{"status": "END", "id": "571", "event_count": int64(2), "ts_ms": int64(1)}), "left out: transaction"},
		{"a tombstone", schema(), nil, "left out: tombstone"},
		{"another kind", schema(), change("x", nil, is, 9), "undecodable: field op"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, rec, b := event.NewDecoder(c.schema), &event.Record{Topic: "s1.shop.orders", Value: c.value, Timestamp: 1714550400999}, new(event.Batch)
			if err := d.Resolve(t.Context(), rec); err != nil {
				t.Fatal(err)
			}
			got := ""
			if err := d.Decode(rec, b); err != nil {
				got = err.Error()
			} else if ev := b.Events[0]; ev.LeftOut != "" {
				got = "left out: " + string(ev.LeftOut)
			} else {
				var texts []string
				for _, v := range ev.Values {
					texts = append(texts, valueText(v))
				}
				got = fmt.Sprintf("version %d: %s", ev.Version, strings.Join(texts, " "))
				if ev.Former != nil {
					got += fmt.Sprintf(", formerly %s %s %s", valueText(ev.Former[0]), valueText(ev.Former[1]), valueText(ev.Former[2]))
				}
			}
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}

	partial := schema("id")
	partial.Envelope.Partial = true
	lacking["user"] = nil
	d, rec, b := event.NewDecoder(partial), &event.Record{Topic: "s1.shop.orders", Value: change("u", nil, lacking, 8), Timestamp: 1714550400999}, new(event.Batch)
	if err := cmp.Or(d.Resolve(t.Context(), rec), d.Decode(rec, b)); err != nil {
		t.Fatal(err)
	}
	for i, f := range partial.Fields {
		v := b.Events[0].Values[i]
		if v.Null() != (f.Name == "user" || f.Name == "more") || v.Unsent() != (f.Name == "more") {
			t.Errorf("%s: null %t, unsent %t", f.Name, v.Null(), v.Unsent())
		}
	}
}
