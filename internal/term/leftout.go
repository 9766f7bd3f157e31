package term

import (
	"maps"
	"slices"
	"strings"
)

// ByReason lists counts in brackets; it returns "" if there are none.
func ByReason(counts map[string]int64) string {
	var reasons []string
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		reasons = append(reasons, reason+" "+Thousands(counts[reason]))
	}
	if len(reasons) == 0 {
		return ""
	}
	return " (" + strings.Join(reasons, ", ") + ")"
}

// LeftOut describes how many events are left out, and how many do not satisfy the when of a row or document. It returns "" if there are
// none.
func LeftOut[K ~string](reasons map[K]int64, filtered map[string]int64) (text string) {
	if n, by := int64(0), map[string]int64{}; len(reasons) > 0 {
		for reason, events := range reasons {
			by[string(reason)] = events
			n += events
		}
		text = ", " + Thousands(n) + " left out" + ByReason(by)
	}
	if len(filtered) > 0 {
		text += ", filtered" + ByReason(filtered)
	}
	return text
}
