package main

import (
	"io"

	"brine/internal/term"
	"brine/service"
)

// printSummaries prints what became of the records. It returns an error if a half has halted because all of its records are rejected.
func printSummaries(out io.Writer, s *service.Service, asJSON bool) error {
	screen := term.Screen{Out: out}
	all, halted := s.Summaries()
	for i := range all {
		if asJSON {
			screen.JSON(all[i])
		} else {
			screen.Show(all[i].Line())
		}
	}
	return halted
}
