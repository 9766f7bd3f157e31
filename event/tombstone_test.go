package event_test

import (
	"strconv"
	"strings"
	"testing"

	"brine/derive"
	"brine/event"
)

// users is a compacted topic: the last record of each key is what is known of it, and one without a value deletes it.
func users() event.Schema {
	return event.Schema{Version: -1, KeyFormat: event.JSONFormat{}, Tombstones: true, Images: event.Images{Deleted: "gone"},
		Fields: []event.Field{
			{Name: "id", Type: event.Text, Place: event.InKey, Path: []string{"id"}},
			{Name: "site", Type: event.Int, Place: event.InKey, Path: []string{"site"}, Default: event.IntValue(7)},
			{Name: "note", Type: event.Text, Default: event.TextValue("none")},
			{Name: "by", Type: event.Text, Place: event.InHeader, Path: []string{"by"}},
			{Name: "shop", Type: event.Text, Const: event.TextValue("A")},
			{Name: "gone", Type: event.Bool},
		}}
}

func TestTombstones(t *testing.T) {
	for _, c := range []struct{ name, key, value, want string }{
		{"a value", `{"id":"u1","site":2}`, `{"note":"x"}`, `u1 2 x ann A false @100`},
		{"a value without the field", `{"id":"u1"}`, `{}`, `u1 7 none ann A false @100`},
		{"what says that it is a delete is never read", `{"id":"u1"}`, `{"gone":true}`, `u1 7 none ann A false @100`},
		{"no value", `{"id":"u1","site":2}`, "", `u1 2 - ann A true @100`},
		{"a default of the key, none of the value", `{"id":"u1"}`, "", `u1 7 - ann A true @100`},
		{"a key that lacks a field leaves it null, for the row key to miss", `{"site":2}`, "", `- 2 - ann A true @100`},
		{"no key", "", "", `- 7 - ann A true @100`},
		{"a broken key", `{"id":`, "", `undecodable: field $key`},
	} {
		s := users()
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		rec := &event.Record{Timestamp: 100, Key: []byte(c.key), Headers: []event.Header{{Key: "by", Value: []byte("ann")}}}
		if c.value != "" {
			rec.Value = []byte(c.value)
		}
		got := decodedText(s, rec)
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	s := users()
	s.Tombstones, s.Images.Deleted = false, ""
	if got := decodedText(s, &event.Record{Key: []byte(`{"id":"u1"}`)}); !strings.HasPrefix(got, "undecodable: the record has no value") {
		t.Errorf("where tombstones are none: %s", got)
	}
}

// TestExpressionsOfTombstones: fields in the value are unknown, so an expression whose result depends on one has none.
func TestExpressionsOfTombstones(t *testing.T) {
	s := users()
	b := derive.New(s.Fields)
	for _, let := range [][2]string{{"place", `id + "/" + string(site)`}, {"said", `id + note`}, {"whole", `place + said`}} {
		if _, err := b.Let(let[0], event.Text, let[0], let[1]); err != nil {
			t.Fatal(err)
		}
	}
	rec := &event.Record{Timestamp: 5, Key: []byte(`{"id":"u1","site":3}`)}
	for _, c := range []struct{ when, want string }{
		{"", `u1 3 - - A true u1/3 - - @5`},
		{`note == "x"`, `u1 3 - - A true u1/3 - - @5`},
		{`site == 3 && by == null`, `u1 3 - - A true u1/3 - - @5`},
		{`site == 4`, `filtered`},
		{`by == "ann" || by.startsWith("a")`, `bad_expression`},
		{`!gone`, `filtered`},
		{`gone && site == 3`, `u1 3 - - A true u1/3 - - @5`},
	} {
		asked := s
		if c.when != "" {
			if err := b.When("when", c.when); err != nil {
				t.Fatal(err)
			}
		}
		asked.Fields, asked.Derive = b.Fields(), b.Rules()
		if err := asked.Validate(); err != nil {
			t.Fatal(err)
		}
		if got := decodedText(asked, rec); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.when, got, c.want)
		}
	}
}

