package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// thousands writes a number with a comma before every three digits.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// bar draws a share against the largest one.
func bar(share, largest float64) string {
	const width = 30
	if largest <= 0 {
		return ""
	}
	return strings.Repeat("█", int(share/largest*width+0.5))
}

// start shows where a region begins.
func start(key string) string {
	if key == "" {
		return "(first)"
	}
	return key
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
