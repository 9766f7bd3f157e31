package main

import (
	"fmt"

	"github.com/alecthomas/kong"
)

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"Command, such as run or tables plan (default: brine itself)."`
}

func (c *helpCmd) Run(e *env) error {
	if code := run(e, append(c.Command, "--help")); code != exitOK {
		return errReported{code}
	}
	return nil
}

// versionFlag is --version, which says what the command version says.
type versionFlag bool

// BeforeReset prints the version before anything else of the command line is looked at.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	fmt.Fprintln(app.Stdout, brineVersion())
	app.Exit(exitOK)
	return nil
}
