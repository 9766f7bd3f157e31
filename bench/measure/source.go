package measure

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// TrialVariable makes a run a trial: it may measure a source tree that differs from its commit, and records nothing.
const TrialVariable = "BENCH_TRIAL"

func trial() bool { return os.Getenv(TrialVariable) != "" }

// written is what runs themselves write: records, pages, and failed plans of the simulation.
var written = []string{":(top,exclude)bench/results", ":(top,exclude)docs", ":(top,exclude)internal/simulate/testdata/seeds.txt"}

// CleanTree returns an error unless the source tree, except for what runs write, is that of its commit, because a record names the measured
// commit.
func CleanTree() error {
	changed, err := git(append([]string{"status", "--porcelain", "--untracked-files=all", "--", ":(top)"}, written...)...)
	if err != nil {
		return fmt.Errorf("nothing is recorded, since the commit is unknown: %w", err)
	}
	if changed == "" {
		return nil
	}
	files := strings.Split(changed, "\n")
	const most = 5
	if n := len(files) - most; n > 0 {
		files = append(files[:most], fmt.Sprintf("and %d more", n))
	}
	return fmt.Errorf("nothing is recorded, since the source tree is not that of its commit: %s; commit first, or measure without a record "+
		"by %s=1",
		strings.Join(files, ", "), TrialVariable)
}

// recordable returns an error, before anything is measured, if the results could not be recorded, unless this is a trial.
func recordable() error {
	if trial() {
		return nil
	}
	return CleanTree()
}

// commit returns the source tree's commit.
func commit() string {
	name, err := git("describe", "--always")
	if err != nil {
		return "unknown"
	}
	if CleanTree() != nil {
		name += "-dirty"
	}
	return name
}

func git(args ...string) (string, error) {
	out, err := exec.Command("git", args...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}
