package main

import (
	"fmt"
	"strings"
)

// The selectors of what the reader has chosen.
const (
	process = `instance=~"$instance"`
	loop    = `instance=~"$instance", pipeline=~"$pipeline"`
	table   = `instance=~"$instance", table=~"$table"`
)

func of(metric, selector string) string { return metric + "{" + selector + "}" }

// rate is per second.
func rate(metric, selector string) string {
	return fmt.Sprintf("rate(%s{%s}[$__rate_interval])", metric, selector)
}

func sum(by, expr string) string { return fmt.Sprintf("sum by (%s) (%s)", by, expr) }

// quantile is of a histogram, over the processes.
func quantile(q float64, by, metric, selector string) string {
	return fmt.Sprintf("histogram_quantile(%g, %s)", q, sum(by+", le", rate(metric+"_bucket", selector)))
}

// increase is per step of the graph.
func increase(metric, selector string) string {
	return fmt.Sprintf("increase(%s{%s}[$__rate_interval])", metric, selector)
}

// counted is how often something rare happened in a window. What happens in a process that is new, or for the first time where the
// kinds are not closed, makes a new series, and increase does not see its step from nothing to one: so a series that the window's
// begin did not know counts as a whole.
func counted(metric, selector, window string) string {
	m := of(metric, selector)
	return fmt.Sprintf("(%s unless %s offset %s or increase(%s[%s]))", m, m, window, m, window)
}

// rare is counted for each step of a graph, without what did not happen.
func rare(by, metric, selector string) string {
	return orNone(by, sum(by, counted(metric, selector, "$__rate_interval"))+" > 0")
}

// orNone is 0 with the last label "none" where there is no series.
func orNone(by, expr string) string {
	return fmt.Sprintf(`%s or on () label_replace(vector(0), "%s", "none", "", "")`, expr, lastLabel(by))
}

func lastLabel(by string) string { return by[strings.LastIndex(by, " ")+1:] }
