package event_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"brine/event"
)

// beside has a field of each part of a record.
var beside = event.Schema{Version: -1, KeyFormat: event.JSONFormat{}, Fields: []event.Field{
	{Name: "id", Type: event.Text, Place: event.InKey, Path: []string{"id"}},
	{Name: "n", Type: event.Int, Place: event.InKey, Path: []string{"at", "n"}},
	{Name: "key", Type: event.Text, Place: event.WholeKey},
	{Name: "value", Type: event.Text, Place: event.WholeValue},
	{Name: "h", Type: event.Text, Place: event.InHeader, Path: []string{"h"}},
	{Name: "count", Type: event.Int, Place: event.InHeader, Path: []string{"trace.count"}},
	{Name: "topic", Type: event.Text, Place: event.RecordTopic},
	{Name: "partition", Type: event.Int, Place: event.RecordPartition},
	{Name: "offset", Type: event.Int, Place: event.RecordOffset},
	{Name: "time", Type: event.TimeS, Place: event.RecordTime},
	{Name: "literal", Type: event.Text, Path: []string{"$key"}},
	{Name: "shop", Type: event.Text, Const: event.TextValue("eu")},
}}

func eventsOf(s event.Schema, rec *event.Record) ([]event.Event, error) {
	var b event.Batch
	err := event.NewDecoder(s).Decode(rec, &b)
	return b.Events, err
}

// outcomeOf returns the events of a record, or its error.
func outcomeOf(s event.Schema, rec *event.Record) string {
	events, err := eventsOf(s, rec)
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, e := range events {
		line := show(s, e)
		if e.LeftOut != "" {
			line += " left out: " + string(e.LeftOut)
		}
		out = append(out, line)
	}
	return strings.Join(out, " | ")
}

func TestWholeRecord(t *testing.T) {
	headers := []event.Header{{Key: "h", Value: []byte("a")}, {Key: "trace.count", Value: []byte("12")}, {Key: "h", Value: []byte("b")}}
	for _, c := range []struct {
		name string
		rec  event.Record
		want string
	}{
		{"all", event.Record{Topic: "t", Partition: 3, Offset: 9, Timestamp: 5001, Key: []byte(`{"id":"A","at":{"n":7}}`),
			Value: []byte(`{"$key":"x"}`), Headers: headers},
			`version=5001 id="A" n=7 key="{\"id\":\"A\",\"at\":{\"n\":7}}" value="{\"$key\":\"x\"}" h="b" count=12 topic="t" partition=3 offset=9 ` +
				`time=5001 literal="x" shop="eu"`},
		{"no key, no headers", event.Record{Topic: "t", Value: []byte(`{}`)},
			`version=0 value="{}" topic="t" partition=0 offset=0 time=0 shop="eu"`},
		{"an empty key", event.Record{Topic: "t", Key: []byte{}, Value: []byte(`{}`)},
			`version=0 key="" value="{}" topic="t" partition=0 offset=0 time=0 shop="eu"`},
		{"a header without a value", event.Record{Topic: "t", Value: []byte(`{}`), Headers: append(headers[:1:1], event.Header{Key: "h"})},
			`version=0 value="{}" topic="t" partition=0 offset=0 time=0 shop="eu"`},
		{"a key that is no object", event.Record{Key: []byte("A"), Value: []byte(`{}`)},
			`undecodable: field $key: a JSON value cannot begin with 'A' at byte 0`},
		{"a field of the key of another type", event.Record{Key: []byte(`{"id":1}`), Value: []byte(`{}`)},
			`wrong_type: field $key.id: a string is expected, found a number`},
		{"a key with a field twice", event.Record{Key: []byte(`{"id":"1","id":"1"}`), Value: []byte(`{}`)},
			`undecodable: field $key.id: it occurs twice`},
		{"a key that is not UTF-8", event.Record{Key: []byte("\xff"), Value: []byte(`{}`)},
			`undecodable: field $key: invalid UTF-8 in a text`},
		{"a header that is not UTF-8", event.Record{Value: []byte(`{}`), Headers: []event.Header{{Key: "h", Value: []byte("a\xff")}}},
			`undecodable: field $header.h: invalid UTF-8 in a text`},
		{"a header that is no number", event.Record{Value: []byte(`{}`), Headers: []event.Header{{Key: "trace.count", Value: []byte("1.5")}}},
			`wrong_type: field $header.trace.count: an integer is expected, found a number with a fraction or an exponent`},
		{"a header past 64 bits", event.Record{Value: []byte(`{}`), Headers: []event.Header{{Key: "trace.count", Value: []byte("9223372036854775808")}}},
			`wrong_type: field $header.trace.count: the number does not fit 64 bits`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, outcomeOf(beside, &c.rec)); diff != "" {
				t.Error("(-want +got)", diff)
			}
		})
	}
}

func TestRecordWithoutATimestampHasNoTime(t *testing.T) {
	s := event.Schema{Version: 0, Fields: []event.Field{{Name: "at", Type: event.TimeMS},
		{Name: "time", Type: event.TimeMS, Place: event.RecordTime}}}
	events, err := eventsOf(s, &event.Record{Timestamp: -1, Value: []byte(`{"at":1}`)})
	if err != nil || !events[0].Values[1].Null() {
		t.Errorf("got %v, %v", events, err)
	}
}

