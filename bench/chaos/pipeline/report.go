package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"brine/bench/chaos/fault"
	"brine/bench/measure"
	"brine/verify"
)

// targets returns the targets of a run, given the number of faults and kinds.
func (r *run) targets(faults, kinds int) []measure.Target {
	byKind := r.played()
	played := 0
	for _, of := range byKind {
		played += len(of)
	}
	events, letters, wrongRows, different := 0, 0, 0, 0
	for i, in := range r.Inputs {
		events += in.Events
		letters += abs(r.Letters[in.topic] - in.Poison)
		wrongRows += abs(rows(r.Tables[i].Disturbed) - in.Rows)
		if r.Tables[i].Disturbed != r.Tables[i].Calm {
			different++
		}
	}
	all := []measure.Target{
		{Name: "chaos.faults", Value: float64(played), Bound: float64(faults), Least: true},
		{Name: "chaos.kinds", Value: float64(len(byKind)), Bound: float64(kinds), Least: true},
		{Name: "chaos.minutes", Value: r.Minutes, Bound: 20},
		{Name: "chaos.events", Value: float64(events), Bound: 1_000_000, Least: true},
	}
	for _, kind := range verify.Kinds {
		all = append(all, measure.Target{Name: "chaos.verify_" + string(kind), Value: float64(r.Verify.Found(kind))})
	}
	return append(all,
		measure.Target{Name: "chaos.verify_s", Value: r.Verify.Seconds, Bound: 60},
		measure.Target{Name: "chaos.verify_peak_mib", Value: r.Verify.PeakMiB, Bound: 256},
		measure.Target{Name: "chaos.tables_unlike_undisturbed", Value: float64(different)},
		measure.Target{Name: "chaos.rows_too_many_or_few", Value: float64(wrongRows)},
		measure.Target{Name: "chaos.dead_letters_too_many_or_few", Value: float64(letters)},
		measure.Target{Name: "chaos.commits", Value: float64(r.Commits.Count), Bound: 1, Least: true},
		measure.Target{Name: "chaos.commits_backwards", Value: float64(r.Commits.Back)},
		measure.Target{Name: "chaos.commits_past_the_end", Value: float64(r.Commits.Ahead)},
		measure.Target{Name: "chaos.ends_nobody_asked_for", Value: float64(len(r.Odd))},
		measure.Target{Name: "chaos.catch_up_s", Value: r.CatchUp, Bound: 60},
		measure.Target{Name: "chaos.peak_mib", Value: r.PeakMiB, Bound: 192},
	)
}

// played returns the faults that count, by kind.
func (r *run) played() map[string][]*fault.Fault {
	byKind := make(map[string][]*fault.Fault)
	for _, f := range r.Faults {
		if f.Failed == "" {
			byKind[f.Kind] = append(byKind[f.Kind], f)
		}
	}
	return byKind
}

func abs(n int) int { return max(n, -n) }

// finish records the run, writes its table to the page, and judges.
func (r *run) finish(targets []measure.Target) error {
	about := fault.Now()
	what := fmt.Sprintf("Kafka 4.3.1, HBase 2.6.4; seed %d, %d processes of brine, events published over %v.", r.Seed, r.Members, r.publishing)
	whole := struct {
		fault.About
		*run
		Targets []measure.Target
	}{about, r, targets}
	return fault.Conclude("chaos", about, whole, what, r.table(), targets)
}

// table returns one line per kind of fault, those of brine and Kafka first.
func (r *run) table() string {
	var s strings.Builder
	s.WriteString("| fault | times | longest time until what it broke worked again, s |\n|---|---|---|\n")
	byKind := r.played()
	for _, t := range r.tracks {
		for _, name := range t.kinds.Names() {
			if of := byKind[name]; len(of) > 0 {
				worst := slices.MaxFunc(of, func(a, b *fault.Fault) int { return int(a.Took*1000) - int(b.Took*1000) })
				fmt.Fprintf(&s, "| %s | %d | %.1f |\n", name, len(of), worst.Took)
			}
		}
	}
	fmt.Fprintf(&s, "\nbrine's %d processes were started %d times in all, %d of them while a server was away; nothing was committed "+
		"for at most %.1f s, and the last stop took %.1f s. ",
		r.Members, r.Starts, r.Away, r.Stands, r.Drained)
	fmt.Fprintf(&s, "`brine verify --full` took %.1f s and %.0f MiB.\n\n| table | events | rows wanted | after the faults, by HBase's Java "+
		"client | after an undisturbed run |\n|---|---|---|---|---|\n", r.Verify.Seconds, r.Verify.PeakMiB)
	for i, t := range r.Tables {
		fmt.Fprintf(&s, "| %s | %d | %d | %s | %s |\n", t.Name, r.Inputs[i].Events, r.Inputs[i].Rows, short(t.Disturbed), short(t.Calm))
	}
	return s.String()
}

// short returns the first digits of a digest.
func short(digest string) string {
	head, sum, _ := strings.Cut(digest, "sha256=")
	return head + "sha256=" + sum[:min(16, len(sum))] + "…"
}
