// Package deploy is how brine is deployed: images, compose, dashboards, rules and the servers that tests run against. It has
// no code of its own; its test checks compose.yaml. Nothing imports it.
//
// The invariant: what is deployed here is what is tested here: the same versions of the same servers.
package deploy
