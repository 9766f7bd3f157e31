package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"brine/service/devstack"
)

// repair saves what it can from a data folder that brine dev refuses, and prints what is lost.
func (c *devCmd) repair(e *env) error {
	if c.Data == "" {
		return usage(errors.New("--repair needs --data, the folder to repair"))
	}
	if _, err := os.Stat(c.Data); err != nil {
		return usage(fmt.Errorf("--data: %w", err))
	}
	aside, err := devstack.Repair(e.ctx, c.Data, slog.Default(), func(f devstack.Finding) {
		fmt.Fprintf(e.stdout, "%v\n  saved: %s\n", f.Damage, f.Saved)
		for _, line := range f.Lost {
			fmt.Fprintf(e.stdout, "  lost:  %s\n", line)
		}
		if len(f.Lost) == 0 {
			fmt.Fprintln(e.stdout, "  lost:  nothing")
		}
	})
	switch {
	case err != nil:
		return err
	case aside == "":
		fmt.Fprintf(e.stdout, "Nothing in %s is damaged.\n", c.Data)
	default:
		fmt.Fprintf(e.stdout, "\nThe damaged files are in %s: delete them when you no longer need them.\n", aside)
		if filepath.Dir(aside) != filepath.Clean(c.Data) {
			fmt.Fprintf(e.stdout, "%s has what was saved; brine replay --from earliest rewrites lost rows.\n", c.Data)
			return nil
		}
		fmt.Fprintf(e.stdout, "brine dev --data %s continues, and rewrites lost rows and documents from Kafka's records.\n", c.Data)
	}
	return nil
}
