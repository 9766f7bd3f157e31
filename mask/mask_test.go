package mask

import (
	"context"
	"errors"
	"strings"
	"testing"

	"brine/event"
)

func TestRules(t *testing.T) {
	var none *Rules
	if none.Any("p") || none.MasksField("p", "f") || none.MasksKey("t") || none.MasksPlace("t", "c") || none.MasksKeyField("t", "f") || !none.Nothing() {
		t.Error("nil masks something")
	}
	r := &Rules{}
	r.Field("p", "phone")
	r.Place("t", "f:q")
	r.Key("u", "phone")
	r.Key("index", "")
	for what, is := range map[string]bool{
		"any": r.Any("p"), "field": r.MasksField("p", "phone"), "place": r.MasksPlace("t", "f:q"), "key": r.MasksKey("u"), "key field": r.MasksKeyField("u", "phone"),
		"ids": r.MasksKey("index"), "not another's": !r.MasksField("q", "phone") && !r.Any("q"), "not another key": !r.MasksKey("t"),
		"not another field": !r.MasksKeyField("u", "order") && !r.MasksKeyField("index", ""),
	} {
		if !is {
			t.Error(what)
		}
	}
}

// TestMembersOfAMaskedFieldAreMasked checks that a place that stands for the columns of a field's members masks each of them.
func TestMembersOfAMaskedFieldAreMasked(t *testing.T) {
	r := &Rules{}
	r.Place("t", "f:a_*")
	r.Place("t", "g:*")
	for name, masked := range map[string]bool{"f:a_*": true, "f:a_phone": true, "f:a_": true, "f:b": false, "g:x": true, "f:": false, "a_phone": false} {
		if r.MasksPlace("t", name) != masked || r.MasksPlace("u", name) {
			t.Errorf("%s: %v", name, r.MasksPlace("t", name))
		}
	}
}

func TestBytesSaysNothingOfThem(t *testing.T) {
	a, b := Bytes([]byte("13800138000")), Bytes([]byte("13800138001"))
	if a == b || a != Bytes([]byte("13800138000")) || !strings.HasPrefix(a, "11 bytes, hash ") || Bytes(nil) != "null" {
		t.Errorf("%s, %s, %s", a, b, Bytes(nil))
	}
}

type failing struct{ failures []event.Failure }

func (f *failing) Submit(context.Context, *event.Batch) event.Flight { return f }
func (f *failing) Release()                                          {}
func (f *failing) Hurry()                                            {}
func (f *failing) Wait(context.Context, event.Until) (event.Outcome, error) {
	return event.Outcome{Failures: f.failures}, nil
}

// TestRejectsOfAWriterQuoteNothing checks that a store's text about a record is not repeated, but a server's failure is.
func TestRejectsOfAWriterQuoteNothing(t *testing.T) {
	const secret = "13800138000"
	refused := &event.Error{Reason: event.MappingRefused, Detail: "failed to parse [" + secret + "]"}
	w := &failing{[]event.Failure{
		{Verdict: event.Reject, Reason: event.MappingRefused, Err: refused},
		{Verdict: event.Reject, Reason: event.Refused, Err: errors.New("row " + secret)},
		{Verdict: event.Reject, Err: &event.Error{Reason: event.BadKey, Field: "phone", Detail: "too wide: " + secret}},
		{Verdict: event.Reject, Err: &event.Error{Reason: event.BadKey, Field: "at", Detail: "too wide"}},
		{Verdict: event.Reject, Err: &event.Error{Reason: event.BadExpression, Field: "let.x", Detail: `strconv "` + secret + `"`}},
		{Verdict: event.Reject, Err: &event.Error{Reason: event.BadExpression, Detail: `let.x: strconv "` + secret + `"`}},
		{Verdict: event.Reject, Err: &event.Error{Reason: event.Undecodable, Detail: `found "a\"` + secret + `" at byte 3`}},
		{Verdict: event.Retry, Err: errors.New("10.0.0.1:16020 refused")},
	}}
	s := event.Schema{Fields: []event.Field{{Name: "phone", Type: event.Text}, {Name: "at", Type: event.Int}}, Version: 1}
	if Writer(w, s) != event.Writer(w) {
		t.Error("a writer of a schema that masks nothing is wrapped")
	}
	s.Masked = []int{0}
	out, err := Writer(w, s).Submit(t.Context(), nil).Wait(t.Context(), event.Settled)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"mapping_refused: ***", "***", "bad_key: field phone: ***", "bad_key: field at: too wide", "bad_expression: let.x: ***",
		"bad_expression: let.x: ***",
		"undecodable: found *** at byte 3", "10.0.0.1:16020 refused"}
	for i, f := range out.Failures {
		if f.Err.Error() != want[i] {
			t.Errorf("%d: %s, expected %s", i, f.Err, want[i])
		}
	}
	if w.failures[0].Err != error(refused) { //nolint:errorlint // the same value is wanted
		t.Error("the flight's own failures are changed")
	}
}
