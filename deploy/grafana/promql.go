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

// rate returns a rate per second.
func rate(metric, selector string) string {
	return fmt.Sprintf("rate(%s{%s}[$__rate_interval])", metric, selector)
}

func sum(by, expr string) string { return fmt.Sprintf("sum by (%s) (%s)", by, expr) }

// quantile returns a quantile of a histogram over all processes.
func quantile(q float64, by, metric, selector string) string {
	return fmt.Sprintf("histogram_quantile(%g, %s)", q, sum(by+", le", rate(metric+"_bucket", selector)))
}

// increase returns the increase per step of the graph.
func increase(metric, selector string) string {
	return fmt.Sprintf("increase(%s{%s}[$__rate_interval])", metric, selector)
}

// counted returns how often something rare happened in a window. An event in a new process, or the first of its kind where kinds are not
// closed, creates a series, and increase misses its step from nothing to one. So a series that did not exist at the beginning of the window
// counts in full.
func counted(metric, selector, window string) string {
	m := of(metric, selector)
	return fmt.Sprintf("(%s unless %s offset %s or increase(%s[%s]))", m, m, window, m, window)
}

// rare returns counted for each step of a graph, without what did not happen.
func rare(by, metric, selector string) string {
	return orNone(by, sum(by, counted(metric, selector, "$__rate_interval"))+" > 0")
}

// orNone returns 0 with the last label "none" if there is no series.
func orNone(by, expr string) string {
	return fmt.Sprintf(`%s or on () label_replace(vector(0), "%s", "none", "", "")`, expr, lastLabel(by))
}

func lastLabel(by string) string { return by[strings.LastIndex(by, " ")+1:] }
