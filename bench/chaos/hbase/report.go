package hbase

import (
	"fmt"
	"slices"
	"strings"

	"brine/bench/chaos/fault"
	"brine/bench/measure"
)

// targets are what a run has to keep, given the number of faults and kinds.
func (r *run) targets(faults, kinds int) []measure.Target {
	different := make(map[string]bool)
	killed, refused, played, needed := 0.0, 0, 0, 0
	for _, f := range r.Faults {
		if f.Failed == "" {
			played++
			different[f.Kind] = true
		}
		if f.Kind == "kill master" && f.Failed != "" {
			needed++
		}
		if f.Kind == "kill server" {
			killed = max(killed, f.Beyond)
		}
		if f.Kind != "disable+enable" {
			refused += f.Refused
		}
	}
	differs := 0.0
	if !strings.HasPrefix(r.Java, fmt.Sprintf("rows=%d cells=%d ", r.Findings.Rows, r.Findings.Cells)) {
		differs = 1
	}
	stuck := 0.0
	if r.Stuck != "" {
		stuck = 1
	}
	return []measure.Target{
		{Name: "chaos-hbase.faults", Value: float64(played), Bound: float64(faults), Least: true},
		{Name: "chaos-hbase.kinds", Value: float64(len(different)), Bound: float64(kinds), Least: true},
		{Name: "chaos-hbase.not_recovered", Value: stuck},
		{Name: "chaos-hbase.minutes", Value: r.Seconds / 60, Bound: r.limit.Minutes()},
		{Name: "chaos-hbase.lost", Value: float64(r.Findings.Lost)},
		{Name: "chaos-hbase.twice", Value: float64(r.Findings.Twice)},
		{Name: "chaos-hbase.reordered", Value: float64(r.Findings.Reordered)},
		{Name: "chaos-hbase.java_counts_otherwise", Value: differs},
		{Name: "chaos-hbase.refused_while_enabled", Value: float64(refused)},
		{Name: "chaos-hbase.kill_beyond_recovery_s", Value: killed, Bound: 3},
		{Name: "chaos-hbase.master_needed", Value: float64(needed)},
		{Name: "chaos-hbase.buffered_mib", Value: float64(r.Highest) / (1 << 20), Bound: bound / (1 << 20)},
		{Name: "chaos-hbase.goroutines_left", Value: float64(max(0, r.Left))},
	}
}

// finish keeps the run, writes its table into the page, and judges.
func (r *run) finish(targets []measure.Target) error {
	about := fault.Now()
	what := fmt.Sprintf("HBase 2.6.4; `make chaos-hbase SEED=%d`: %d faults in %.1f minutes, %d mutations a second.",
		r.Seed, int(targets[0].Value), r.Seconds/60, r.Rate)
	whole := struct {
		fault.About
		*run
		Targets []measure.Target
	}{about, r, targets}
	return fault.Conclude("chaos-hbase", about, whole, what, r.table(), targets)
}

// table is a line per kind of fault, in the order of the kinds' names.
func (r *run) table() string {
	var s strings.Builder
	s.WriteString("| fault | times | cluster's own recovery, longest s | longest stall of one region's rows, s | of all rows, s | beyond " +
		"recovery, s | refused |\n|---|---|---|---|---|---|---|\n")
	byKind := make(map[string][]*Fault)
	var names []string
	for _, f := range r.Faults {
		if f.Failed != "" {
			continue
		}
		if byKind[f.Kind] == nil {
			names = append(names, f.Kind)
		}
		byKind[f.Kind] = append(byKind[f.Kind], f)
	}
	slices.Sort(names)
	for _, name := range names {
		var worst Fault
		for _, f := range byKind[name] {
			worst.Cluster, worst.Stall = max(worst.Cluster, f.Cluster), max(worst.Stall, f.Stall)
			worst.Together, worst.Beyond = max(worst.Together, f.Together), max(worst.Beyond, f.Beyond)
			worst.Refused += f.Refused
		}
		fmt.Fprintf(&s, "| %s | %d | %.1f | %.1f | %.1f | %.1f | %d |\n",
			name, len(byKind[name]), worst.Cluster, worst.Stall, worst.Together, worst.Beyond, worst.Refused)
	}
	if r.Stuck != "" {
		fmt.Fprintf(&s, "\nIt ended early: %s.\n", r.Stuck)
	}
	n := r.Findings
	fmt.Fprintf(&s, "\n%d mutations of three cells were acknowledged, %d refused. The table held %d rows and %d cells, and HBase's Java "+
		"client counted %s.\n",
		n.Acknowledged, n.Refused, n.Rows, n.Cells, strings.Join(strings.Fields(r.Java)[:2], ", "))
	return s.String()
}
