package display

import (
	"context"
	"net"
	"strings"
	"testing"

	"brine/verify"
)

// TestVerifySaysTiesAndDeadLetters checks that the number of dead letters is reported if nothing is missing, and that ties are reported but
// are not a problem.
func TestVerifySaysTiesAndDeadLetters(t *testing.T) {
	tie := &verify.Tie{Key: []byte("o\x1b1"), Column: "f:status", Records: []verify.Record{{Topic: "shop.orders", Partition: 1, Offset: 4}, {Topic: "shop.orders", Offset: 9}}, Fix: "do this"}
	for _, c := range []struct {
		name   string
		report verify.Report
		want   []string
	}{
		{"nothing", verify.Report{}, []string{"nothing is missing, stale, different, newer, extra, collided or lost; dead letters: 0\n"}},
		{"dead letters", verify.Report{Rejected: 65_000, DeadLettered: 533}, []string{"or lost; dead letters: 65,533\n"}},
		{"rows that tie", verify.Report{Tables: []verify.TableReport{{Name: "orders", Ties: 60, Tie: tie}}},
			[]string{"60 rows have changes that tie, so the order of application decides which wins; do this; " +
				`such as row o\x1B1: records 1:4 and 0:9 of shop.orders`, "nothing is missing"}},
		{"a document that ties", verify.Report{Tables: []verify.TableReport{{Name: "orders", Documents: true, Ties: 1, Tie: tie}}},
			[]string{"1 document has changes that tie", `such as document "o\x1b1": records`, "nothing is missing"}},
	} {
		var out strings.Builder
		NewScreen(&out, false, true, nil).Report(&c.report, 20)
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is not in\n%s", c.name, want, out.String())
			}
		}
		var asJSON strings.Builder
		NewScreen(&asJSON, true, true, nil).Report(&c.report, 20)
		if c.report.Tables != nil && !strings.Contains(asJSON.String(), `"first_tie":{"key":"o\\x1B1"`) {
			t.Errorf("%s: %s", c.name, asJSON.String())
		}
	}
}

// The reason that a round of --follow failed is printed in plain words.
func TestVerifyNotesInPlainWords(t *testing.T) {
	_, err := new(net.Dialer).DialContext(t.Context(), "tcp", "127.0.0.1:1")
	var out strings.Builder
	NewScreen(&out, false, true, nil).Note("not verified: %v", err)
	if want := "not verified: 127.0.0.1:1: connection refused\n"; out.String() != want {
		t.Errorf("got %q, want %q", &out, want)
	}
}

// What a repair or a deletion did before it failed is printed, also as JSON.
func TestVerifyPrintsWhatItDidBeforeItFailed(t *testing.T) {
	for _, c := range []struct {
		json bool
		err  error
		want string
	}{
		{false, nil, "rewritten: 1,204 records\ndeleted what was extra in 3 rows and documents\n"},
		{false, context.DeadlineExceeded, "rewritten: 1,204 records, before it failed\ndeleted what was extra in 3 rows and documents, before it failed\n"},
		{true, context.DeadlineExceeded, `{"complete":false,"note":"rewritten: 1,204 records, before it failed","repaired_records":1204}` + "\n" +
			`{"complete":false,"deleted_extra":3,"note":"deleted what was extra in 3 rows and documents, before it failed"}` + "\n"},
	} {
		var out strings.Builder
		s := NewScreen(&out, c.json, true, nil)
		s.Repaired(1204, c.err)
		s.Deleted(3, c.err)
		if out.String() != c.want {
			t.Errorf("%v, %v: got %s, want %s", c.json, c.err, &out, c.want)
		}
	}
}