// All events of a record share what is beside its value.
func TestEventsOfARecordShareWhatIsBesideItsValue(t *testing.T) {
	s := event.Schema{Version: -1, Format: event.JSONFormat{Array: true}, KeyFormat: event.JSONFormat{}, Fields: []event.Field{
		{Name: "id", Type: event.Text, Place: event.InKey, Path: []string{"id"}}, {Name: "n", Type: event.Int},
		{Name: "topic", Type: event.Text, Place: event.RecordTopic}, {Name: "kind", Type: event.Text, Default: event.TextValue("?")},
	}}
	rec := event.Record{Topic: "t", Key: []byte(`{"id":"A"}`), Value: []byte(`[{"n":1},{"n":2,"kind":"k"}]`), Timestamp: 5}
	want := `version=5 id="A" n=1 topic="t" kind="?" | version=5 id="A" n=2 topic="t" kind="k"`
	if got := outcomeOf(s, &rec); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestWholeRecordAllocatesNothing(t *testing.T) {
	s := beside
	s.Fields = append(slices.Clone(s.Fields), event.Field{Name: "state", Type: event.Text, Numbers: true, Default: event.TextValue("none"),
		Convert: event.Conversion{Trim: true, Enum: map[string]string{"1": "created"}, Else: "other"}},
		event.Field{Name: "total", Type: event.Float, Convert: event.Conversion{FromText: true}})
	rec := &event.Record{Topic: "t", Key: []byte(`{"id":"A"}`), Value: []byte(`{"state":1,"total":"1.50"}`),
		Headers: []event.Header{{Key: "trace.count", Value: []byte("12")}}}
	allocatesNothing(t, s, rec)
}

func TestPlaceErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		field event.Field
		want  string
	}{
		{"a part of the offset", event.Field{Name: "a", Type: event.Int, Place: event.RecordOffset, Path: []string{"x"}},
			"field a: $offset with a path of 1 keys is not a place in a record"},
		{"no header", event.Field{Name: "a", Type: event.Text, Place: event.InHeader}, "field a: $header. with a path of 0 keys is not a place in a record"},
		{"an offset that is a text", event.Field{Name: "a", Type: event.Text, Place: event.RecordOffset}, "field a is declared text, but $offset is an int"},
		{"a topic that is an int", event.Field{Name: "a", Type: event.Int, Place: event.RecordTopic}, "field a is declared int, but $topic is a text"},
		{"a time that is a text", event.Field{Name: "a", Type: event.Text, Place: event.RecordTime}, "field a is declared text, but $timestamp is a time"},
		{"a header that is json", event.Field{Name: "a", Type: event.Nested, Place: event.InHeader, Path: []string{"h"}},
			"field a is declared json, but $header.h is a text"},
		{"no format of keys", event.Field{Name: "a", Type: event.Text, Place: event.InKey, Path: []string{"id"}},
			"field a is in the key, but the keys' format is not set; set it"},
		{"a default of another type", event.Field{Name: "a", Type: event.Int, Default: event.TextValue("x")},
			"field a is declared int, but its fixed value is text"},
		{"a value and a path", event.Field{Name: "a", Type: event.Int, Path: []string{"x"}, Const: event.IntValue(1)},
			"field a has a fixed value, so nothing is read: remove its path and its default, or the value"},
	} {
		err := event.Schema{Version: -1, Fields: []event.Field{c.field}}.Validate()
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v; want %s", c.name, err, c.want)
		}
	}
	offset := event.Field{Name: "o", Type: event.Int, Place: event.RecordOffset}
	const moves = "version o is $offset, which changes if the record is copied to another topic; use a field of the record's content"
	if err := (event.Schema{Fields: []event.Field{offset}}).Validate(); err == nil || err.Error() != moves {
		t.Errorf("an offset as the version: %v", err)
	}
	two := event.Schema{Version: -1, Fields: []event.Field{{Name: "topic", Type: event.Text}, {Name: "t", Type: event.Text, Place: event.RecordTopic}}}
	if err := two.Validate(); err != nil {
		t.Errorf("a field of the value that is called like a part: %v", err)
	}
}

// FuzzRecordFields compares fields of keys and headers with encoding/json and the record.
func FuzzRecordFields(f *testing.F) {
	f.Add([]byte(`{"id":"A","at":{"n":7}}`), []byte(`{"$key":"x"}`), []byte("h"), []byte("12"), int64(5))
	f.Add([]byte(nil), []byte(`{}`), []byte("\xff"), []byte(""), int64(-1))
	d := event.NewDecoder(beside)
	f.Fuzz(func(t *testing.T, key, value, h, count []byte, at int64) {
		rec := event.Record{Topic: "t", Timestamp: max(at, 0), Key: key, Value: value, Headers: []event.Header{
			{Key: "h", Value: []byte("first")}, {Key: "h", Value: h}, {Key: "trace.count", Value: count}}}
		var b event.Batch
		err := d.Decode(&rec, &b)
		if again, other := eventsOf(beside, &rec); !cmp.Equal(err, other) && (err == nil || err.Error() != other.Error()) || err == nil && show(beside, again[0]) != show(beside, b.Events[0]) {
			t.Fatalf("%v, and then %v", err, other)
		}
		if err != nil {
			if reject := (*event.Error)(nil); !errors.As(err, &reject) || len(b.Events) > 0 {
				t.Fatalf("%d events, %v", len(b.Events), err)
			}
			return
		}
		values := b.Events[0].Values
		var object struct{ ID *string }
		if len(key) > 0 && !bytes.Contains(bytes.ToLower(key), []byte(`\`)) { // names that only another case or an escape makes equal
			_ = json.Unmarshal(key, &object)
			if object.ID != nil && bytes.Contains(key, []byte(`"id"`)) && !values[0].Null() && *object.ID != string(values[0].Text()) && bytes.Count(bytes.ToLower(key), []byte(`"id"`)) == 1 {
				t.Errorf("key %q: %q", key, values[0].Text())
			}
		}
		if h != nil && (!utf8.Valid(h) || !bytes.Equal(values[4].Text(), h)) {
			t.Errorf("header %q: %q", h, values[4].Text())
		}
	})
}
