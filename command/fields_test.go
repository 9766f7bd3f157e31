package command

import (
	"testing"

	"brine/event"
	"brine/query"
)

// TestAFieldOfTwoColumns checks that a command finds the first value of a field, as readers do.
func TestAFieldOfTwoColumns(t *testing.T) {
	m := Machine{State: "status"}
	status := func(v event.Value) query.Field { return query.Field{Name: "status", Value: v} }
	for _, fields := range [][]query.Field{
		{status(event.TextValue("paid")), status(event.Value{})},
		{status(event.Value{}), status(event.TextValue("paid")), status(event.TextValue("sent"))},
	} {
		if o, ok := m.orderOf(&query.Row{Fields: fields}); !ok || o.State != "paid" {
			t.Errorf("%+v: %+v", fields, o)
		}
	}
}
