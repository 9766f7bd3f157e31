package display

import (
	"strings"
	"testing"
	"time"

	"brine/event"
	"brine/ingest/deadletter"
)

// TestAFixReadsAsInExplain checks that the expressions of a fix are listed with commas, as brine explain lists them.
func TestAFixReadsAsInExplain(t *testing.T) {
	l := &deadletter.Kept{Letter: deadletter.Letter{Record: &event.Record{Topic: "t", Value: []byte("{}")}, Reason: event.WrongType,
		Replayed: time.UnixMilli(1), Let: "w = w.trim()\nn = 1"}}
	var out strings.Builder
	if err := Letter(&out, l, "p", nil); err != nil {
		t.Fatal(err)
	}
	if want := ", fixed by w = w.trim(), n = 1\n"; !strings.Contains(out.String(), want) {
		t.Errorf("%q is not in\n%s", want, out.String())
	}
}
