// Package prometheus holds brine's rules for Prometheus (*.rules.yaml), an example configuration, and their tests. It has no code of its
// own; nothing imports it.
//
// The invariant: package metrics registers every metric that a rule or dashboard names, every query of every dashboard returns data when a
// real Prometheus scrapes a running brine, and every alert has a unit test and a runbook.
package prometheus
