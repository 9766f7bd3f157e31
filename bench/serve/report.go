package serve

import (
	"fmt"
	"time"

	"brine/bench/measure"
)

// detail is what was measured on one stack.
type detail struct {
	Kind       string        `json:"stack"`
	Filled     time.Duration `json:"filled"`
	Found      int           `json:"orders_found"`
	BareMiB    []float64     `json:"bare_mib"` // of the process, repeatedly, before there were streams
	StreamsMiB []float64     `json:"with_streams_mib"`
	Questions  []kind        `json:"questions"`

	JavaRates []float64 `json:"java_timelines_per_second,omitempty"` // of each turn
	HTTPRates []float64 `json:"http_timelines_per_second,omitempty"`

	Query, Timeline, Alone, BesideSlow, Latest, Orders, View, SQL, Audited measure.Milliseconds `json:"-"`

	admin string
}

// kind is one kind of query.
type kind struct {
	What    string  `json:"what"`
	Asked   int     `json:"asked"`
	P50     float64 `json:"p50_ms"`
	P99     float64 `json:"p99_ms"`
	Longest float64 `json:"longest_ms"`
}

// finish compares the measurements with the targets, and records them.
func (b *bench) finish() error {
	var details []*detail
	rates := ""
	text := b.report.Heading() + fmt.Sprintf(" The API and its pipelines in a process of their own; each question is asked "+
		"for %v by another process, and timed from when it was due. %d scan events and %d changes of orders, by %s.\n\n"+
		"| stack | question | p50 ms | p99 ms | longest ms |\n|---|---|---|---|---|\n", b.For, b.Events, b.Orders, configuration)
	for _, s := range b.stacks {
		d := &s.detail
		d.Kind = s.kind
		details = append(details, d)
		for _, k := range []struct {
			what string
			ms   measure.Milliseconds
		}{
			{fmt.Sprintf("the events of a waybill, %d/s while %d events/s come in, by package query", timelineRate, eventRate), d.Query},
			{"the same by HTTP", d.Timeline},
			{fmt.Sprintf("the same by HTTP, %d/s, while nothing comes in", timelineRate), d.Alone},
			{fmt.Sprintf("the same beside %d clients that do not read their answers", slowReaders), d.BesideSlow},
			{fmt.Sprintf("the latest events of 100 waybills in one call, %d/s", latestRate), d.Latest},
			{fmt.Sprintf("a user's orders by a word and states, %d/s", ordersRate), d.Orders},
			{"the events of a waybill, one after the other", d.View},
			{"the same by SQL", d.SQL},
			{"the same by SQL with accounts, each statement committed to the audit", d.Audited},
		} {
			d.Questions = append(d.Questions, kind{k.what, len(k.ms), k.ms.At(0.5), k.ms.At(0.99), k.ms.At(1)})
			text += fmt.Sprintf("| %s | %s | %.1f | %.1f | %.1f |\n", s.kind, k.what, k.ms.At(0.5), k.ms.At(0.99), k.ms.At(1))
		}
		rates += d.rates()
		b.report.Targets = append(b.report.Targets, d.targets(s.Streams)...)
	}
	b.report.Detail = details
	return b.report.Finish(text + "\n" + rates + "\n" + measure.TargetTable(b.report.Targets))
}

// rates says what is read at saturation, and what the audit costs.
func (d *detail) rates() string {
	text := fmt.Sprintf("On the %s stack the audit adds %.1f ms to a statement of SQL (medians).", d.Kind, d.Audited.At(0.5)-d.SQL.At(0.5))
	if len(d.JavaRates) > 0 {
		text += fmt.Sprintf(" %d clients that never pause read %.0f timelines/s by HTTP, without decoding them, and %.0f/s by HBase's Java "+
			"client without the API.", askers, measure.Middle(d.HTTPRates), measure.Middle(d.JavaRates))
	}
	return text + "\n"
}

func (d *detail) targets(streams int) []measure.Target {
	targets := []measure.Target{
		measure.AtMost(d.Kind+"_timeline_p99_ms", d.Timeline.Estimate(0.99), 12),
		measure.AtMost(d.Kind+"_timeline_median_over_query_ms", d.Timeline.Estimate(0.5).Minus(d.Query.Estimate(0.5)), 2),
		measure.AtMost(d.Kind+"_latest_of_100_p99_ms", d.Latest.Estimate(0.99), 20),
		measure.AtMost(d.Kind+"_orders_by_word_p99_ms", d.Orders.Estimate(0.99), 40),
		measure.AtMost(d.Kind+"_sql_over_view", d.SQL.Estimate(0.5).Over(d.View.Estimate(0.5)), 1.2),
		measure.AtMost(fmt.Sprintf("%s_%d_streams_mib", d.Kind, streams), measure.Repeated(d.StreamsMiB).Minus(measure.Repeated(d.BareMiB)), 150),
		measure.AtMost(d.Kind+"_timeline_beside_slow_readers_p99_ms", d.BesideSlow.Estimate(0.99), 12),
	}
	if len(d.JavaRates) > 0 {
		targets = append(targets, measure.AtLeast(d.Kind+"_timelines_at_saturation_over_java",
			measure.Repeated(d.HTTPRates).Over(measure.Repeated(d.JavaRates)), 0.9))
	}
	return targets
}
