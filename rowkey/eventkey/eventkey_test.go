package eventkey

import (
	"errors"
	"strings"
	"testing"

	"brine/event"
	"brine/rowkey"
)

func encoder(t *testing.T) *Encoder {
	t.Helper()
	key, err := rowkey.Parse(`waybill + "|" + desc(at, ms)`, []rowkey.Field{{Name: "at", Type: rowkey.Time}, {Name: "waybill", Type: rowkey.Text}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(key, event.Schema{Version: -1, Fields: []event.Field{{Name: "at", Type: event.TimeMS}, {Name: "n", Type: event.Int}, {Name: "waybill", Type: event.Text}}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestAppendTakesTheKeysFieldsOutOfTheEvent(t *testing.T) {
	e := encoder(t)
	ev := &event.Event{Values: []event.Value{event.TimeValue(7), event.IntValue(1), event.TextValue("AB")}}
	row, err := e.Append([]byte("before "), ev)
	if err != nil {
		t.Fatal(err)
	}
	if want := "before AB|\x7f\xff\xff\xff\xff\xff\xff\xf8"; string(row) != want {
		t.Errorf("got %q, want %q", row, want)
	}
	buf := make([]byte, 0, 64)
	if n := testing.AllocsPerRun(100, func() { _, _ = e.Append(buf, ev) }); n > 0 {
		t.Errorf("%g allocations per key", n)
	}
}

func TestAppendSaysWhyAnEventHasNoRow(t *testing.T) {
	e := encoder(t)
	for _, tt := range []struct {
		waybill event.Value
		reason  event.Reason
	}{
		{event.Value{}, event.MissingField},
		{event.TextValue("A|B"), event.BadKey},
		{event.TextValue(strings.Repeat("x", 40_000)), event.KeyTooLong},
	} {
		dst := []byte("x")
		row, err := e.Append(dst, &event.Event{Values: []event.Value{event.TimeValue(7), event.IntValue(1), tt.waybill}})
		var fault *event.Error
		if !errors.As(err, &fault) || fault.Reason != tt.reason || fault.Field != "waybill" || string(row) != "x" {
			t.Errorf("got %q, %v; want %s of waybill", row, err, tt.reason)
		}
	}
}

func TestNewNamesTheFieldThatIsMissing(t *testing.T) {
	key, err := rowkey.Parse("user", []rowkey.Field{{Name: "user", Type: rowkey.Text}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(key, event.Schema{}); err == nil || !strings.Contains(err.Error(), `"user"`) {
		t.Errorf("got %v", err)
	}
}

func TestValuesSurviveTheWayToTheKeyAndBack(t *testing.T) {
	for _, v := range []event.Value{event.TextValue("a"), event.IntValue(-5), event.TimeValue(9), event.FloatValue(-1.5), event.BoolValue(true), event.BoolValue(false), {}} {
		k := Value(v)
		back := FieldValue(k)
		if back.Type != v.Type || back.Int() != v.Int() || string(back.Text()) != string(v.Text()) {
			t.Errorf("%+v became %+v", v, back)
		}
		if k.Type != Type(v.Type) {
			t.Errorf("type of %+v is %v", v, k.Type)
		}
	}
}
