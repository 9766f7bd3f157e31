package hbase

import (
	"fmt"
	"slices"
	"strings"

	"brine/bench/chaos/fault"
	"brine/bench/measure"
)

// targets returns the targets of a run, given the number of faults and kinds.
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
	all := []measure.Target{
		{Name: r.name + ".faults", Value: float64(played), Bound: float64(faults), Least: true},
		{Name: r.name + ".kinds", Value: float64(len(different)), Bound: float64(kinds), Least: true},
		{Name: r.name + ".not_recovered", Value: stuck},
		{Name: r.name + ".minutes", Value: r.Seconds / 60, Bound: r.limit.Minutes()},
		{Name: r.name + ".lost", Value: float64(r.Findings.Lost)},
		{Name: r.name + ".twice", Value: float64(r.Findings.Twice)},
		{Name: r.name + ".reordered", Value: float64(r.Findings.Reordered)},
		{Name: r.name + ".java_counts_otherwise", Value: differs},
		{Name: r.name + ".refused_while_enabled", Value: float64(refused)},
		{Name: r.name + ".kill_beyond_recovery_s", Value: killed, Bound: 3},
		{Name: r.name + ".master_needed", Value: float64(needed)},
		{Name: r.name + ".buffered_mib", Value: float64(r.Highest) / (1 << 20), Bound: bound / (1 << 20)},
		{Name: r.name + ".goroutines_left", Value: float64(max(0, r.Left))},
		{Name: r.name + ".reads_lacking", Value: float64(r.Reads.Lacking)},
	}
	return append(all, r.targetsOfSetting()...)
}

// counted returns the count of HBase's own client, if there is one.
func (r *run) counted() string {
	if fields := strings.Fields(r.Java); len(fields) > 1 {
		return ", and HBase's Java client counted " + strings.Join(fields[:2], ", ")
	}
	return ""
}

// targetsOfSetting returns the targets that only this cluster has.
func (r *run) targetsOfSetting() (all []measure.Target) {
	if r.secured() { // each of two clients has a ticket, and gets another one before that expires
		all = append(all, measure.Target{Name: r.name + ".cut", Value: float64(r.Cut), Bound: float64(r.loaded / cutEvery),
			Least: true},
			measure.Target{Name: r.name + ".logins", Value: float64(r.Logins), Bound: 2 + float64(r.loaded/ticketLife),
				Least: true})
	}
	if r.from != "" {
		all = append(all, measure.Target{Name: r.name + ".upgraded", Value: float64(r.Upgraded), Bound: float64(len(upgrades)),
			Least: true})
	}
	return all
}

// finish records the run, writes its table to the page, and judges.
func (r *run) finish(targets []measure.Target) error {
	about := fault.Now()
	what := fmt.Sprintf("%s; `make %s SEED=%d`: %d faults in %.1f minutes, %d mutations a second.",
		r.cluster, r.name, r.Seed, int(targets[0].Value), r.Seconds/60, r.Rate)
	whole := struct {
		fault.About
		*run
		Targets []measure.Target
	}{about, r, targets}
	return fault.Conclude(r.name, about, whole, what, r.table(), targets)
}

// table returns one line per kind of fault, sorted by the kinds' names.
func (r *run) table() string {
	var s strings.Builder
	s.WriteString("| fault | times | cluster's own recovery, longest s | longest stall of one region's rows, s | of all rows, s " +
		"| of reads, s | beyond recovery, s | refused |\n|---|---|---|---|---|---|---|---|\n")
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
			worst.Reading = max(worst.Reading, f.Reading)
			worst.Refused += f.Refused
		}
		fmt.Fprintf(&s, "| %s | %d | %.1f | %.1f | %.1f | %.1f | %.1f | %d |\n",
			name, len(byKind[name]), worst.Cluster, worst.Stall, worst.Together, worst.Reading, worst.Beyond, worst.Refused)
	}
	if r.Stuck != "" {
		fmt.Fprintf(&s, "\nIt ended early: %s.\n", r.Stuck)
	}
	n := r.Findings
	fmt.Fprintf(&s, "\n%d mutations of three cells were acknowledged, %d refused. The table held %d rows and %d cells%s.\n",
		n.Acknowledged, n.Refused, n.Rows, n.Cells, r.counted())
	fmt.Fprintf(&s, "%d reads of rows that were being written were answered, %d refused; the answers lacked %d acknowledged mutations.\n",
		r.Reads.All, r.Reads.Failed, r.Reads.Lacking)
	if r.secured() {
		fmt.Fprintf(&s, "%d connections were cut, and the KDC gave brine %d tickets of its own.\n", r.Cut, r.Logins)
	}
	return s.String()
}
