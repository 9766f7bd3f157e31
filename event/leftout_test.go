package event_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"brine/event"
)

// What an envelope leaves out needs no place in the table of a field's values, nor any other conversion; what it does not leave out does.
func TestConversionsDoNotRejectWhatIsLeftOut(t *testing.T) {
	table := func(f event.Field, from ...string) event.Field {
		f.Convert.Enum = map[string]string{}
		for _, text := range from {
			f.Convert.Enum[text] = strings.ToUpper(text)
		}
		return f
	}
	op, kind := table(at("op", event.Text, "$op"), "c", "u", "d"), table(at("kind", event.Text, "$type"), "insert", "INSERT")
	number := at("n", event.Int, "$source", "table")
	number.Convert.FromText = true
	header := table(event.Field{Name: "h", Type: event.Text, Place: event.InHeader, Path: []string{"h"}}, "a")
	count := event.Field{Name: "h", Type: event.Int, Place: event.InHeader, Path: []string{"h"}}
	key := event.Field{Name: "k", Type: event.Int, Place: event.InKey, Path: []string{"k"}}
	topic := table(event.Field{Name: "topic", Type: event.Text, Place: event.RecordTopic}, "shop.orders")
	debezium := func(f event.Field) event.Schema {
		return wrap(event.Envelope{Form: event.Debezium}, -1, at("id", event.Int), f)
	}
	keyed := debezium(key)
	keyed.KeyFormat = event.JSONFormat{}
	bare := wrap(event.Envelope{Form: event.Debezium, Unwrapped: true, MarkedDeletes: true}, -1, at("id", event.Int), header)
	canal := wrap(event.Envelope{Form: event.Canal}, -1, at("id", event.Int), kind)
	maxwell := wrap(event.Envelope{Form: event.Maxwell}, -1, at("id", event.Int), kind)
	images := event.Schema{Version: -1, Fields: []event.Field{at("id", event.Int, "new", "id"), header},
		Images: event.Images{Before: []string{"old"}, After: []string{"new"}}}
	for _, c := range []struct {
		name   string
		schema event.Schema
		in     string
		want   string
	}{
		{"a create", debezium(op), `{"op":"c","after":{"id":1}}`, `version=1000 id=1 op="C" gone=false`},
		{"a truncate", debezium(op), `{"op":"t","source":{"table":"orders"}}`, "left out: truncate"},
		{"a truncate, members with spaces", debezium(op), `{ "source" : {"table":"x"} , "op" : "t" }`, "left out: truncate"},
		{"a truncate with its schema", debezium(op), `{"schema":{"type":"struct"},"payload":{"op":"t"}}`, "left out: truncate"},
		{"a message", debezium(op), `{"op":"m","message":{"prefix":"p"}}`, "left out: message"},
		{"a row read by a snapshot", debezium(op), `{"op":"r","after":{"id":1}}`, `wrong_type: field op: "r" is not in the table of its values`},
		{"a message's table", debezium(number), `{"op":"m","source":{"table":""}}`, "left out: message"},
		{"a row's table", debezium(number), `{"op":"c","after":{"id":1},"source":{"table":"x"}}`, `wrong_type: field source.table: an integer is expected, found "x"`},
		{"broken", debezium(op), `{"op":"t","source":`, "undecodable"},
		{"a tombstone", debezium(header), "", "left out: tombstone"},
		{"a change", debezium(header), `{"op":"c","after":{"id":1}}`, `wrong_type: field $header.h: "z" is not in the table of its values`},
		{"another topic", debezium(topic), `{"op":"t"}`, "left out: truncate"},
		{"a change of another topic", debezium(topic), `{"op":"c","after":{"id":1}}`, `wrong_type: field $topic: "shop.other" is not in the table of its values`},
		{"a header that is no number, of a tombstone", debezium(count), "", "left out: tombstone"},
		{"a header that is no number, of a truncate", debezium(count), `{"op":"t"}`, "left out: truncate"},
		{"a header that is no number, of a change", debezium(count), `{"op":"c","after":{"id":1}}`, `wrong_type: field $header.h: an integer is expected, found "z"`},
		{"a key that is no number, of a truncate", keyed, `{"op":"t"}`, "left out: truncate"},
		{"a key that is no number, of a change", keyed, `{"op":"c","after":{"id":1}}`, `wrong_type: field $key.k: an integer is expected, found a string`},
		{"an unwrapped tombstone", bare, "", "left out: tombstone"},
		{"images without an envelope", images, "", "left out: tombstone"},

		{"Canal's statement", canal, `{"type":"ALTER","isDdl":true,"data":null}`, "left out: schema_change"},
		{"Canal's truncate", canal, `{"type":"TRUNCATE","isDdl":true,"data":null}`, "left out: truncate"},
		{"Canal's rows", canal, `{"type":"INSERT","data":[{"id":"1"},{"id":"2"}]}`, "version=1000 id=1 kind=\"INSERT\" gone=false\nversion=1000 id=2 kind=\"INSERT\" gone=false"},
		{"Canal's update", canal, `{"type":"UPDATE","data":[{"id":"1"}],"old":[{"id":"2"}]}`, `wrong_type: field type: "UPDATE" is not in the table of its values`},
		{"Maxwell's statement", maxwell, `{"type":"table-create"}`, "left out: schema_change"},
		{"Maxwell's bootstrap", maxwell, `{"type":"bootstrap-start","data":{}}`, "left out: bootstrap"},
		{"Maxwell's delete", maxwell, `{"type":"delete","data":{"id":1}}`, `wrong_type: field type: "delete" is not in the table of its values`},
	} {
		rec := &event.Record{Topic: "shop.other", Key: []byte(`{"k":"z"}`), Value: []byte(c.in), Timestamp: 1000, Headers: []event.Header{{Key: "h", Value: []byte("z")}}}
		if c.in == "" {
			rec.Value = nil
		}
		if got := said(t, c.schema, rec); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A position that does not fit halts the partition, but not for a record that the envelope leaves out, however large its position is. What
// is no number past the end of the log, in whichever form, is the record's own fault.
func TestPositionsThatDoNotFitDoNotHaltAtWhatIsLeftOut(t *testing.T) {
	number := func(name string, path ...string) event.Field { return at(name, event.Int, path...) }
	wrapLSN := func(e event.Envelope, lsn event.Field) event.Schema {
		return e.Wrap(event.Schema{Version: -1, Images: event.Images{Deleted: "gone"}, Position: &event.Position{LSN: lsn.Name},
			Fields: []event.Field{at("id", event.Int), lsn, {Name: "gone", Type: event.Bool}}})
	}
	text := number("lsn", "$source", "lsn")
	text.Convert.FromText = true
	wrapped, written := wrapLSN(event.Envelope{Form: event.Debezium}, number("lsn", "$source", "lsn")), wrapLSN(event.Envelope{Form: event.Debezium}, text)
	header := wrapLSN(event.Envelope{Form: event.Debezium}, event.Field{Name: "lsn", Type: event.Int, Place: event.InHeader, Path: []string{"lsn"}})
	bare := wrapLSN(event.Envelope{Form: event.Debezium, Unwrapped: true, Keys: []string{"id"}}, number("lsn", "$source", "lsn"))
	canal := wrapLSN(event.Envelope{Form: event.Canal}, number("id_", "$id"))
	maxwell := wrapLSN(event.Envelope{Form: event.Maxwell}, number("xid", "$xid"))
	halts := func(field, number string) string {
		return "halts: bad_version: field " + field + ": " + number + " does not fit the 55 bits that a version has for it; write to a new table, where versions start again"
	}
	const past, wide = "9223372036854775808", "wrong_type: field %s: the number does not fit 64 bits"
	for _, c := range []struct {
		name   string
		schema event.Schema
		in     string
		want   string
	}{
		{"a truncate past 55 bits", wrapped, `{"op":"t","source":{"lsn":36028797018963968}}`, "left out: truncate"},
		{"a truncate", wrapped, `{"op":"t","source":{"lsn":` + past + `}}`, "left out: truncate"},
		{"a truncate, position first", wrapped, `{"source":{"lsn":` + past + `},"op":"t"}`, "left out: truncate"},
		{"a message with its schema", wrapped, `{"schema":{"type":"struct"},"payload":{"op":"m","source":{"lsn":` + past + `},"message":{"prefix":"p"}}}`, "left out: message"},
		{"a create", wrapped, `{"op":"c","after":{"id":1},"source":{"lsn":` + past + `}}`, halts("source.lsn", past)},
		{"a row of an incremental snapshot", wrapped, `{"op":"r","after":{"id":1},"source":{"lsn":` + past + `,"snapshot":"incremental"}}`, halts("source.lsn", past)},
		{"a negative one", wrapped, `{"op":"c","after":{"id":1},"source":{"lsn":-9223372036854775809}}`, fmt.Sprintf(wide, "source.lsn")},
		{"a text of a truncate", written, `{"op":"t","source":{"lsn":"` + past + `"}}`, "left out: truncate"},
		{"a text of a create", written, `{"op":"c","after":{"id":1},"source":{"lsn":"` + past + `"}}`, halts("source.lsn", past)},
		{"a header of a truncate", header, `{"op":"t"}`, "left out: truncate"},
		{"a header of a create", header, `{"op":"c","after":{"id":1}}`, halts("$header.lsn", past)},
		{"unwrapped", bare, `{"id":1,"__source_lsn":` + past + `}`, halts("__source_lsn", past)},
		{"an unwrapped text", bare, `{"id":1,"__source_lsn":"` + past + `"}`, halts("__source_lsn", past)},
		{"an unwrapped text with escapes", bare, `{"id":1,"__source_lsn":"\u0039223372036854775808"}`, halts("__source_lsn", past)},
		{"an unwrapped text, negative", bare, `{"id":1,"__source_lsn":"-9223372036854775809"}`, fmt.Sprintf(wide, "__source_lsn")},
		{"an unwrapped text with a fraction", bare, `{"id":1,"__source_lsn":"99999999999999999999.5"}`, fmt.Sprintf(wide, "__source_lsn")},
		{"Canal's statement", canal, `{"type":"ALTER","isDdl":true,"data":null,"id":` + past + `}`, "left out: schema_change"},
		{"Canal's row", canal, `{"type":"INSERT","data":[{"id":"1"}],"id":` + past + `}`, halts("id", past)},
		{"Maxwell's statement", maxwell, `{"type":"table-create","xid":` + past + `}`, "left out: schema_change"},
		{"Maxwell's row", maxwell, `{"type":"insert","data":{"id":1},"xid":` + past + `}`, halts("xid", past)},
	} {
		if err := c.schema.Validate(); err != nil {
			t.Fatal(c.name, err)
		}
		var b event.Batch
		rec := &event.Record{Value: []byte(c.in), Timestamp: 1000, Headers: []event.Header{{Key: "lsn", Value: []byte(past)}}}
		err, got := event.NewDecoder(c.schema).Decode(rec, &b), ""
		switch fault, failed := errors.AsType[*event.Error](err); {
		case failed && fault.Halts:
			got = "halts: " + err.Error()
		case failed:
			got = err.Error()
		default:
			got = shown(c.schema, &b.Events[0])
		}
		if got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// The dead letter of an array names the object that is at fault, and none if what is wrong is beside the value.
func TestARefusalBesideAnArrayIsOfNoElement(t *testing.T) {
	status := at("status", event.Text)
	status.Convert.Enum = map[string]string{"new": "NEW"}
	for _, field := range []event.Field{
		{Name: "h", Type: event.Text, Place: event.InHeader, Path: []string{"h"}, Convert: event.Conversion{Enum: map[string]string{"a": "A"}}},
		{Name: "h", Type: event.Int, Place: event.InHeader, Path: []string{"h"}},
	} {
		s := event.Schema{Version: -1, Format: event.JSONFormat{Array: true}, Fields: []event.Field{status, field}}
		for _, c := range []struct{ header, in, want string }{
			{"z", `[{"status":"new"}]`, "wrong_type: field $header.h: "}, {"z", `[{"status":"old"}]`, "wrong_type: field $header.h: "},
			{"z", `[{"status":"new"},{"status":"old"}]`, "wrong_type: field $header.h: "}, {"z", `[]`, "left out: empty"},
			{"z", `[{"status":[]}]`, "wrong_type: field 0.status: "},
			{"", `[{"status":"new"},{"status":"old"}]`, "wrong_type: field 1.status: "},
		} {
			rec := &event.Record{Value: []byte(c.in)}
			if c.header != "" {
				rec.Headers = []event.Header{{Key: "h", Value: []byte(c.header)}}
			}
			if got := said(t, s, rec); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s with the header %q: %s, want %s", c.in, c.header, got, c.want)
			}
		}
	}
}

// A refusal is that of one record: those that follow it are read as if it had not been there.
func TestARefusedValueIsForgotten(t *testing.T) {
	op := at("op", event.Text, "$op")
	op.Convert.Enum = map[string]string{"c": "created"}
	d := event.NewDecoder(wrap(event.Envelope{Form: event.Debezium}, -1, at("id", event.Int), op))
	var b event.Batch
	for _, c := range []struct{ in, reject string }{
		{`{"op":"c","after":{"id":1}}`, ""}, {`{"op":"r","after":{"id":1}}`, "is not in the table"}, {`{"op":"c","after":{"id":1}}`, ""},
		{`{"op":"t"}`, ""}, {`{"op":"c","after":{"id":1}}`, ""}, {`{"op":"r","after":{"id":"x"}}`, "an integer is expected"},
		{`{"op":"c","after":{"id":1}}`, ""},
	} {
		err := d.Decode(&event.Record{Value: []byte(c.in), Timestamp: 1000}, &b)
		if got := errorText(err); (got == "") != (c.reject == "") || !strings.Contains(got, c.reject) {
			t.Errorf("%s: %q, want %q", c.in, got, c.reject)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
