package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"brine/internal/fault"
)

// Exit codes, as documented in docs/cli.md and in brine --help.
const (
	exitOK          = 0
	exitFailed      = 1 // the command ran and failed
	exitUsage       = 2 // the command line or the configuration is wrong
	exitUnreachable = 3 // a broker, master or index cannot be reached
	exitMissing     = 4 // a topic, table, family or index is missing
	exitPort        = 5 // a port is in use
	exitData        = 6 // the data folder is in use, or from a newer version
	exitDiffers     = 7 // verify found differences
	exitDamaged     = 8 // a data folder is damaged
	exitRejected    = 9 // too many records in a row were rejected
)

const exitCodeHelp = `Exit codes: 0 done, 1 failed, 2 wrong command line or configuration, 3 a server cannot be reached, ` +
	`4 a topic, table or family is missing, 5 a port is in use, 6 the data folder is in use or from a newer version, 7 verify found ` +
	`something, 8 a data folder is damaged, ` +
	`9 run has halted: too many records in a row were rejected.`

// exitError is an error with its exit code and, for people, a hint how to fix it.
type exitError struct {
	code int
	err  error
	hint string
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// exitOf returns the exit code of an error and, for people, a hint how to fix it. It reports in ok whether the error has a code of its own.
func exitOf(err error) (code int, hint string, ok bool) {
	if exit, ok := errors.AsType[*exitError](err); ok {
		return exit.code, exit.hint, true
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return exitCodes[f.Kind], f.Fix, true
	}
	return exitFailed, "", false
}

var exitCodes = map[fault.Kind]int{
	fault.Failed: exitFailed, fault.Usage: exitUsage, fault.Unreachable: exitUnreachable, fault.Missing: exitMissing,
	fault.Port: exitPort, fault.Data: exitData, fault.Damaged: exitDamaged, fault.Rejected: exitRejected,
}

// errReported ends a command with an exit code after the command has printed everything.
type errReported struct{ code int }

func (e errReported) Error() string { return fmt.Sprintf("exit %d", e.code) }

// printError prints an error. It indents further lines, which may come from elsewhere, so that they do not look like brine's own.
func printError(stderr io.Writer, err error) {
	fmt.Fprintf(stderr, "brine: %s\n", strings.ReplaceAll(err.Error(), "\n", "\n  "))
}

// report prints an error for people, and returns the exit code. Errors and hints go to stderr, each on its own lines with a prefix; results
// go to stdout.
func report(stderr io.Writer, err error) int {
	var said errReported
	if errors.As(err, &said) {
		return said.code
	}
	printError(stderr, err)
	for _, hint := range hints(err) {
		fmt.Fprintf(stderr, "hint: %s\n", hint)
	}
	code, _, _ := exitOf(err)
	return code
}

// hints returns the hints of an error, one for each of several that are joined in it.
func hints(err error) (out []string) {
	switch e := err.(type) { //nolint:errorlint // it visits each level itself
	case *exitError:
		out = append(out, e.hint)
	case *fault.Error:
		out = append(out, e.Fix)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			for _, hint := range hints(one) {
				if !slices.Contains(out, hint) {
					out = append(out, hint)
				}
			}
		}
	case interface{ Unwrap() error }:
		return hints(e.Unwrap())
	}
	return slices.DeleteFunc(out, func(hint string) bool { return hint == "" })
}
