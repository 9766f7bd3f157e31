package event_test

import (
	"fmt"
	"testing"

	"brine/event"
)

// logged is a database's log: the images, and when and how the row changed.
var logged = event.Schema{
	Fields: []event.Field{
		{Name: "id", Type: event.Text, Path: []string{"row", "after", "id"}},
		{Name: "user", Type: event.Text, Path: []string{"row", "after", "user"}},
		{Name: "city", Type: event.Text, Path: []string{"row", "after", "to", "city"}},
		{Name: "at", Type: event.TimeMS, Path: []string{"ts"}},
		{Name: "n", Type: event.Int, Path: []string{"source", "n"}},
		{Name: "gone", Type: event.Bool},
	},
	Version: 3, Sequence: "n",
	Images: event.Images{Before: []string{"row", "before"}, After: []string{"row", "after"}, Deleted: "gone"},
}

// changes is a log whose records are rows, with their changes below "old".
var changes = event.Schema{
	Fields: []event.Field{{Name: "id", Type: event.Text}, {Name: "user", Type: event.Text}, {Name: "at", Type: event.TimeS}},
	Images: event.Images{Before: []string{"old"}}, Version: 2,
}

func TestImages(t *testing.T) {
	for _, c := range []struct {
		name   string
		schema event.Schema
		in     string
		want   string
	}{
		{"a creation", logged, `{"row":{"before":null,"after":{"id":"1","user":"ann","to":{"city":"x"}}},"ts":5,"source":{"n":7}}`,
			`version=5007 id="1" user="ann" city="x" at=5 n=7 gone=false`},
		{"an update with whole images", logged, `{"row":{"before":{"id":"1","user":"ann","to":{"city":"x"}},"after":{"id":"1","user":"bob","to":{"city":"y"}}},"ts":5,"source":{"n":0}}`,
			`version=5000 id="1" user="bob" city="y" at=5 n=0 gone=false, formerly id="1" user="ann" city="x" at=5 n=0 gone=false`},
		{"an after-image that comes first", logged, `{"ts":5,"source":{"n":0},"row":{"after":{"to":{"city":"y"},"id":"1","user":"bob"},"before":{"user":"ann"}}}`,
			`version=5000 id="1" user="bob" city="y" at=5 n=0 gone=false, formerly id="1" user="ann" city="y" at=5 n=0 gone=false`},
		{"null before and after", logged, `{"row":{"before":{"user":null,"to":null},"after":{"id":"1","user":"bob","to":{"city":"y"}}},"ts":5,"source":{"n":0}}`,
			`version=5000 id="1" user="bob" city="y" at=5 n=0 gone=false, formerly id="1" at=5 n=0 gone=false`},
		{"a delete", logged, `{"row":{"before":{"id":"1","user":"ann","to":{"city":"x"}},"after":null},"ts":6,"source":{"n":1}}`,
			`version=6001 id="1" user="ann" city="x" at=6 n=1 gone=true`},
		{"a delete without an after-image", logged, `{"row":{"before":{"id":"1"}},"ts":6,"source":{"n":1}}`, `version=6001 id="1" at=6 n=1 gone=true`},
		{"neither image", logged, `{"op":"t","ts":6,"source":{"n":1}}`, `version=6001 at=6 n=1 gone=false`},
		{"a record's own field gone", logged, `{"gone":true,"row":{"after":{"id":"1"}},"ts":6,"source":{"n":1}}`, `version=6001 id="1" at=6 n=1 gone=false`},
		{"a tombstone", logged, ``, `version=1000`},
		{"only what changed", changes, `{"id":"1","user":"bob","at":7,"old":{"user":"ann"}}`, `version=7000 id="1" user="bob" at=7000, formerly id="1" user="ann" at=7000`},
		{"nothing before", changes, `{"id":"1","user":"bob","at":7}`, `version=7000 id="1" user="bob" at=7000`},
		{"a before-image of the wrong type", logged, `{"row":{"before":{"id":1},"after":{}},"ts":5,"source":{"n":0}}`,
			`wrong_type: field row.before.id: a string is expected, found a number`},
		{"a before-image that is none", logged, `{"row":{"before":[]},"ts":5,"source":{"n":0}}`, `wrong_type: field row.before: an object is expected, found an array`},
		{"no sequence", logged, `{"row":{"after":{"id":"1"}},"ts":5}`, `missing_field: field source.n: it is part of the version of the event`},
		{"a sequence too large", logged, `{"row":{"after":{"id":"1"}},"ts":5,"source":{"n":1000}}`,
			`bad_version: field source.n: 1000 is not between 0 and 999, the room that a millisecond has`},
		{"a negative one", logged, `{"row":{"after":{"id":"1"}},"ts":5,"source":{"n":-1}}`, `bad_version: field source.n: -1 is not between 0 and 999, the room that a millisecond has`},
		{"a time from the future", logged, `{"row":{"after":{"id":"1"}},"ts":86401001,"source":{"n":1}}`,
			`future_version: field ts: 86401001 is more than 24 h ahead of the record's timestamp 1000 (ms since 1970)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.schema.Validate(); err != nil {
				t.Fatal(err)
			}
			got := ""
			if ev, err := decodeRecord(c.schema, &event.Record{Value: valueOf(c.in), Timestamp: 1000}); err != nil {
				got = err.Error()
			} else {
				got = show(c.schema, ev)
				if ev.Former != nil {
					got += ", formerly" + show(c.schema, event.Event{Values: ev.Former})[len("version=0"):]
				}
				if (ev.LeftOut == event.Tombstone) != (c.in == "") {
					t.Errorf("tombstone: %v", (ev.LeftOut == event.Tombstone))
				}
			}
			if got != c.want {
				t.Errorf("\ngot  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestImagesOfManyRecords checks that one record's former values do not leak into the next.
func TestImagesOfManyRecords(t *testing.T) {
	d, b := event.NewDecoder(changes), new(event.Batch)
	for range 2 {
		d.Reset(b)
		for i, in := range []string{`{"id":"1","at":1,"old":{"user":"ann"}}`, `{"id":"2","at":1,"old":{}}`, `{"id":"3","at":1}`, `{"id":4}`, `{"id":"5","at":1,"old":{"id":null}}`} {
			err := d.Decode(&event.Record{Value: []byte(in), Timestamp: 1e6, Offset: int64(i)}, b)
			if (err != nil) != (i == 3) {
				t.Fatal(i, err)
			}
		}
		got := ""
		for _, ev := range b.Events {
			got += fmt.Sprint(" ", ev.Record.Offset, ":")
			if ev.Former != nil {
				got += fmt.Sprintf("%s/%s", ev.Former[0].Text(), ev.Former[1].Text())
			}
		}
		if want := ` 0:1/ann 1:2/ 2: 4:/`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestImagesThatDoNotFit(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(*event.Schema)
	}{
		{"an after-image is useful only with a before-image; say where that is", func(s *event.Schema) { s.Images.Before = nil }},
		{"field lost, which says that an event is a delete, is not declared; add it to fields", func(s *event.Schema) { s.Images.Deleted = "lost" }},
		{"field id, which says that an event is a delete, is declared text; it must be bool", func(s *event.Schema) { s.Images.Deleted = "id" }},
		{"every record is an after-image, so none is a delete; say where it is, or remove gone", func(s *event.Schema) { s.Images.After = nil }},
		{"no field is in other, the after-image", func(s *event.Schema) { s.Images.After = []string{"other"} }},
		{"field at is in the before-image, which is read anyway for every field of the after-image; remove it", func(s *event.Schema) { s.Images.Before = []string{"ts"} }},
		{"the sequence m is not declared; add it to fields", func(s *event.Schema) { s.Sequence = "m" }},
		{"the sequence user is declared text; it must be int", func(s *event.Schema) { s.Sequence = "user" }},
		{"version n is declared int, but a sequence counts within a time; declare it time_ms, time_s or time", func(s *event.Schema) { s.Version = 4 }},
		{"sequence field n orders equal versions, but no field is the version; name one", func(s *event.Schema) { s.Version = -1 }},
	} {
		s := logged
		c.change(&s)
		if err := s.Validate(); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
