package query

import (
	"fmt"
	"time"

	"brine/bench/measure"
)

// finish compares the measurements with the targets, and records them.
func (b *bench) finish() error {
	d := &b.detail
	refresh := float64(d.RefreshTime.Milliseconds())
	b.report.Detail = d
	b.report.Targets = []measure.Target{
		measure.AtMost("timeline_p99_ms", d.Timeline.Estimate(0.99), 10),
		measure.AtMost("timeline_rows_read_per_row", measure.Exactly(float64(d.Read)/float64(max(1, d.Rows))), 1),
		measure.AtMost("orders_by_word_p99_ms", d.Keyword.Estimate(0.99), 50),
		measure.AtMost("searchable_p99_ms", d.Searchable.Estimate(0.99), refresh+500),
	}
	for _, k := range []struct {
		what string
		rate int
		ms   measure.Milliseconds
	}{
		{"the events of a waybill, by the key", timelineRate, d.Timeline},
		{"a user's orders by a word, by the index", ordersRate, d.Keyword},
		{fmt.Sprintf("an event until a search finds it, while %.0f changes/s come in", d.LiveRate/2), freshRate, d.Searchable},
	} {
		d.Kinds = append(d.Kinds, kind{k.what, k.rate, len(k.ms), k.ms.At(0.5), k.ms.At(0.99), k.ms.At(1)})
	}
	return b.report.Finish(b.text())
}

// kind is one kind of query.
type kind struct {
	What    string  `json:"what"`
	Rate    int     `json:"per_second"`
	Asked   int     `json:"asked"`
	P50     float64 `json:"p50_ms"`
	P99     float64 `json:"p99_ms"`
	Longest float64 `json:"longest_ms"`
}

func (b *bench) text() string {
	d := &b.detail
	s := b.report.Heading() + fmt.Sprintf(" %d scan events in HBase, %d changes of orders in HBase and Elasticsearch (refreshed each %v), "+
		"the views of %s. Each question is asked for %v, and timed from when it was due.\n\n",
		d.Events, d.Orders, d.RefreshTime.Round(time.Millisecond), configuration, b.asking) +
		"| question | a second | p50 ms | p99 ms | longest ms |\n|---|---|---|---|---|\n"
	for _, k := range d.Kinds {
		s += fmt.Sprintf("| %s | %d | %.1f | %.1f | %.1f |\n", k.What, k.Rate, k.P50, k.P99, k.Longest)
	}
	return s + fmt.Sprintf("\nThe timelines had %d rows, for which the servers read %d; %d orders were found. The index took "+
		"%.0f changes/s while it was filled, and %.0f/s from `brine run`, with rows and documents, while more came in.\n\n",
		d.Rows, d.Read, d.Found, d.FullRate, d.LiveRate) + measure.TargetTable(b.report.Targets)
}
