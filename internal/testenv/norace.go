//go:build !race

package testenv

// Race says that the race detector is on, under which everything takes many times as long: tests that hold brine to a time leave that out.
const Race = false
