package explain

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"brine/event"
	"brine/mask"
	"brine/sink"
)

// TestWhatAHalfAwaitsIsHidden checks that neither the row that a lookup waits for, nor the reason that a condition has no result, nor the
// conclusions from them show what is masked.
func TestWhatAHalfAwaitsIsHidden(t *testing.T) {
	r := Report{Pipelines: []Pipeline{{Pipeline: "orders", Halves: []Half{{Half: Rows}, {Half: Documents}},
		Events: []Event{{Awaits: &Reject{Reason: event.Awaited, Detail: "row planted has not come yet"},
			Conditions: []Condition{{Half: Documents, Holds: true, Fault: "planted is no number"}}}}}}}
	p := &r.Pipelines[0]
	for i := range p.Halves {
		p.Halves[i].Outcome, p.Halves[i].Why = p.outcome(&p.Halves[i])
	}
	rules := &mask.Rules{}
	rules.Field("orders", "user")
	r.Hide(rules, func(string) event.Schema {
		return event.Schema{Fields: []event.Field{{Name: "user", Type: event.Text}}, Masked: []int{0}}
	})
	if shown := fmt.Sprintf("%+v %+v", r, p.Events[0].Awaits); strings.Contains(shown, "planted") {
		t.Error(shown)
	}
	if h := p.Halves[0]; h.Outcome != NotYet || h.Why != "awaited: ***" {
		t.Errorf("%+v", h)
	}
}

// TestMembersOfAMaskedFieldAreHidden checks that the columns that the members of a masked field become are hidden.
func TestMembersOfAMaskedFieldAreHidden(t *testing.T) {
	r := Report{Pipelines: []Pipeline{{Pipeline: "risks", Events: []Event{{Rows: []Row{{Table: "risks", Row: "m1",
		Cells: []Cell{{Column: "r:f_phone", Value: shownText("planted"), Now: shownText("planted")}, {Column: "r:g", Value: shownText("shown")}}}}}}}}}
	rules := &mask.Rules{}
	rules.Field("risks", "facts")
	rules.Place("risks", "r:f_*")
	r.Hide(rules, func(string) event.Schema {
		return event.Schema{Fields: []event.Field{{Name: "facts", Type: event.Nested}}, Masked: []int{0}}
	})
	if cells := r.Pipelines[0].Events[0].Rows[0].Cells; *cells[0].Value != sink.ShownText(mask.Text) || *cells[0].Now != sink.ShownText(mask.Text) ||
		*cells[1].Value != sink.ShownText("shown") {
		t.Errorf("%+v", cells)
	}
}

// TestWhatAFixHasMadeIsHidden checks that neither the fix, nor the reason that it cannot be repeated, nor what it has made of a record
// shows what is masked.
func TestWhatAFixHasMadeIsHidden(t *testing.T) {
	replayed, rejected := int64(1), &Reject{Reason: event.WrongType, Field: "user", Detail: `"planted" is no number`}
	user := Field{Name: "user", Value: "planted", text: "planted"}
	letter := func(half string, f Fixed) Letter {
		return Letter{Half: half, Replayed: &replayed, Let: `user = "planted"`, Fixed: &f}
	}
	r := Report{Pipelines: []Pipeline{{Pipeline: "orders", Halves: []Half{{Half: Rows, Settled: true}, {Half: Documents, Settled: true}}, Rejected: rejected,
		Letters: []Letter{
			letter(Rows, Fixed{Events: []Event{{Fields: []Field{user}, Rejected: []Reject{*rejected}, Rows: []Row{{Table: "t", Row: "planted",
				Cells: []Cell{{Column: "e:user", Value: shownText("planted"), Now: shownText("planted")}}}}}}}),
			letter(Documents, Fixed{Problem: "planted does not compile", Rejected: &Reject{Reason: event.WrongType, Field: "user", Detail: "planted"}}),
		}}}}
	p := &r.Pipelines[0]
	for i := range p.Halves {
		p.Halves[i].Outcome, p.Halves[i].Why = p.outcome(&p.Halves[i])
	}
	rules := &mask.Rules{}
	rules.Field("orders", "user")
	rules.Key("t", "user")
	rules.Place("t", "e:user")
	r.Hide(rules, func(string) event.Schema {
		return event.Schema{Fields: []event.Field{{Name: "user", Type: event.Text}}, Masked: []int{0}}
	})
	asJSON, err := json.Marshal(r)
	var text strings.Builder
	p.print(&text)
	if shown := string(asJSON) + text.String(); err != nil || strings.Contains(shown, "planted") || !strings.Contains(shown, "with the fix, its rows:") {
		t.Error(shown, err)
	}
}

// TestWhatAnEarlierConfigurationMadeIsHidden checks that a record that is explained by an earlier configuration shows nothing of what is
// masked today, neither in a field that had another name or was computed from it then, nor in what an expression of that time said.
func TestWhatAnEarlierConfigurationMadeIsHidden(t *testing.T) {
	fault := &Reject{Reason: event.BadExpression, Field: "pipelines.orders.let.short", Detail: "planted is too long"}
	field := func(name, value string) Field { return Field{Name: name, Value: value, text: value} }
	r := Report{Pipelines: []Pipeline{{Pipeline: "orders", Configured: Earlier, Rejected: fault, Letters: []Letter{{Reason: fault.Reason, Field: fault.Field, Detail: fault.Detail}},
		schema: event.Schema{Fields: []event.Field{{Name: "phone"}, {Name: "number", Path: []string{"phone"}}, {Name: "short", Made: true}, {Name: "note", Path: []string{"phone"}},
			{Name: "status"}}},
		Events: []Event{{Rejected: []Reject{*fault}, Fields: []Field{field("phone", "planted"), field("number", "planted"), field("short", "planted"),
			field("note", "planted"), field("status", "paid")}}}}}}
	rules := &mask.Rules{}
	rules.Field("orders", "phone")
	r.Hide(rules, func(string) event.Schema {
		return event.Schema{Fields: []event.Field{{Name: "phone"}, {Name: "short", Made: true}, {Name: "note"}, {Name: "status"}}, Masked: []int{0}}
	})
	p := &r.Pipelines[0]
	if shown := fmt.Sprintf("%+v %+v %+v", p.Rejected, p.Letters, p.Events); strings.Contains(shown, "planted") || !strings.Contains(shown, "paid") {
		t.Error(shown)
	}
}
