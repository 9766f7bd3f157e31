package display

import (
	"fmt"
	"io"
	"strings"

	"brine/internal/term"
	"brine/plan"
)

// sheet prints the capacity that a table needs.
func sheet(out io.Writer, f *plan.Forecast, s *plan.Sheet) {
	w := term.Table{Out: out}
	line := func(name, format string, args ...any) { w.Row("  "+name, fmt.Sprintf(format, args...)) }
	fmt.Fprintln(out, "  capacity:")
	measured := "given"
	if s.RowMeasured {
		measured = "measured"
	}
	r := f.Row
	line("row", "%.0f bytes (%s); measured: %.0f bytes in %.1f cells of %.0f key, %.0f family, %.0f qualifier, %.0f value and %.0f other",
		s.RowBytes, measured, r.Bytes, r.Cells, r.Key, r.Family, r.Qualifier, r.Value, r.Overhead)
	for _, p := range f.Packing {
		as := ""
		if p.As != "" {
			as = ", measured as " + p.As
		}
		line("compression", "family %s, %s: %.2f : 1 on %s%s", p.Family, p.Codec, p.Ratio, term.Size(float64(p.Before)), as)
	}
	line("kept", "%s rows, %s raw, %s compressed %.2f : 1", term.Thousands(int64(s.RowsKept)), term.Size(s.RawBytes),
		term.Size(s.StoredBytes), s.Ratio)
	line("disk", "%s: three replicas, disks 70 %% full", term.Size(s.DiskBytes))
	line("regions", "%d of %s (%d of 50 GiB to %d of 10 GiB)", s.Regions, term.Size(s.RegionBytes), s.RegionsLarge, s.RegionsSmall)
	var by []string
	for _, b := range s.ServersBy {
		by = append(by, fmt.Sprintf("%s %d", b.Limit, b.Servers))
	}
	line("servers", "%d (%s), if one has %s of heap and %s of disk and writes %s rows/s", s.Servers, strings.Join(by, ", "),
		term.Size(float64(s.Server.Heap)), term.Size(float64(s.Server.Disk)), term.Thousands(int64(s.Server.Rows)))
	line("begin with", "%d regions or salt buckets; %d partitions of the topic", s.Buckets, s.Partitions)
	m := s.Memstore
	line("memstores", "%.1f flushes/s in all, each of %s heap, every %s a region, by %s; room for %d full ones a server",
		m.FlushesPerSecond, term.Size(m.FlushBytes), term.Seconds(m.FillSeconds), m.By, m.RegionLimit)
	line("logs", "%s/s a server, %s/s to its replicas, a new log every %s; %d logs are full after %s",
		term.Size(s.WAL.Rate), term.Size(s.WAL.NetBytes), term.Seconds(s.WAL.RollsIn), s.WAL.MaxLogs, term.Seconds(s.WAL.FullIn))
	w.Flush()
	for _, a := range s.Advice {
		term.Wrapped(out, "  ", "warning: "+a.Msg)
		term.Wrapped(out, "    ", "fix: "+a.Fix)
	}
	for _, x := range s.WrongFor {
		term.Wrapped(out, "  ", "HBase is the wrong store ("+x.Reason+"): "+x.Msg)
		term.Wrapped(out, "    ", "instead: "+x.Instead)
	}
}
