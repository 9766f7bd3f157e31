package indexer_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"brine/event"
	"brine/indexer"
	"brine/indexer/indexertest"
)

// conditions makes the field of a condition; the events of the test already have its result.
type conditions struct{}

func (conditions) Evaluator() event.Evaluator { return nil }

func (conditions) Reads(string) ([]int, bool) { return nil, false }

func (conditions) Sources(string, ...string) []int { return nil }

// asked returns an event with the result of the condition: true, false, a text that is the reason for no result, or nil if the condition
// was not evaluated.
func asked(version int64, answer any, values ...any) event.Event {
	ev := indexertest.Event(version, values...)
	switch a := answer.(type) {
	case bool:
		ev.Values = append(ev.Values, event.BoolValue(a))
	case string:
		ev.Values = append(ev.Values, event.TextValue(a))
	default:
		ev.Values = append(ev.Values, event.Value{})
	}
	return ev
}

// TestConditions checks that a document is made of the events for which the condition holds, whatever their order, and that the others
// leave it as it is, or hide it at their version.
func TestConditions(t *testing.T) {
	yes, no := asked(1, true, "a", "open"), asked(2, false, "a", "shut")
	again := asked(3, true, "a", "open again")
	for _, c := range []struct {
		name    string
		changes indexer.Changes
		hides   bool
		events  []event.Event
		want    string
		failed  string
	}{
		{"skip", indexer.Whole, false, []event.Event{yes, no}, `a@1 {"_row":"a","_ver":1,"status":"open"}`, ""},
		{"skip, never there", indexer.Whole, false, []event.Event{no}, ``, ""},
		{"delete", indexer.Whole, true, []event.Event{yes, no}, `a@2 {"_row":"a","_ver":2,"deleted":true}`, ""},
		{"delete, the other way round", indexer.Whole, true, []event.Event{no, yes}, `a@2 {"_row":"a","_ver":2,"deleted":true}`, ""},
		{"delete, and back", indexer.Whole, true, []event.Event{again, no, yes}, `a@3 {"_row":"a","_ver":3,"status":"open again"}`, ""},
		{"partial, skip", indexer.Partial, false, []event.Event{yes, no}, `a@0 {"_row":"a","_ver":1,"status":"open","_vers":{"status":1}}`, ""},
		{"partial, delete", indexer.Partial, true, []event.Event{yes, no},
			`a@0 {"_row":"a","_ver":2,"status":"open","deleted":true,"_vers":{"status":1,"deleted":2}}`, ""},
		{"partial, delete, and back", indexer.Partial, true, []event.Event{again, yes, no},
			`a@0 {"_row":"a","_ver":3,"status":"open again","deleted":false,"_vers":{"status":3,"deleted":3}}`, ""},
		{"no answer", indexer.Whole, true, []event.Event{asked(2, "when: division by zero", "a", "x")}, ``,
			"0 bad_expression: index orders: bad_expression: when: division by zero"},
		{"nobody asked", indexer.Whole, true, []event.Event{asked(2, nil, "a", "x")}, `a@2 {"_row":"a","_ver":2,"status":"x"}`, ""},
		{"no key, and it does not hold", indexer.Whole, true, []event.Event{asked(2, false, nil, "x")}, ``, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := indexertest.Options(t, "orders", c.changes)
			o.Schema.Fields = append(slices.Clone(o.Schema.Fields), event.Field{Name: "holds", Type: event.Bool, Made: true})
			o.Schema.Derive = conditions{}
			o.Documents[0].When, o.Documents[0].Hides = "holds", c.hides
			engine := newMemory()
			w, err := indexer.New(engine, o)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			var failed []string
			for i := range c.events {
				failures, err := event.Settle(t.Context(), w.Submit(t.Context(), &event.Batch{Events: slices.Clone(c.events[i : i+1])}))
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range failures {
					failed = append(failed, fmt.Sprintf("%d %s: %v", f.Index, f.Reason, f.Err))
				}
			}
			var got []string
			for _, id := range slices.Sorted(maps.Keys(engine.docs)) {
				d := engine.docs[id]
				got = append(got, fmt.Sprintf("%s@%d %s", strings.TrimPrefix(id, "orders/"), d.version, d.source))
			}
			if strings.Join(got, ", ") != c.want || strings.Join(failed, ", ") != c.failed {
				t.Errorf("\ngot  %s\nwant %s\nfailed %v", strings.Join(got, ", "), c.want, failed)
			}
			if n := len(o.Conditions()); n != 1 {
				t.Errorf("%d conditions", n)
			}
		})
	}
}
