package main

import "fmt"

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

// orNone gives 0, with the label "none", where there is no series: nothing of the kind has happened yet.
func orNone(expr, label string) string {
	return fmt.Sprintf(`%s or on () label_replace(vector(0), "%s", "none", "", "")`, expr, label)
}

// increase is per step of the graph.
func increase(metric, selector string) string {
	return fmt.Sprintf("increase(%s{%s}[$__rate_interval])", metric, selector)
}
