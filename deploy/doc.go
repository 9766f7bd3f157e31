// Package deploy is the deployment of brine: images, compose, dashboards, rules, and the servers against which tests run. It has no code of
// its own; its test checks compose.yaml. Nothing imports it.
//
// The invariant: what is deployed here is what is tested here, with the same versions of the same servers.
package deploy
