package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"brine/internal/term"
)

// confirm asks a person, unless the flag --yes has answered.
func confirm(e *env, yes bool, question string) error {
	if yes {
		return nil
	}
	fmt.Fprintf(e.stderr, "%s [y/N] ", term.Line(question))
	answer := ""
	if e.stdin != nil {
		answer = readLine(e.stdin) // no answer is no
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

// readLine reads up to the next line's end and not a byte further: what follows answers the next question.
func readLine(r io.Reader) string {
	var line []byte
	for b := []byte{0}; ; line = append(line, b[0]) {
		if _, err := io.ReadFull(r, b); err != nil || b[0] == '\n' {
			return string(line)
		}
	}
}
