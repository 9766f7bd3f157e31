package index

import (
	"fmt"
	"slices"
	"strings"

	"brine/bench/chaos/fault"
	"brine/bench/measure"
	"brine/verify"
)

// targets returns the targets of a run.
func (r *run) targets() []measure.Target {
	odd := 0
	if r.Ended != "" {
		odd = 1
	}
	all := []measure.Target{
		{Name: "chaos_index.faults", Value: float64(len(r.Kills) + len(r.Freezes)), Bound: float64(r.Faults), Least: true},
		measure.AtLeast("chaos_index.rows_while_away_of_there", r.Away.rate().Over(r.There.rate()), 0.95),
		measure.AtLeast("chaos_index.rows_of_a_backlog_frozen_of_there", measure.Repeated(r.Frozen).Over(measure.Repeated(r.Beside)), 0.95),
		measure.AtLeast("chaos_index.rows_of_a_backlog_there_of_alone", measure.Repeated(r.Beside).Over(measure.Repeated(r.Alone)), 0.90),
		{Name: "chaos_index.documents", Value: float64(r.Verify.Count(true)), Bound: 1, Least: true},
	}
	all = append(all, measure.Target{Name: "chaos_index.catch_up_s", Value: r.CatchUp, Bound: longest.Seconds()})
	for _, kind := range verify.Kinds {
		all = append(all, measure.Target{Name: "chaos_index.verify_" + string(kind), Value: float64(r.Verify.Found(kind))})
	}
	return append(all, measure.Target{Name: "chaos_index.ends_nobody_asked_for", Value: float64(odd)})
}

// finish records the run, writes its table to the page, and judges.
func (r *run) finish(record bool) error {
	targets := r.targets()
	if !record {
		fmt.Print(r.table())
		return measure.Judge(targets)
	}
	about := fault.Now()
	whole := struct {
		fault.About
		*run
		Targets []measure.Target
	}{about, r, targets}
	what := "Kafka 4.3.1, HBase 2.6.4, Elasticsearch 8.19.21; `make chaos-index`."
	return fault.Conclude("chaos-index", about, whole, what, r.table(), targets)
}

// table returns the numbers while the index was up, and while it was away.
func (r *run) table() string {
	var s strings.Builder
	s.WriteString("| the index is | s | events published/s | rows/s | documents/s |\n|---|---|---|---|---|\n")
	for _, of := range []struct {
		name string
		span *Span
	}{{"up", &r.There}, {"killed, starting again, or frozen", &r.Away}} {
		t := max(of.span.Seconds, 1e-9)
		fmt.Fprintf(&s, "| %s | %.0f | %.0f | %.0f | %.0f |\n", of.name, of.span.Seconds, of.span.Published/t,
			of.span.Rows/t, of.span.Documents/t)
	}
	fmt.Fprintf(&s, "\nIt was killed %d times, for at most %.0f s until it had started again, and frozen %d times, for at most %.0f s. "+
		"Documents were at most %d records behind, and all %d events were settled %.0f s after the last one was published, %.0f s after the "+
		"last fault. ",
		len(r.Kills), longestOf(r.Kills), len(r.Freezes), longestOf(r.Freezes), r.MostBehind, r.Events, r.CatchUp, r.CatchUp+r.there.Seconds())
	fmt.Fprintf(&s, "brine took at most %.0f MiB. `brine verify --full` compared %d rows and %d documents with the topics.\n\n", r.PeakMiB,
		r.Verify.Count(false), r.Verify.Count(true))
	s.WriteString("| all events once more, as fast as possible | rows/s, by round | median |\n|---|---|---|\n")
	for _, of := range []struct {
		name  string
		rates []float64
	}{{"rows and documents, the index is up", r.Beside}, {"rows and documents, the index is frozen", r.Frozen},
		{"rows alone, with half of the memory", r.Alone}} {
		fmt.Fprintf(&s, "| %s | %s | %.0f |\n", of.name, strings.Trim(fmt.Sprintf("%.0f", of.rates), "[]"), measure.Middle(of.rates))
	}
	return s.String()
}

func longestOf(seconds []float64) float64 { return slices.Max(append([]float64{0}, seconds...)) }
