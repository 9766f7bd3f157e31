//go:build race

package testenv

// Race reports whether the race detector is on. It slows everything down many times, so tests skip their time limits.
const Race = true
