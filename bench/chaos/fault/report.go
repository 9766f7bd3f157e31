package fault

import (
	"fmt"

	"brine/bench/measure"
)

const page = "docs/reliability.md"

// About is when, from which tree and on what machine a run was made. It heads the run's record.
type About struct{ Date, Commit, Machine string }

// Now returns the About of a run that ends now.
func Now() About {
	r := measure.NewReport("")
	return About{Date: r.Date, Commit: r.Commit, Machine: r.Machine}
}

// Conclude records a run of make TARGET, and its section of docs/reliability.md: what was run, its tables, and its targets, which it
// judges.
func Conclude(target string, about About, whole any, what, tables string, targets []measure.Target) error {
	text := fmt.Sprintf("%s, %s, commit %s, %s\n\n%s\n%s", about.Machine, about.Date, about.Commit, what, tables, measure.TargetTable(targets))
	return measure.Conclude(target, target, page, whole, text, targets)
}
