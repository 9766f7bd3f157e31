package measure

import (
	"context"
	"fmt"
	"os"
	"os/exec"
)

// Before marks the loads of a binary from an earlier commit, which run in turn with those of this one.
const Before = "before"

// BuildOf compiles a command at an earlier commit to a file of this run, and returns its path. It puts the commit's source tree in a folder
// of this run, and does not touch the tree that is measured.
func (c *Cluster) BuildOf(ctx context.Context, commit, pkg string) (string, error) {
	tree := c.Path("tree-of-" + Before)
	if err := os.Mkdir(tree, 0o755); err != nil {
		return "", err
	}
	archive := exec.CommandContext(ctx, "git", "archive", "--output", tree+".tar", commit)
	archive.Stderr = os.Stderr
	if err := archive.Run(); err != nil {
		return "", fmt.Errorf("git archive %s: %w", commit, err)
	}
	unpack := exec.CommandContext(ctx, "tar", "-x", "-f", tree+".tar", "-C", tree)
	unpack.Stderr = os.Stderr
	if err := unpack.Run(); err != nil {
		return "", fmt.Errorf("tar -x of commit %s: %w", commit, err)
	}
	return build(ctx, tree, c.Path(Before), pkg)
}

// FinishBesideBefore finishes the report of a comparison with a commit: for example rounds of n rows.
func (r *Report) FinishBesideBefore(commit string, rounds, n int, of string) error {
	return r.Finish(fmt.Sprintf("%s Beside commit %s, medians of %d rounds of %d %s each.\n\n%s", r.Heading(), commit, rounds, n, of,
		TargetTable(r.Targets)))
}

// BesideBefore returns the targets of our loads in comparison with those of an earlier commit: as many rows, no more CPU and no more
// memory. A difference within the spread of the same binary is undecided, which is as good as equal.
func BesideBefore(prefix string, of func(client string) []Load, ours string) []Target {
	ratio := func(f func(Load) float64) Estimate {
		return Compared(of(ours), of(Before), of(ours), of(ours+Again), f)
	}
	return []Target{
		AtLeast(prefix+"rows_of_before", ratio(Load.RowsPerSecond), 1),
		AtMost(prefix+"cpu_of_before", ratio(Load.ClientMicros), 1),
		AtMost(prefix+"peak_of_before", ratio(Load.Peak), 1),
	}
}
