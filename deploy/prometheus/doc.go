// Package prometheus is brine's rules for Prometheus (*.rules.yaml), an example configuration and their tests. It has no
// code of its own; nothing imports it.
//
// The invariant: every metric that a rule or a dashboard names is registered by package metrics, every query of every
// dashboard gives data when a real Prometheus scrapes a running brine, and every alert has a unit test and a runbook.
package prometheus
