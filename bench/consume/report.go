package consume

import (
	"fmt"
	"strings"

	"brine/bench/measure"
)

// perCore returns the number of events that a load reads per second of CPU time.
func perCore(l measure.Load) float64 { return float64(l.Rows) / l.ClientCPU }

// judge requires 400,000 events per second of one core from brine, or nine tenths of kafka-go's rate if kafka-go itself is slower than
// that.
func (b *bench) judge() {
	for _, codec := range []string{"plain", "lz4"} {
		bound := 400_000.0
		for _, way := range clients[1:] { // kafka-go's
			bound = min(bound, 0.9*measure.Median(b.counted(way, codec), perCore))
		}
		b.report.Targets = append(b.report.Targets, measure.AtLeast("consume."+codec+".events_per_core_s",
			measure.RepeatedLoads(b.counted("brine", codec), perCore), bound))
	}
}

func (b *bench) counted(client, codec string) []measure.Load {
	return measure.Counted(b.report.Loads, client+" "+codec, 0)
}

// text returns the section of docs/benchmarks.md.
func (b *bench) text() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s Medians of %d rounds of %d events each in %d partitions.\n\n", b.report.Heading(), b.rounds(), b.events, partitions)
	s.WriteString("| | batches | events/s | CPU µs/event | events/s of one core | peak MiB |\n|---|---|---|---|---|---|\n")
	for _, codec := range []string{"plain", "lz4"} {
		for _, row := range []struct{ client, what string }{
			{"brine", "brine's loop: read, decode, settle, commit"},
			{"kafka-go-reader", "kafka-go's Reader: read"},
			{"kafka-go-fetch", "kafka-go's Client.Fetch: read"},
		} {
			loads := b.counted(row.client, codec)
			fmt.Fprintf(&s, "| %s | %s | %.0f | %.2f | %.0f | %.0f |\n", row.what, codec, measure.Median(loads, measure.Load.RowsPerSecond),
				measure.Median(loads, measure.Load.ClientMicros), measure.Median(loads, perCore), measure.Median(loads, measure.Load.Peak))
		}
	}
	s.WriteString("\n" + measure.TargetTable(b.report.Targets))
	return s.String()
}

func (b *bench) rounds() int { return len(b.counted("brine", "plain")) }
