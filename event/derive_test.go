package event_test

import (
	"testing"

	"brine/event"
)

// doubling sets field 2 to twice field 1, drops events with 13, and has no answer for 7.
type doubling struct{}

func (d doubling) Evaluator() event.Evaluator { return d }

func (doubling) Reads(string) ([]int, bool) { return nil, false }

func (doubling) Sources(string, ...string) []int { return nil }

func (doubling) Derive(values []event.Value) (bool, *event.Error) {
	switch n := values[1].Int(); n {
	case 7:
		return false, &event.Error{Reason: event.BadExpression, Detail: "seven"}
	case 13:
		return false, nil
	default:
		values[2] = event.IntValue(2 * n)
		return true, nil
	}
}

func (d doubling) DeriveDelete(values []event.Value, _ []bool) (bool, *event.Error) {
	return d.Derive(values)
}

func (d doubling) DeriveUpdate(values []event.Value, _, _ []bool) (bool, *event.Error) {
	return d.Derive(values)
}

func (d doubling) DeriveFormer(values []event.Value) bool {
	keep, err := d.Derive(values)
	return keep || err != nil
}

func TestDerivedFields(t *testing.T) {
	schema := event.Schema{Version: 2, Derive: doubling{}, Images: event.Images{Before: []string{"before"}, After: []string{"after"}},
		Fields: []event.Field{{Name: "id", Type: event.Text, Path: []string{"after", "id"}}, {Name: "n", Type: event.Int, Path: []string{"after", "n"}},
			{Name: "double", Type: event.Int, Made: true}}}
	if err := schema.Validate(); err != nil {
		t.Fatal(err)
	}
	d := event.NewDecoder(schema)
	var b event.Batch
	for _, c := range []struct {
		json    string
		version int64
		former  int64 // twice the former n; 0: none; -1: not known
		leftOut event.LeftOut
		fails   bool
	}{
		{`{"after":{"id":"a","n":4}}`, 8, 0, "", false},
		{`{"before":{"n":5},"after":{"id":"a","n":4}}`, 8, 10, "", false},
		{`{"before":{"n":13},"after":{"id":"a","n":4}}`, 8, 0, "", false}, // it was not kept, so it left no row
		{`{"before":{"n":7},"after":{"id":"a","n":4}}`, 8, -1, "", false}, // it may have left a row before it had no answer
		{`{"before":{"n":4},"after":{"id":"a","n":13}}`, 1000, 0, event.Filtered, false},
		{`{"after":{"id":"a","n":7}}`, 0, 0, "", true},
		{`{"after":{"id":"a"}}`, 0, 0, "", false},
	} {
		d.Reset(&b)
		err := d.Decode(&event.Record{Value: []byte(c.json), Timestamp: 1000}, &b)
		if err != nil || c.fails {
			if !c.fails || err == nil || err.Error() != "bad_expression: seven" || len(b.Events) != 0 {
				t.Errorf("%s: %v", c.json, err)
			}
			continue
		}
		ev := b.Events[0]
		var former int64
		if ev.Former != nil {
			if former = ev.Former[2].Int(); ev.Former[2].Null() {
				former = -1
			}
		}
		if ev.Version != c.version || ev.LeftOut != c.leftOut || former != c.former {
			t.Errorf("%s: version %d, former %d, left out %q", c.json, ev.Version, former, ev.LeftOut)
		}
	}
}
