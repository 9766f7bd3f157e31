package display

import (
	"iter"
	"strings"
	"testing"

	"brine/config"
	"brine/event"
	"brine/query"
)

// TestRowsWithNestedFields checks that nested values are printed as JSON.
func TestRowsWithNestedFields(t *testing.T) {
	rows := func(yield func(query.Found, error) bool) {
		yield(query.Found{Row: query.Row{Key: []byte("r"), Version: 1, Fields: []query.Field{{Name: "items", Value: event.NestedValue(`[{"n":1},"x"]`)}}}}, nil)
	}
	var out strings.Builder
	if err := (&Rows{}).Print(&out, iter.Seq2[query.Found, error](rows)); err != nil {
		t.Fatal(err)
	}
	if want := "ITEMS          VERSION\n[{\"n\":1},\"x\"]  1970-01-01T00:00:00.001Z\n"; out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
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
