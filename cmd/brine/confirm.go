package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"brine/internal/term"
)

// confirm asks the user to confirm, unless --yes was given.
func confirm(e *env, yes bool, question string) error {
	if yes {
		return nil
	}
	fmt.Fprintf(e.stderr, "%s [y/N] ", term.Line(question))
	answer := ""
	if e.stdin != nil {
		answer = readLine(e.stdin) // no answer means no
	}
	if !term.IsTerminal(e.stdin) {
		fmt.Fprintln(e.stderr)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return &exitError{exitFailed, errors.New("nothing was changed"), "answer y, or give --yes"}
}

// readLine reads up to the end of the line and not a byte further, because what follows answers the next question.
func readLine(r io.Reader) string {
	var line []byte
	for b := []byte{0}; ; line = append(line, b[0]) {
		if _, err := io.ReadFull(r, b); err != nil || b[0] == '\n' {
			return string(line)
		}
	}
}
