package remote

import (
	"cmp"
	"slices"
)

// Retry is the reason and the remedy of a retry, as RetryInfo reports them.
type Retry struct{ Reason, Remedy string }

// Retries returns all possible retries: each exception in the table of remedies with its remedy, failures of connections and answers, and
// exceptions that are not in the table. An exception that the server marks do-not-retry may also be isolated, whatever the table says.
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
