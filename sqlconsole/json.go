package sqlconsole

import (
	"fmt"
	"math"

	"brine/event"
	"brine/query"
)

// JSONValues are the values of a row as encoding/json takes them: times as RFC 3339, nil where there is none.
func JSONValues(row []event.Value) []any {
	values := make([]any, len(row))
	for i, v := range row {
		if v.Null() {
			continue
		}
		values[i] = query.JSONValue(v)
		if f, ok := values[i].(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
			values[i] = fmt.Sprint(f) // which JSON has no number for
		}
	}
	return values
}
