package pipeline

import (
	"context"
	"fmt"
	"os"
	"strings"

	"brine/bench/measure"
)

// java and site are flags of HBase's JVM, and lines of its hbase-site.xml, for servers that are started.
const (
	java = "DEVCLUSTER_HBASE_JAVA"
	site = "DEVCLUSTER_HBASE_SITE"
)

// brief makes G1 stop HBase often and briefly. By default, its young generation grows until a pause is predicted to last 200 ms. What
// survives are the cells in memory, which stay: copying them once more, in case they do not, lengthens the pause for nothing.
const brief = "-Xmn32m -XX:MaxTenuringThreshold=0"

// settings measures the delay on an HBase as it comes, and on one with brief pauses, which is judged. With custom settings in the
// environment, it measures only with those, and records nothing.
func (b *bench) settings(ctx context.Context, heap string) error {
	tries, own := []string{"", brief}, os.Getenv(java) != "" || os.Getenv(site) != ""
	if own {
		tries = []string{os.Getenv(java)}
	}
	for _, flags := range tries {
		if err := os.Setenv(java, flags); err != nil {
			return err
		}
		d := delay{Java: flags}
		if err := b.on(ctx, heap, func(ctx context.Context) error { return d.take(ctx, b) }); err != nil {
			return err
		}
		b.delays = append(b.delays, d)
		fmt.Fprintf(os.Stderr, "%s: %s\n", d.server(), d.cells())
	}
	judged := b.delays[len(b.delays)-1].Steady
	b.report.Detail = b.delays
	b.report.Targets = []measure.Target{
		measure.AtMost("delay_p50_ms", judged.Estimate(0.5), 10),
		measure.AtMost("delay_p99_ms", judged.Estimate(0.99), 60),
	}
	if own {
		return measure.Judge(b.report.Targets)
	}
	return b.report.Finish(b.delayText())
}

func (d *delay) server() string {
	if d.Java == "" {
		return "as it comes"
	}
	return "`" + d.Java + "`"
}

func (d *delay) cells() string {
	s := fmt.Sprintf("%.0f | %.0f", d.Live, d.Rate)
	for _, ms := range []measure.Milliseconds{d.Steady, d.Flushing} {
		s += fmt.Sprintf(" | %.1f | %.1f | %.1f | %.1f", ms.At(0.5), ms.At(0.9), ms.At(0.99), ms.At(1))
	}
	return s
}

// delayText returns the section of the page.
func (b *bench) delayText() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s From producing an event to reading its row, autoflush, of %d events each, while half of the events/s come in that "+
		"brine settled live.\n\n",
		b.report.Heading(), probes)
	s.WriteString("| HBase | settled live, events/s | published, events/s | p50 ms | p90 ms | p99 ms | longest ms | flushing: p50 ms | p90 " +
		"ms | p99 ms | longest ms |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, d := range b.delays {
		fmt.Fprintf(&s, "| %s | %s |\n", d.server(), d.cells())
	}
	return s.String() + "\n" + measure.TargetTable(b.report.Targets)
}
