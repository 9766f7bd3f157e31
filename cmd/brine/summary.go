package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"brine/internal/term"
	"brine/service"
)

// printSummaries prints what became of the records, and fails when a half stands still because all of its records are rejected.
func printSummaries(out io.Writer, s *service.Service, asJSON bool) error {
	screen := term.Screen{Out: out}
	all, halted := s.Summaries()
	for i := range all {
		if asJSON {
			screen.JSON(all[i])
		} else {
			screen.Show(summaryLine(&all[i]))
		}
	}
	return halted
}

// byReason lists counts in brackets.
func byReason(counts map[string]int64) string {
	var reasons []string
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		reasons = append(reasons, reason+" "+term.Thousands(counts[reason]))
	}
	return inBrackets(strings.Join(reasons, ", "))
}

func summaryLine(s *service.Summary) string {
	line := fmt.Sprintf("%s: %s written, %s%s, %s left out%s", s.Name, term.Count(int(s.Written), "record"),
		term.Count(int(s.Dead), "dead letter"),
		byReason(s.Reasons), term.Thousands(s.LeftOut), byReason(s.LeftOutBy))
	if s.Ties > 0 {
		line += fmt.Sprintf(", %s with changes that tie", term.Count(int(s.Ties), "cell"))
	}
	if s.Halted != "" {
		line += "; HALTED"
	}
	return line
}
