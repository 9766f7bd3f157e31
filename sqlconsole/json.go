package sqlconsole

import (
	"fmt"
	"math"

	"brine/event"
	"brine/query"
)

// JSONValues returns the values of a row for encoding/json: times as RFC 3339, nil for nulls.
func JSONValues(row []event.Value) []any {
	values := make([]any, len(row))
	for i, v := range row {
		if v.Null() {
			continue
		}
		values[i] = query.JSONValue(v)
		if f, ok := values[i].(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
			values[i] = fmt.Sprint(f) // JSON has no number for it
		}
	}
	return values
}
