package event_test

import (
	"strings"
	"testing"

	"brine/event"
)

// TestMaskedValuesAreInNoReject checks that the reject of a masked field does not quote its value, wherever the record holds it and however
// a format words it, and that the reject of another field does.
func TestMaskedValuesAreInNoReject(t *testing.T) {
	const value = "13800138000"
	debezium := wrap(event.Envelope{Form: event.Debezium}, -1, event.Field{Name: "phone", Type: event.Time, Format: "epoch_days"},
		event.Field{Name: "day", Type: event.Time, Format: "epoch_days"}, at("facts", event.Nested))
	debezium.Masked = []int{0, 2}
	maxwell := wrap(event.Envelope{Form: event.Maxwell}, -1, at("phone", event.Int))
	maxwell.Masked = []int{0}
	twice := event.Schema{Version: -1, Fields: []event.Field{at("of", event.Int, "phone"), at("phone", event.Int)}, Masked: []int{1}}
	for _, c := range []struct {
		schema event.Schema
		field  string
		shown  bool
	}{
		{debezium, "after.phone", false}, {debezium, "before.phone", false}, {debezium, "phone", false}, {debezium, "after.facts.name", false}, {debezium, "before.facts.name", false},
		{debezium, "after.day", true}, {debezium, "before.day", true}, {debezium, "day", true}, {debezium, "after.phones", false}, {debezium, "source.phone", false}, {debezium, "", false},
		{maxwell, "old.phone", false}, {maxwell, "data.phone", false}, {twice, "phone", false}, {twice, "of", true},
	} {
		for _, detail := range []string{"a time in days since 1970 is expected, found " + value, "year " + value + ", month 1, day 1 is not a date", `found "` + value + `"`, "found -" + value + ".5e3"} {
			err := &event.Error{Reason: event.WrongType, Field: c.field, Detail: detail}
			if got := c.schema.Hide(err).Error(); strings.Contains(got, value) != c.shown {
				t.Errorf("%s: %s", c.field, got)
			}
		}
	}
	for in, want := range map[string]string{
		`{"op":"u","before":{"phone":` + strings.Repeat("9", 19) + `},"after":{"phone":1}}`: "wrong_type: field before.phone: ***",
		`{"op":"u","before":{"phone":1},"after":{"phone":` + strings.Repeat("9", 19) + `}}`: "wrong_type: field after.phone: ***",
		`{"op":"u","before":{"day":` + strings.Repeat("9", 19) + `},"after":{"day":1}}`:     `wrong_type: field before.day: a time in days since 1970 is expected, found "9999999999999999999"`,
		`{"op":"u","before":7,"after":{"day":1}}`:                                           `wrong_type: field before: an object is expected, found a number`,
	} {
		if got := said(t, debezium, &event.Record{Value: []byte(in), Timestamp: 1000}); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
	if left := debezium.Hide(&event.Error{Reason: event.Undecodable, Detail: "it ends too early at byte 47"}); left.Error() != "undecodable: it ends too early at byte 47" {
		t.Error(left)
	}
}
