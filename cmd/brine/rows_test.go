package main

import (
	"iter"
	"strings"
	"testing"

	"brine/config"
	"brine/event"
	"brine/query"
)

// TestRowsWithNestedFields holds that what a record nests is shown as JSON, and what is none as a text.
func TestRowsWithNestedFields(t *testing.T) {
	rows := func(nested string) iter.Seq2[query.Found, error] {
		return func(yield func(query.Found, error) bool) {
			yield(query.Found{Row: query.Row{Key: []byte("r"), Version: 1, Fields: []query.Field{{Name: "items", Value: event.NestedValue(nested)}}}}, nil)
		}
	}
	for _, tt := range []struct {
		json         bool
		nested, want string
	}{
		{true, `[{"n": 1}, "x"]`, `{"fields":{"items":[{"n":1},"x"]},"row":"r","version":1}`},
		{true, `[1`, `{"fields":{"items":"[1"},"row":"r","version":1}`},
		{false, `[{"n":1},"x"]`, "ITEMS          VERSION\n[{\"n\":1},\"x\"]  1970-01-01T00:00:00.001Z"},
	} {
		var out strings.Builder
		p := rowPrinter{out: &out, json: tt.json}
		if err := p.print(rows(tt.nested)); err != nil || strings.TrimSpace(out.String()) != tt.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", tt.nested, err, out.String(), tt.want)
		}
	}
}

func TestVersionsAreShownAsWhatTheyCount(t *testing.T) {
	for counts, want := range map[config.VersionKind]string{
		config.Milliseconds: "44972-09-15T16:00:00.042Z", config.Sequence: "2013-01-01T10:00:00.000Z+42", config.Number: "1357034400000042"} {
		if got := versionText(1357034400000042, counts); got != want {
			t.Errorf("%d: got %s, want %s", counts, got, want)
		}
	}
}