func TestSchemasOfTombstones(t *testing.T) {
	for _, c := range []struct {
		want  string
		spoil func(*event.Schema)
	}{
		{"images already show what is deleted", func(s *event.Schema) {
			s.Images.Before, s.Images.After = []string{"before"}, []string{"after"}
		}},
		{"no bool field marks deletes", func(s *event.Schema) { s.Images.Deleted = "" }},
		{"no bool field marks deletes", func(s *event.Schema) { s.Images.Deleted = "note" }},
		{"field at is part of the version", func(s *event.Schema) {
			s.Fields = append(s.Fields, event.Field{Name: "at", Type: event.TimeMS})
			s.Version = len(s.Fields) - 1
		}},
		{"field n is part of the version", func(s *event.Schema) {
			s.Fields = append(s.Fields, event.Field{Name: "at", Type: event.TimeMS, Place: event.InHeader, Path: []string{"at"}},
				event.Field{Name: "n", Type: event.Int})
			s.Version, s.Sequence = len(s.Fields)-2, "n"
		}},
		{"field lsn is part of the version", func(s *event.Schema) {
			s.Fields = append(s.Fields, event.Field{Name: "lsn", Type: event.Int})
			s.Position = &event.Position{LSN: "lsn"}
		}},
	} {
		s := users()
		c.spoil(&s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	s := users()
	s.Fields = append(s.Fields, event.Field{Name: "at", Type: event.TimeMS, Place: event.InHeader, Path: []string{"at"}})
	s.Version = len(s.Fields) - 1
	rec := &event.Record{Timestamp: 100, Key: []byte(`{"id":"u1"}`), Headers: []event.Header{{Key: "at", Value: []byte("90")}}}
	if got := decodedText(s, rec); !strings.HasSuffix(got, "@90") {
		t.Errorf("a version of a header: %s", got)
	}
	rec.Headers = nil
	if got := decodedText(s, rec); !strings.HasPrefix(got, "missing_field: field $header.at") {
		t.Errorf("a version of a header that is not there: %s", got)
	}
}

// decodedText returns the record's single event, or why there is none.
func decodedText(s event.Schema, rec *event.Record) string {
	var b event.Batch
	if err := event.NewDecoder(s).Decode(rec, &b); err != nil {
		return err.Error()
	}
	ev := b.Events[0]
	if ev.LeftOut != "" {
		return string(ev.LeftOut)
	}
	var texts []string
	for _, v := range ev.Values {
		switch v.Type {
		case event.Text:
			texts = append(texts, string(v.Text()))
		case event.Int:
			texts = append(texts, strconv.FormatInt(v.Int(), 10))
		case event.Bool:
			texts = append(texts, strconv.FormatBool(v.Bool()))
		case event.TimeMS:
		default:
			texts = append(texts, "-")
		}
	}
	return strings.Join(texts, " ") + " @" + strconv.FormatInt(ev.Version, 10)
}

// TestFieldsThatBrineSetsAreKnownInTombstones: no record holds what marks a delete, or a row's index, so a tombstone lacks neither.
func TestFieldsThatBrineSetsAreKnownInTombstones(t *testing.T) {
	s := event.Schema{Version: -1, KeyFormat: event.JSONFormat{}, Tombstones: true, Images: event.Images{Deleted: "gone"},
		Fields: []event.Field{{Name: "id", Type: event.Int, Place: event.InKey, Path: []string{"id"}}, at("name", event.Text), at("row", event.Int, "$row"),
			{Name: "gone", Type: event.Bool}}}
	e := event.Envelope{Form: event.Debezium, Unwrapped: true, Keys: []string{"id"}}
	s = e.Wrap(s)
	for _, c := range []struct{ expression, want string }{
		{`state=gone ? "left" : "active"`, `version=7 id=1 row=0 gone=true state="left"`},
		{`state=row == 0 ? "first" : "later"`, `version=7 id=1 row=0 gone=true state="first"`},
		{`?rows=!gone`, `version=7 id=1 row=0 gone=true rows=false`},
		{`when=!gone`, `left out: filtered`},
		{`state=name`, `version=7 id=1 row=0 gone=true`},
	} {
		if got := said(t, derived(t, s, c.expression), &event.Record{Timestamp: 7, Key: []byte(`{"id":1}`)}); got != c.want {
			t.Errorf("%s: %s, want %s", c.expression, got, c.want)
		}
	}
}

// TestExpressionsOfDeletesThatHoldOnlyTheKey: where before-images hold only the primary key, a delete's other columns are unknown. An
// expression whose result depends on one has none, so it neither rejects the delete nor filters it; the others have.
func TestExpressionsOfDeletesThatHoldOnlyTheKey(t *testing.T) {
	const deleted = `{"op":"d","before":{"id":1,"name":null},"after":null,` + postgres + `}`
	for _, c := range []struct{ when, let, want string }{
		{"", `name + "!"`, "version=77 id=1 lsn=77 gone=true"},
		{`name == "paid"`, "", "version=77 id=1 lsn=77 gone=true"},
		{`name == "paid" || id == 2`, `string(id) + "/" + string(lsn)`, `version=77 id=1 lsn=77 gone=true label="1/77"`},
		{`id == 2`, `name`, "left out: filtered"},
		{`name == "paid" && id == 2`, "", "left out: filtered"},
		{`name != "paid"`, `id == 1 ? "first" : name`, `version=77 id=1 lsn=77 gone=true label="first"`},
		{`!gone`, "", "left out: filtered"},
		{`1 / (id - 1) == 1`, "", "bad_expression"},
	} {
		s := keyed
		b := derive.New(s.Fields)
		if c.let != "" {
			if _, err := b.Let("label", event.Text, "label", c.let); err != nil {
				t.Fatal(err)
			}
		}
		if c.when != "" {
			if err := b.When("when", c.when); err != nil {
				t.Fatal(err)
			}
		}
		s.Fields, s.Derive = b.Fields(), b.Rules()
		if got := said(t, s, &event.Record{Value: []byte(deleted)}); !strings.Contains(got, c.want) {
			t.Errorf("when %q, let %q: %s, want %s", c.when, c.let, got, c.want)
		}
	}
}

// An empty value is a publisher's fault. A tombstone has none.
func TestEmptyValueIsNotATombstone(t *testing.T) {
	fields := []event.Field{{Name: "id", Type: event.Int}}
	plain := event.Schema{Version: -1, Fields: fields}
	for name, s := range map[string]event.Schema{
		"plain":     plain,
		"images":    {Version: -1, Fields: fields, Images: event.Images{Before: []string{"before"}}},
		"debezium":  (&event.Envelope{Form: event.Debezium}).Wrap(plain),
		"unwrapped": (&event.Envelope{Form: event.Debezium, Unwrapped: true}).Wrap(plain),
		"canal":     (&event.Envelope{Form: event.Canal}).Wrap(plain),
		"packets":   (&event.Envelope{Form: event.CanalProtobuf}).Wrap(plain),
		"maxwell":   (&event.Envelope{Form: event.Maxwell}).Wrap(plain),
	} {
		if got := said(t, s, &event.Record{Value: []byte{}, Timestamp: 1000}); !strings.HasPrefix(got, "undecodable: ") {
			t.Errorf("%s: an empty value: %s", name, got)
		}
	}
}

// TestTombstonesOfUnwrappedRows: ExtractNewRecordState writes a delete as a record without a value, unless it marks deleted rows.
// Kafka Connect may then write null within its schema, or as a text.
func TestTombstonesOfUnwrappedRows(t *testing.T) {
	schema := func(change func(*event.Schema, *event.Envelope)) event.Schema {
		s := event.Schema{Version: -1, KeyFormat: event.JSONFormat{}, Tombstones: true, Images: event.Images{Deleted: "gone"},
			Fields: []event.Field{
				{Name: "id", Type: event.Int, Place: event.InKey, Path: []string{"id"}}, at("name", event.Text), at("op", event.Text, "$op"),
				{Name: "lsn", Type: event.Int, Place: event.InHeader, Path: []string{"__source_lsn"}}, {Name: "gone", Type: event.Bool}}}
		e := event.Envelope{Form: event.Debezium, Unwrapped: true, Keys: []string{"id"}}
		s.Position = &event.Position{LSN: "lsn"}
		if change != nil {
			change(&s, &e)
		}
		return e.Wrap(s)
	}
	deletes := schema(nil)
	marked := schema(func(s *event.Schema, e *event.Envelope) { s.Tombstones, e.MarkedDeletes = false, true })
	unknown := schema(func(s *event.Schema, _ *event.Envelope) { s.Tombstones = false })
	partial := schema(func(_ *event.Schema, e *event.Envelope) { e.Partial = true })
	byTime := schema(func(s *event.Schema, _ *event.Envelope) { s.Position = nil })
	record := func(value string) *event.Record {
		rec := &event.Record{Timestamp: 1000, Key: []byte(`{"id":1}`), Headers: []event.Header{{Key: "__source_lsn", Value: []byte("77")}}}
		if value != "" {
			rec.Value = []byte(value)
		}
		return rec
	}
	for _, c := range []struct {
		name   string
		schema event.Schema
		value  string
		want   string
	}{
		{"a row", deletes, `{"id":1,"name":"ann","__op":"u"}`, `version=77 id=1 name="ann" op="u" lsn=77 gone=false`},
		{"a delete", deletes, ``, `version=77 id=1 lsn=77 gone=true`},
		{"a delete, partial", partial, ``, `version=77 id=1 lsn=77 gone=true`},
		{"a delete by the record's time", byTime, ``, `version=1000 id=1 lsn=77 gone=true`},
		{"a delete that is marked all the same", deletes, `{"id":1,"__deleted":"true","__op":"d"}`, `version=77 id=1 op="d" lsn=77 gone=true`},
		{"after a marked delete", marked, ``, `left out: tombstone`},
		{"a marked delete", marked, `{"id":1,"__deleted":"true"}`, `version=77 id=1 lsn=77 gone=true`},
		{"one or the other", unknown, ``, `undecodable: the record has no value, which is either the delete`},
		{"nothing at all is no tombstone", deletes, ` `, `undecodable: `},
	} {
		values := []string{c.value}
		if c.value == "" {
			values = append(values, "null", " null\n", `{"schema":null,"payload":null}`, `{"payload":null, "schema":{"type":"struct","fields":[]}}`)
		}
		for _, value := range values {
			if got := said(t, c.schema, record(value)); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s (%s): %s, want %s", c.name, value, got, c.want)
			}
		}
	}
	lacking := record("")
	lacking.Headers = nil
	if got := said(t, deletes, lacking); !strings.HasPrefix(got, "missing_field: field $header.__source_lsn") {
		t.Errorf("a delete without a place: %s", got)
	}
	snapshot := record(`{"id":1,"name":"ann","__source_snapshot":"incremental"}`)
	snapshot.Headers[0].Value = nil
	if got := said(t, deletes, snapshot); got != `version=0 id=1 name="ann" gone=false` {
		t.Errorf("a row that was read beside the log: %s", got)
	}
	// A record with a schema before a delete, whose schema is the same.
	d, b := event.NewDecoder(deletes), event.Batch{}
	const head = `{"schema":{"type":"struct","fields":[{"field":"id","type":"int64"}]},"payload":`
	for _, payload := range []string{`{"id":1,"name":"ann"}`, `null`, `{"id":1,"name":"bob"}`} {
		if err := d.Decode(record(head+payload+"}"), &b); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{`version=77 id=1 name="ann" lsn=77 gone=false`, `version=77 id=1 lsn=77 gone=true`, `version=77 id=1 name="bob" lsn=77 gone=false`} {
		if got := shown(deletes, &b.Events[i]); got != want {
			t.Errorf("record %d: %s, want %s", i, got, want)
		}
	}
	for _, s := range []event.Schema{
		schema(func(_ *event.Schema, e *event.Envelope) { e.MarkedDeletes = true }),
		schema(func(s *event.Schema, e *event.Envelope) {
			s.Tombstones, e.Unwrapped, e.MarkedDeletes = false, false, true
		}),
	} {
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "only unwrapped rows have deletes that are marked") {
			t.Errorf("a schema of both: %v", err)
		}
	}
}
