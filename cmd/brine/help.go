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

// versionFlag is --version, which prints the same as the command version.
type versionFlag bool

// BeforeReset prints the version before kong looks at the rest of the command line.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	fmt.Fprintln(app.Stdout, brineVersion())
	app.Exit(exitOK)
	return nil
}
