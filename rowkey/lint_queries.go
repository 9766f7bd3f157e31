package rowkey

import (
	"errors"
	"fmt"
)

// lintQueries finds the queries that no scan of the table answers, and those that need a scan of every bucket.
func (k *Key) lintQueries(o LintOptions) []Finding {
	var found []Finding
	for _, q := range o.Queries {
		scans, err := k.Serves(q)
		refused, isUsage := errors.AsType[*UsageError](err)
		switch {
		case isUsage:
			found = append(found, Finding{"unserved-query", Warning, 0,
				fmt.Sprintf("no scan answers the query %q: %s", q, refused.Msg), refused.Fix})
		case err != nil:
			found = append(found, Finding{"unserved-query", Warning, 0, fmt.Sprintf("no scan answers the query %q: %s", q, err),
				"query only fields that the key holds"})
		case scans > 1:
			found = append(found, Finding{"fan-out", Advice, k.lead().offset,
				fmt.Sprintf("the query %q reads all %d buckets and merges their rows", q, scans),
				"salt by what it binds, unless it needs one order over all rows"})
		}
	}
	return found
}
