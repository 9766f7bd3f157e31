package indexer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/indexer"
	"brine/indexer/indexertest"
)

func TestOptionsValidate(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*indexer.Options)
		want []string // one in each line of the error; none means valid
	}{
		{"good", func(*indexer.Options) {}, nil},
		{"limits", func(o *indexer.Options) { o.Calls, o.MaxBulkBytes, o.MaxPause = -1, 5, time.Nanosecond },
			[]string{"indexer: Options.Calls is -1: it must be from 1 to 64", "Options.MaxBulkBytes is 5", "Options.MaxPause is 1"}},
		{"no documents", func(o *indexer.Options) { o.Documents = nil }, []string{"none declared"}},
		{"index name", func(o *indexer.Options) { o.Documents[0].Index = "../Etc" }, []string{"lower-case"}},
		{"no key", func(o *indexer.Options) { o.Documents[0].Key = nil }, []string{"no key"}},
		{"key of no field", func(o *indexer.Options) { o.Schema.Fields = o.Schema.Fields[1:] }, []string{"the key names field order"}},
		{"changes", func(o *indexer.Options) { o.Documents[0].Changes = "some" }, []string{`changes is "some"`}},
		{"twice", func(o *indexer.Options) { o.Documents = append(o.Documents, o.Documents[0]) }, []string{"declared twice"}},
		{"columns", func(o *indexer.Options) {
			o.Documents[0].Set = []indexer.Column{
				{Name: "_id", Field: "order"}, {Name: "x", Field: "absent"}, {Name: "n", Field: "number", Type: indexer.Keyword},
				{Name: "item", Field: "item"}, {Name: "item", Field: "order"},
			}
		}, []string{`set "_id"`, "field absent is not declared", "cannot be a keyword", "set item: declared twice"}},
		{"deleted that is no bool", func(o *indexer.Options) { o.Documents[0].Deleted = "status" }, []string{"must be a bool"}},
		{"empty set", func(o *indexer.Options) { o.Documents[0].Set, o.Documents[0].Deleted = nil, "" }, []string{"set is empty"}},
	} {
		opts := indexertest.Options(t, "orders", indexer.Whole)
		c.set(&opts)
		opts.EnsureDefaults()
		err := opts.Validate()
		if len(c.want) == 0 {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		lines := strings.Split(fmt.Sprint(err), "\n")
		if !slices.EqualFunc(lines, c.want, strings.Contains) {
			t.Errorf("%s: error %q, want %q", c.name, lines, c.want)
		}
		if _, err := indexer.New(newMemory(), opts); err == nil {
			t.Errorf("%s: New took it", c.name)
		}
	}
}

func TestMappings(t *testing.T) {
	got := indexertest.Options(t, "orders", indexer.Partial).Mappings()
	want := indexer.Mapping{Index: "orders", Fields: []indexer.Field{
		{Name: "status", Type: indexer.Keyword}, {Name: "item", Type: indexer.Text}, {Name: "number", Type: indexer.Long},
		{Name: "amount", Type: indexer.Double}, {Name: "at", Type: indexer.Date}, {Name: "deleted", Type: indexer.Boolean},
	}}
	if len(got) != 1 || got[0].Index != want.Index || !slices.Equal(got[0].Fields, want.Fields) {
		t.Errorf("mappings %v, want %v", got, want)
	}
}
