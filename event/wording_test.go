package event_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"brine/event"
)

// whyNot returns why a value has no event.
func whyNot(t *testing.T, value []byte) *event.Error {
	t.Helper()
	d := event.NewDecoder(event.Schema{Fields: []event.Field{{Name: "a", Type: event.Text}}, Version: -1})
	var b event.Batch
	var reject *event.Error
	if err := d.Decode(&event.Record{Value: value}, &b); !errors.As(err, &reject) {
		t.Fatalf("%.60q: %v", value, err)
	}
	return reject
}

// However deeply a record is nested and however long its names are, its reject is readable.
func TestRejectsAreShort(t *testing.T) {
	for name, value := range map[string]string{
		"objects":    strings.Repeat(`{"a":`, 11_000),
		"arrays":     `{"n":` + strings.Repeat(`[`, 11_000),
		"a fault":    strings.Repeat(`{"n":`, 3000) + `q`,
		"a name":     `{"` + strings.Repeat("k", 30_000) + `":"\q"}`,
		"characters": `{"` + strings.Repeat("绿", 30_000) + `":"\q"}`,
		"controls":   `{"` + strings.Repeat(`\u0000`, 30_000) + `":"\q"}`,
	} {
		e := whyNot(t, []byte(value))
		if n := len(e.Error()); n > 300 || !utf8.ValidString(e.Error()) || !strings.Contains(e.Field, "…") {
			t.Errorf("%s: %d bytes: %q", name, n, e.Error())
		}
	}
	long := &event.Error{Reason: event.Refused, Field: "a", Detail: strings.Repeat("é", 5000)}
	if short := long.Short(); len(short.Detail) > 4<<10 || !utf8.ValidString(short.Detail) || !strings.HasSuffix(short.Detail, "é…") || short.Field != "a" || short.Reason != event.Refused {
		t.Errorf("%q", short)
	}
	if e := (&event.Error{Field: "a.b", Detail: "c"}); e.Short() != e {
		t.Error("a short one is copied")
	}
}

// The text around a fault belongs to the sender, and appears in no error.
func TestFaultsShowNothingOfWhatIsBesideThem(t *testing.T) {
	for _, value := range []string{`"x\ud800secret"`, `"\udc00secret"`, `"\ud800\usecret"`, `"\ud83d\u0073\u0065cret"`, `"\usecret"`, `"\u00secret"`, `"\qsecret"`, "\"\xffsecret\"", `secret`, `tsecret`, `"secret`, `1secret`} {
		e := whyNot(t, []byte(`{"a":`+value+`}`))
		for _, part := range []string{"sec", "ecr", "cret", `\u0073`} {
			if strings.Contains(e.Error(), part) {
				t.Errorf("%s: %s", value, e)
			}
		}
	}
}

func TestATombstoneIsNotAnEmptyValue(t *testing.T) {
	null, empty := whyNot(t, nil), whyNot(t, []byte{})
	if null.Reason != event.Undecodable || empty.Reason != event.Undecodable || !strings.Contains(null.Detail, "tombstone") || empty.Detail != "the value is empty" {
		t.Errorf("null: %v; empty: %v", null, empty)
	}
}
