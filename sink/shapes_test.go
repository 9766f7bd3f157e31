package sink_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/event"
	"brine/hbase"
	"brine/internal/testenv"
	"brine/rowkey"
	"brine/sink"
)

// posts has the fields of every shape of rows.
var posts = event.Schema{Version: 1, Fields: []event.Field{
	{Name: "id", Type: event.Text}, {Name: "at", Type: event.TimeMS}, {Name: "from", Type: event.Text}, {Name: "to", Type: event.Text},
	{Name: "text", Type: event.Text}, {Name: "attrs", Type: event.Nested}, {Name: "until", Type: event.TimeS}}}

// sides returns both sides of a post, in one table.
func sides(t testing.TB, table string) []sink.Rows {
	rows := sink.Rows{Table: sink.Table{Name: table, Row: sink.RowEvent, Keys: rowkey.One(key(t, posts, `owner + "|" + peer + "|" + id`, "owner", "peer"))},
		Columns: []sink.Column{{Family: "m", Qualifier: "t", Field: "text"}}}
	sent, received := rows, rows
	sent.As, received.As = map[string]string{"owner": "from", "peer": "to"}, map[string]string{"owner": "to", "peer": "from"}
	return []sink.Rows{sent, received}
}

// words returns rows without columns for each word of a post.
func words(t testing.TB, table string, tokenizer event.Tokenizer) sink.Rows {
	return sink.Rows{Table: sink.Table{Name: table, Row: sink.RowEvent, Keys: rowkey.One(key(t, posts, `from + "|" + word + "|" + id`, "word"))}, Empty: "e",
		Each: &sink.Each{Name: "word", Tokens: event.Tokens{Tokenizer: tokenizer, Limit: 4, Fields: []event.TextField{{Field: "text"}, {Field: "attrs", Path: []string{"tags"}}}}}}
}

// members has columns of the members of a field and of the record, and one with its own name.
func members(t testing.TB, table string) sink.Rows {
	return sink.Rows{Table: sink.Table{Name: table, Row: sink.RowEntity, Keys: rowkey.One(key(t, posts, `id`))}, Columns: []sink.Column{
		{Family: "f", Qualifier: "text", Field: "text"},
		{Family: "f", Qualifier: "a_", Field: "attrs", Members: &sink.Members{Except: []string{"debug"}, Limit: 3}},
		{Family: "g", Members: &sink.Members{Limit: 2}},
	}}
}

// shapes writes posts in every shape and returns what a reader finds, with the failures.
func shapes(t *testing.T, client *hbase.Client) string {
	name := testenv.Name(t)
	entries := append(sides(t, name+"_sides"), words(t, name+"_words", event.Words), words(t, name+"_cjk", event.CJK), members(t, name+"_members"))
	var tables []string
	for _, r := range entries {
		if slices.Contains(tables, r.Table.Name) {
			continue
		}
		tables = append(tables, r.Table.Name)
		made := r
		if r.Empty != "" {
			made.Columns = []sink.Column{{Family: r.Empty}}
		}
		create(t, client, made)
		t.Cleanup(func() {
			ctx := context.Background() // the test's own context has ended
			if err := client.DisableTable(ctx, r.Table.Name); err != nil {
				t.Error(err)
			} else if err := client.DeleteTable(ctx, r.Table.Name); err != nil {
				t.Error(err)
			}
		})
	}
	s := newSink(t, sink.HBase(autoflush(t, client)), sink.Options{Schema: posts, Rows: entries, Hooks: sink.Hooks{
		Collision: func(i sink.CollisionInfo) { t.Errorf("a collision in %s: %s", i.Table, i.Row) }}})
	records := []string{
		`{"id":"1","at":1000,"from":"ann","to":"bob","text":"Red shoe, red!","attrs":{"size":42,"tags":["new"],"debug":"x"},"ip":"10.0.0.1"}`,
		`{"id":"2","at":1001,"from":"bob","to":"ann","text":"红色 ok","attrs":{"a":null},"score":1.50,"geo":{"lat":1}}`,
		`{"id":"3","at":1002,"from":"cat","to":"cat"}`,
		`{"id":"4","at":1003,"from":"ann","to":"bob","text":"one two three four five"}`,
		`{"id":"5","at":1004,"from":"ann","text":"x"}`,
		`{"id":"6","at":1005,"from":"ann","to":"bob","attrs":{"a":1,"b":2,"c":3,"d":4}}`,
		`{"id":"7","at":1006,"from":"ann","to":"bob","attrs":{"a":1,"a":2}}`,
		`{"id":"8","at":1007,"from":"ann","to":"bob","attrs":[1]}`,
		`{"id":"9","at":1008,"from":"ann","to":"bob","":1}`,
	}
	out := new(strings.Builder)
	for range 2 { // applied twice
		failures := submit(t, s, batch(t, posts, records...))
		out.Reset()
		fmt.Fprintln(out, failures)
	}
	for _, table := range tables {
		fmt.Fprintf(out, "-- %s\n%s", strings.TrimPrefix(table, name+"_"), strings.ReplaceAll(cells(t, client, table), name, ""))
	}
	return strings.ReplaceAll(out.String(), name+"_", "")
}

