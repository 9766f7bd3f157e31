package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"brine/plan"
)

// printSheet shows the capacity that a table needs.
func printSheet(out io.Writer, f *plan.Forecast, s *plan.Sheet) {
	w := columns{out: out}
	line := func(name, format string, args ...any) { w.row([]string{"  " + name, fmt.Sprintf(format, args...)}) }
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
		line("compression", "family %s, %s: %.2f : 1 on %s%s", p.Family, p.Codec, p.Ratio, amount(float64(p.Before)), as)
	}
	line("kept", "%s rows, %s raw, %s compressed %.2f : 1", thousands(int64(s.RowsKept)), amount(s.RawBytes), amount(s.StoredBytes), s.Ratio)
	line("disk", "%s: three replicas, disks 70 %% full", amount(s.DiskBytes))
	line("regions", "%d of %s (%d of 50 GB to %d of 10 GB)", s.Regions, amount(s.RegionBytes), s.RegionsLarge, s.RegionsSmall)
	var by []string
	for _, b := range s.ServersBy {
		by = append(by, fmt.Sprintf("%s %d", b.Limit, b.Servers))
	}
	line("servers", "%d (%s), if one has %s of heap and %s of disk and writes %s rows/s", s.Servers, strings.Join(by, ", "),
		amount(float64(s.Server.Heap)), amount(float64(s.Server.Disk)), thousands(int64(s.Server.Rows)))
	line("begin with", "%d regions or salt buckets; %d partitions of the topic", s.Buckets, s.Partitions)
	m := s.Memstore
	line("memstores", "%.1f flushes/s in all, each of %s heap, every %s a region, by %s; room for %d full ones a server",
		m.FlushesPerSecond, amount(m.FlushBytes), lasting(m.FillSeconds), m.By, m.RegionLimit)
	line("logs", "%s/s a server, %s/s to its replicas, a new log every %s; %d logs are full after %s",
		amount(s.WAL.Rate), amount(s.WAL.NetBytes), lasting(s.WAL.RollsIn), s.WAL.MaxLogs, lasting(s.WAL.FullIn))
	w.flush()
	for _, a := range s.Advice {
		wrapped(out, "  ", "warning: "+a.Msg)
		wrapped(out, "    ", "fix: "+a.Fix)
	}
	for _, x := range s.WrongFor {
		wrapped(out, "  ", "HBase is the wrong store ("+x.Reason+"): "+x.Msg)
		wrapped(out, "    ", "instead: "+x.Instead)
	}
}

// amount writes a number of bytes with a unit of 1024s.
func amount(n float64) string {
	for _, u := range []struct {
		name  string
		bytes float64
	}{{"PB", 1 << 50}, {"TB", 1 << 40}, {"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}} {
		if n >= u.bytes {
			return fmt.Sprintf("%.3g %s", min(n/u.bytes, 999e3), u.name)
		}
	}
	return fmt.Sprintf("%.0f bytes", n)
}

func lasting(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < 10*time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
