package explain

import (
	"fmt"
	"strings"
	"testing"

	"brine/event"
	"brine/mask"
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