func TestShapes(t *testing.T) {
	const want = `3 reject too_large: too_large: field text: its words are more than 4 different tokens (key of table words)
4 reject missing_field: missing_field: field to: has no value (key of table sides)
5 reject too_large: too_large: field attrs: it has more than 3 members; see limit
6 reject undecodable: undecodable: field attrs.a: it occurs twice
7 reject wrong_type: wrong_type: field attrs: an object is expected, found an array
8 reject bad_name: bad_name: a member has an empty name, which cannot be a column
-- sides
ann|bob|1 m:t @1000 = Red shoe, red!
ann|bob|2 m:t @1001 = \xE7\xBA\xA2\xE8\x89\xB2 ok
bob|ann|1 m:t @1000 = Red shoe, red!
bob|ann|2 m:t @1001 = \xE7\xBA\xA2\xE8\x89\xB2 ok
cat|cat|3 m: @1002 = 
-- words
ann|new|1 e: @1000 = 
ann|red|1 e: @1000 = 
ann|shoe|1 e: @1000 = 
bob|ok|2 e: @1001 = 
bob|\xE7\xBA\xA2\xE8\x89\xB2|2 e: @1001 = 
-- cjk
ann|new|1 e: @1000 = 
ann|red|1 e: @1000 = 
ann|shoe|1 e: @1000 = 
bob|ok|2 e: @1001 = 
bob|\xE7\xBA\xA2|2 e: @1001 = 
bob|\xE7\xBA\xA2\xE8\x89\xB2|2 e: @1001 = 
bob|\xE8\x89\xB2|2 e: @1001 = 
-- members
1 f:a_size @1000 = 42
1 f:a_tags @1000 = ["new"]
1 f:text @1000 = Red shoe, red!
1 g:ip @1000 = 10.0.0.1
2 f:text @1001 = \xE7\xBA\xA2\xE8\x89\xB2 ok
2 g:geo @1001 = {"lat":1}
2 g:score @1001 = 1.50
3 f: @1002 = 
`
	t.Run("embedded", func(t *testing.T) {
		if diff := cmp.Diff(want, shapes(t, store(t))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("real", func(t *testing.T) {
		if diff := cmp.Diff(want, shapes(t, realStore(t))); diff != "" {
			t.Error(diff)
		}
	})
}

func realStore(t *testing.T) *hbase.Client {
	t.Helper()
	client, err := hbase.Open(t.Context(), hbase.Options{Connect: testenv.HBase(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// testTTL writes one event with an expired TTL, one with a TTL that has not expired, one with an end and one without a TTL, and reads them
// back.
func testTTL(t *testing.T, client *hbase.Client) {
	name := testenv.Name(t)
	rows := sink.Rows{Table: sink.Table{Name: name, Row: sink.RowEntity, Keys: rowkey.One(key(t, posts, `id`))}, Columns: []sink.Column{{Family: "f", Qualifier: "t", Field: "text"}}}
	create(t, client, rows)
	t.Cleanup(func() {
		ctx := context.Background() // the test's own context has ended
		if err := client.DisableTable(ctx, name); err != nil {
			t.Error(err)
		} else if err := client.DeleteTable(ctx, name); err != nil {
			t.Error(err)
		}
	})
	now := time.Now()
	expired := 0
	write := func(ttl sink.TTL, id string, at time.Time, more string) {
		rows.TTL = ttl
		s := newSink(t, sink.HBase(autoflush(t, client)), sink.Options{Schema: posts, Rows: []sink.Rows{rows}, Hooks: sink.Hooks{
			Expired: func(sink.ExpiredInfo) { expired++ }}})
		if got := submit(t, s, batch(t, posts, fmt.Sprintf(`{"id":%q,"at":%d,"text":"x"%s}`, id, at.UnixMilli(), more))); got != "" {
			t.Fatal(got)
		}
	}
	until := func(at time.Time) string { return fmt.Sprintf(`,"until":%d`, at.Unix()) }
	for _, c := range []struct {
		id   string
		ttl  sink.TTL
		at   time.Time
		more string
	}{
		{"over", sink.TTL{For: time.Hour}, now.Add(-2 * time.Hour), ""},
		{"kept", sink.TTL{For: time.Hour}, now.Add(-30 * time.Minute), ""},
		{"kept-until", sink.TTL{Until: "until"}, now.Add(-2 * time.Hour), until(now.Add(time.Hour))},
		{"over-until", sink.TTL{Until: "until"}, now.Add(-2 * time.Hour), until(now.Add(-time.Hour))},
		{"over-before", sink.TTL{Until: "until"}, now.Add(-2 * time.Hour), until(now.Add(-24 * time.Hour))},
		{"kept-null", sink.TTL{Until: "until"}, now.Add(-2 * time.Hour), ""},
		{"kept-none", sink.TTL{}, now.Add(-2 * time.Hour), ""},
	} {
		write(c.ttl, c.id, c.at, c.more)
	}
	want := map[string]string{}
	for id, at := range map[string]time.Time{"kept": now.Add(-30 * time.Minute), "kept-until": now.Add(-2 * time.Hour), "kept-null": now.Add(-2 * time.Hour), "kept-none": now.Add(-2 * time.Hour)} {
		want[id] = fmt.Sprintf("f:t@%d ", at.UnixMilli())
	}
	if diff := cmp.Diff(want, visible(t, client, name)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if expired != 3 {
		t.Errorf("the hook got %d expired events, not of 3", expired)
	}
	const soon = 2 * time.Second
	at := time.Now()
	write(sink.TTL{For: soon}, "soon", at, "") // the server's clock decides, so the test waits
	if visible(t, client, name)["soon"] == "" && time.Since(at) < soon-100*time.Millisecond {
		t.Error("it is gone before its time")
	}
	for deadline := time.Now().Add(time.Minute); visible(t, client, name)["soon"] != ""; {
		if time.Now().After(deadline) {
			t.Fatal("it is still there long after its time")
		}
	}
}

func TestTTL(t *testing.T) {
	t.Run("embedded", func(t *testing.T) { testTTL(t, store(t)) })
	t.Run("real", func(t *testing.T) { testTTL(t, realStore(t)) })
}

func TestShapesThatCannotBe(t *testing.T) {
	base := func() sink.Rows { return members(t, "t") }
	for want, change := range map[string]func(*sink.Rows){
		"empty names family e, but there are columns":                 func(r *sink.Rows) { r.Empty = "e" },
		`field "nobody", which the key has as owner, is not declared`: func(r *sink.Rows) { r.As = map[string]string{"owner": "nobody"} },
		"does not hold word, so all tokens of an event": func(r *sink.Rows) {
			r.Each = &sink.Each{Name: "word", Tokens: event.Tokens{Tokenizer: event.Words, Limit: 1, Fields: []event.TextField{{Field: "text"}}}}
		},
		"it is unknown which columns a null would be in":        func(r *sink.Rows) { r.Nulls = sink.NullsDelete },
		"would also expire the delete markers of nulls replace": func(r *sink.Rows) { r.Nulls, r.TTL.For = sink.NullsReplace, time.Hour },
		"both a duration and field until":                       func(r *sink.Rows) { r.TTL = sink.TTL{For: 1, Until: "until"} },
		"field text, which says until when":                     func(r *sink.Rows) { r.TTL.Until = "text" },
		`field "never", which says how long`:                    func(r *sink.Rows) { r.TTL.Until = "never" },
		"is less than a millisecond":                            func(r *sink.Rows) { r.TTL.For = time.Microsecond },
		"field text is declared text, which has no mem":         func(r *sink.Rows) { r.Columns[1].Field = "text" },
		"at most 0 members become columns":                      func(r *sink.Rows) { r.Columns[2].Members = &sink.Members{} },
	} {
		rows := base()
		change(&rows)
		if _, err := sink.New(nil, sink.Options{Schema: posts, Rows: []sink.Rows{rows}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A member whose column already has the cell of another name does not overwrite it.
func TestMemberWithTheNameOfAColumn(t *testing.T) {
	rows := members(t, "t")
	rows.Columns[1].Qualifier = ""
	s := newSink(t, &fake{}, sink.Options{Schema: posts, Rows: []sink.Rows{rows}})
	got := submit(t, s, batch(t, posts, `{"id":"1","at":1,"attrs":{"text":"y"}}`))
	if want := "0 reject bad_name: bad_name: field attrs.text: the member's column f:text is also set on its own"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q", got)
	}
}

// Two messages that share one row, one for its sender and one for its receiver, are a collision.
func TestCollisionAcrossEntries(t *testing.T) {
	var rows []string
	s := newSink(t, &fake{}, sink.Options{Schema: posts, Rows: sides(t, "t"), Hooks: sink.Hooks{Collision: func(i sink.CollisionInfo) { rows = append(rows, string(i.Row)) }}})
	submit(t, s, batch(t, posts, `{"id":"1","at":1,"from":"a","to":"b","text":"x"}`, `{"id":"1","at":1,"from":"b","to":"a","text":"y"}`, `{"id":"2","at":1,"from":"c","to":"c","text":"y"}`))
	if got := strings.Join(rows, " "); got != "b|a|1 a|b|1" {
		t.Errorf("collisions in %q", got)
	}
}

func TestPreview(t *testing.T) {
	p, err := sink.NewPreview(sink.Options{Schema: posts, Rows: append(sides(t, "sides"), words(t, "words", event.Words))})
	if err != nil {
		t.Fatal(err)
	}
	events := batch(t, posts, `{"id":"1","at":1,"from":"a","to":"b","text":"X y"}`, `{"id":"2","at":1,"from":"a","to":"b","text":"a b c d e"}`)
	var got []string
	row := func(table string, key []byte, cells func() []sink.Cell) {
		got = append(got, fmt.Sprintf("%s %s %q", table, key, cells()))
	}
	if err := p.Rows(&events.Events[0], row); err != nil {
		t.Fatal(err)
	}
	if err := p.Rows(&events.Events[1], row); err == nil || !strings.Contains(err.Error(), "more than 4") {
		t.Error(err)
	}
	want := []string{`sides a|b|1 [{"m" "t" "X y"}]`, `sides b|a|1 [{"m" "t" "X y"}]`, `words a|x|1 [{"e" "" ""}]`, `words a|y|1 [{"e" "" ""}]`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
