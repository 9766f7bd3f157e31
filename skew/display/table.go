package display

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"brine/internal/term"
	"brine/skew"
)

// Table prints a table's regions in key order, then its salt buckets, servers and heaviest keys.
func Table(out io.Writer, table string, r skew.TableState) {
	term.Wrapped(out, "", fmt.Sprintf("%s: %s written to %s, %s of them in the last %.0f s",
		table, term.Count(int(r.RowsTotal), "row"), term.Count(len(r.Regions), "region"), term.Thousands(r.RowsRecent), r.WindowsSeconds))
	printLoads(out, []string{"START", "SERVER"}, r.Regions, func(l skew.Load) []string {
		return []string{term.Clip(l.Region.Start.Start(), 40), l.Region.Server}
	})
	term.Wrapped(out, "  in all      ", indices(r.Total))
	term.Wrapped(out, "  last hour   ", indices(r.Hour))
	term.Wrapped(out, "  last 5 min  ", indices(r.FiveMinutes))
	term.Wrapped(out, fmt.Sprintf("  last %.0f s   ", r.WindowsSeconds), indices(r.Recent))
	if r.RowsRecent > 0 {
		term.Wrapped(out, "  ", fmt.Sprintf("beyond what chance explains for %s: max/mean %.3f, CV %.3f, Gini %.3f",
			term.Count(int(r.RowsRecent), "row"), r.BeyondChance.MaxMean, r.BeyondChance.CV, r.BeyondChance.Gini))
	}
	printHottest(out, r.Report)
	printServers(out, r.Report)
	if len(r.Buckets) > 0 {
		term.Wrapped(out, "  by salt     ", indices(r.BucketsTotal))
		printLoads(out, []string{"BUCKET"}, r.Buckets, func(l skew.Load) []string { return []string{fmt.Sprint(l.Bucket)} })
	}
	printHeavy(out, "heaviest keys of the last minute: ", r.Heavy)
	for _, field := range slices.Sorted(maps.Keys(r.HeavyFields)) {
		printHeavy(out, "heaviest "+field+" of the last minute: ", r.HeavyFields[field])
	}
	printWriters(out, r.Writers)
	for _, w := range r.Warnings {
		term.Wrapped(out, "  ", "warning: "+w)
	}
}

func indices(x skew.Indices) string {
	return fmt.Sprintf("max/mean %.3f, CV %.3f, Gini %.3f, entropy %.4f, HBase cost %.4f, p99/mean %.3f, top 1 %% %.2f %%",
		x.MaxMean, x.CV, x.Gini, x.Entropy, x.HBaseCost, x.P99Mean, 100*x.TopShare)
}

// printHottest prints the region with the most rows of the last minute, or of all time if the last minute has none.
func printHottest(out io.Writer, r skew.Report) {
	when, all, rows := "in the last minute", r.RowsRecent, func(l skew.Load) int64 { return l.Recent.Rows }
	if r.RowsRecent == 0 {
		when, all, rows = "in all", r.RowsTotal, func(l skew.Load) int64 { return l.Total.Rows }
	}
	if all == 0 {
		return
	}
	hottest := slices.MaxFunc(r.Regions, func(a, b skew.Load) int { return cmp.Compare(rows(a), rows(b)) })
	share := float64(rows(hottest)) / float64(all)
	term.Wrapped(out, "  ", fmt.Sprintf("hottest %s: the region from %s, %.2f %% of the rows, %.2f times the mean",
		when, term.Clip(hottest.Region.Start.Start(), 40), 100*share, share*float64(len(r.Regions))))
}

// printServers prints the spread over servers, and what the cluster reports for all of its clients.
func printServers(out io.Writer, r skew.Report) {
	term.Wrapped(out, "  ", fmt.Sprintf("over %s: regions max/mean %.3f, writes max/mean %.3f", term.Count(len(r.Servers), "server"),
		r.ServerRegions.MaxMean, r.ServerWrites.MaxMean))
	if c := r.Cluster; c != nil {
		term.Wrapped(out, "  ", fmt.Sprintf("as the cluster reported %.0f s ago: data max/mean %.3f, reads %.3f, writes %.3f", c.Age,
			c.Data.MaxMean, c.Reads.MaxMean, c.Writes.MaxMean))
	} else {
		fmt.Fprintln(out, "  the cluster's own loads are unknown")
	}
}

const shownHeavy = 5

func printHeavy(out io.Writer, title string, all []skew.Heavy) {
	if len(all) == 0 {
		return
	}
	var texts []string
	for _, h := range all[:min(shownHeavy, len(all))] {
		text := fmt.Sprintf("%s %.1f %%", heavyName(h), 100*h.Share)
		if h.Error > 0 {
			text += fmt.Sprintf(" (at least %.1f %%)", 100*h.Share*float64(h.Rows-h.Error)/float64(h.Rows))
		}
		texts = append(texts, text)
	}
	term.Wrapped(out, "  ", title+strings.Join(texts, ", "))
}

func printWriters(out io.Writer, all []skew.HeavyWriter) {
	if len(all) == 0 {
		return
	}
	var texts []string
	for _, w := range all[:min(shownHeavy, len(all))] {
		texts = append(texts, fmt.Sprintf("%s %.1f %%", writerName(&w.Writer), 100*w.Share))
	}
	term.Wrapped(out, "  ", "top writers of the last minute: "+strings.Join(texts, ", "))
}

func writerName(w *skew.Writer) string {
	name := fmt.Sprintf("%s from %s[%d]", w.Pipeline, w.Topic, w.Partition)
	if w.Producer >= 0 {
		name += fmt.Sprintf(" producer %d", w.Producer)
	}
	if w.Name != "" {
		name += " " + term.Clip(w.Name, 40)
	}
	return name
}

func heavyName(h skew.Heavy) string { return term.Clip(cmp.Or(h.Text, h.Key.String()), 60) }

// printLoads prints one line per region or bucket, named by the columns in titles.
func printLoads(out io.Writer, titles []string, loads []skew.Load, name func(skew.Load) []string) {
	total, largest := int64(0), int64(0)
	for _, l := range loads {
		total, largest = total+l.Total.Rows, max(largest, l.Total.Rows)
	}
	w := term.Table{Out: out}
	row := func(names []string, rest ...string) {
		names[0] = "  " + names[0]
		w.Row(append(names, rest...)...)
	}
	row(titles, "      ROWS", "   SHARE", "LAST MINUTE")
	for _, l := range loads {
		share := float64(l.Total.Rows) / float64(max(1, total))
		row(name(l), fmt.Sprintf("%10s", term.Thousands(l.Total.Rows)), fmt.Sprintf("%6.2f %%", 100*share),
			fmt.Sprintf("%11s", term.Thousands(l.Recent.Rows)), term.Bar(float64(l.Total.Rows), float64(largest)))
	}
	w.Flush()
}
