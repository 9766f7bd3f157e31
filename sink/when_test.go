package sink_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"brine/derive"
	"brine/event"
	"brine/hbase"
	"brine/rowkey"
	"brine/sink"
)

// kept is a client that records mutations as texts.
type kept struct{ said []string }

func (k *kept) Release() {}
func (k *kept) Hurry()   {}

func (k *kept) Submit(_ context.Context, b *hbase.Batch) sink.Flight {
	for i := range b.Len() {
		text := string(b.Row(i))
		for c := range b.Cells(i) {
			text += fmt.Sprintf(" %s:%s", c.Family, c.Qualifier)
			if c.Type == hbase.Put {
				text += fmt.Sprintf("=%s@%d", strings.Map(printable, string(c.Value)), c.Timestamp)
			} else {
				text += fmt.Sprintf(" deleted@%d", c.Timestamp)
			}
		}
		k.said = append(k.said, text)
	}
	return landed{}
}

func printable(r rune) rune {
	switch {
	case r == '\uFFFD': // of a true, 0xff
		return '1'
	case r < ' ':
		return '0' + r
	}
	return r
}

type landed struct{}

func (landed) Wait(context.Context) ([]hbase.MutationError, error)        { return nil, nil }
func (landed) WaitPending(context.Context) (*hbase.Batch, []int32, error) { return nil, nil, nil }

func TestRowsWithACondition(t *testing.T) {
	b := derive.New([]event.Field{{Name: "id", Type: event.Text, Path: []string{"after", "id"}}, {Name: "n", Type: event.Int, Path: []string{"after", "n"}},
		{Name: "gone", Type: event.Bool}})
	if err := b.Condition("rows[0].when", "rows[0].when", `n > 3`); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Let("tenth", 0, "let.tenth", `n == null ? 0 : 10 / (n - 5)`); err != nil {
		t.Fatal(err)
	}
	images := event.Images{Before: []string{"before"}, After: []string{"after"}, Deleted: "gone"}
	for _, c := range []struct {
		name      string
		images    bool
		otherwise sink.Otherwise
		hard      bool
		json      string
		want      string // empty: nothing
	}{
		{"it holds", false, sink.Skip, false, `{"after":{"id":"a","n":4}}`, "a f:n=00000004@1000"},
		{"passed over", false, sink.Skip, false, `{"after":{"id":"a","n":3}}`, ""},
		{"passed over, without a key", false, sink.Skip, false, `{"after":{"n":3}}`, ""},
		{"hidden", false, sink.Delete, false, `{"after":{"id":"a","n":3}}`, "a f:gone=1@1000"},
		{"shown again", false, sink.Delete, false, `{"after":{"id":"a","n":4}}`, "a f:n=00000004@1000 f:gone=0@1000"},
		{"hidden, without a key", false, sink.Delete, false, `{"after":{"n":3}}`, ""},
		{"removed", false, sink.Delete, true, `{"after":{"id":"a","n":3}}`, "a f: deleted@1000"},
		{"moved, and holds", true, sink.Skip, false, `{"before":{"id":"b"},"after":{"id":"a","n":4}}`, "a f:n=00000004@1000 f:gone=0@1000; b f:gone=1@1000"},
		{"moved, and does not hold", true, sink.Skip, false, `{"before":{"id":"b","n":4},"after":{"id":"a","n":3}}`, "b f:gone=1@1000"},
		{"moved, and held neither before", true, sink.Skip, false, `{"before":{"id":"b"},"after":{"id":"a","n":3}}`, ""},
		{"stayed, and does not hold", true, sink.Skip, false, `{"before":{"n":4},"after":{"id":"a","n":3}}`, ""},
		{"stayed, and is hidden", true, sink.Delete, false, `{"before":{"n":4},"after":{"id":"a","n":3}}`, "a f:gone=1@1000"},
		{"moved, and had no answer before", true, sink.Skip, false, `{"before":{"id":"b","n":null},"after":{"id":"a","n":4}}`,
			"a f:n=00000004@1000 f:gone=0@1000; b f:gone=1@1000"},
		{"moved, does not hold, and had no answer before", true, sink.Skip, false, `{"before":{"id":"b","n":null},"after":{"id":"a","n":3}}`, "b f:gone=1@1000"},
		{"moved, and a let had no result before", true, sink.Skip, false, `{"before":{"id":"b","n":5},"after":{"id":"a","n":4}}`,
			"a f:n=00000004@1000 f:gone=0@1000; b f:gone=1@1000"},
		{"stayed, and a let had no result before", true, sink.Skip, false, `{"before":{"n":5},"after":{"id":"a","n":4}}`, "a f:n=00000004@1000 f:gone=0@1000"},
		{"no answer", false, sink.Skip, false, `{"after":{"id":"a"}}`,
			"bad_expression: rows[0].when: no such overload: _>_; n is null or absent: check n == null first"},
	} {
		schema := event.Schema{Version: -1, Fields: b.Fields(), Derive: b.Rules()}
		if c.images {
			schema.Images = images
		}
		key, err := rowkey.Parse("id", []rowkey.Field{{Name: "id", Type: rowkey.Text}})
		if err != nil {
			t.Fatal(err)
		}
		client := &kept{}
		s, err := sink.New(client, sink.Options{Schema: schema, Rows: []sink.Rows{{
			Table:   sink.Table{Name: "t", Row: sink.RowEntity, Keys: rowkey.One(key)},
			Columns: []sink.Column{{Family: "f", Qualifier: "n", Field: "n"}, {Family: "f", Qualifier: "gone", Field: "gone"}},
			Deletes: sink.Deletes{Field: "gone", Hard: c.hard}, When: "rows[0].when", Otherwise: c.otherwise}}})
		if err != nil {
			t.Fatal(c.name, err)
		}
		var batch event.Batch
		if err := event.NewDecoder(schema).Decode(&event.Record{Value: []byte(c.json), Timestamp: 1000}, &batch); err != nil {
			t.Fatal(c.name, err)
		}
		failures, err := event.Settle(t.Context(), s.Submit(t.Context(), &batch))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range failures {
			client.said = append(client.said, f.Err.Error())
		}
		slices.Sort(client.said)
		if got := strings.Join(client.said, "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
