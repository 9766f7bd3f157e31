package remote

import (
	"cmp"
	"slices"
)

// Retry is why something was sent again, as RetryInfo reports it.
type Retry struct{ Reason, Remedy string }

// Retries are those that there are: each exception of the table of remedies with its own, what befalls connections and answers,
// and exceptions that the table does not have. An exception that the server marks as not to be retried is isolated besides,
// whatever the table says.
func Retries() []Retry {
	all := []Retry{
		{"connection", Reconnect.String()}, {"timeout", Reconnect.String()}, {"invalid_response", Relocate.String()},
		{"other", Relocate.String()}, {"other", Isolate.String()},
	}
	for class, rule := range rules {
		if rule.Remedy != GiveUp {
			all = append(all, Retry{Reason(Package + class), rule.Remedy.String()})
		}
	}
	slices.SortFunc(all, func(a, b Retry) int { return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Remedy, b.Remedy)) })
	return slices.Compact(all)
}
