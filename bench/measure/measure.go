// Package measure is what the benchmarks share: their own real servers, loaders in separate processes, spreads, targets and reports. Only
// packages that measure import it: bench, acceptance, and the records of the simulation.
//
// The invariant: everything that is compared ran in one run, in alternating order, against the same server process, which was warmed
// before. The time and CPU of every loader count over the same span: from the first row until the last one is acknowledged. This excludes
// the start of a JVM, but includes its compilation.
package measure

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// Load is one measured load.
type Load struct {
	Client    string  `json:"client"`
	Round     int     `json:"round"` // 0: only warms the server
	Columns   int     `json:"columns"`
	Rows      int     `json:"rows"`
	Seconds   float64 `json:"seconds"`
	ClientCPU float64 `json:"client_cpu_s"`      // of the loader, in Seconds
	WholeCPU  float64 `json:"process_cpu_s"`     // of the loader from its start to its end, by getrusage
	ServerCPU float64 `json:"server_cpu_s"`      // of HBase, in Seconds
	PeakMiB   float64 `json:"peak_mib"`          // VmHWM of the loader
	OwnMiB    float64 `json:"own_mib,omitempty"` // the largest RssAnon of the loader that was seen
	P99       float64 `json:"p99_ms,omitempty"`
}

// RowsPerSecond returns the rate of the load.
func (l Load) RowsPerSecond() float64 { return float64(l.Rows) / l.Seconds }

// ClientMicros returns the loader's CPU time per row in µs.
func (l Load) ClientMicros() float64 { return l.ClientCPU / float64(l.Rows) * 1e6 }

// ServerMicros returns HBase's CPU time per row in µs.
func (l Load) ServerMicros() float64 { return l.ServerCPU / float64(l.Rows) * 1e6 }

// Peak returns the loader's largest resident memory in MiB.
func (l Load) Peak() float64 { return l.PeakMiB }

// Own returns the loader's largest memory that was seen, without the pages of files, in MiB.
func (l Load) Own() float64 { return l.OwnMiB }

// Late returns the 99th percentile of the time of its calls, in ms.
func (l Load) Late() float64 { return l.P99 }

// Idle returns the percentage of the machine's cores that neither the loader nor HBase used. The kernel's own threads, which write back
// files and carry packets, use a part of it.
func (l Load) Idle() float64 {
	return 100 * (1 - (l.ClientCPU+l.ServerCPU)/(l.Seconds*float64(runtime.NumCPU())))
}

// Counted returns a client's loads of one shape in round order, without those that warmed the server.
func Counted(loads []Load, client string, columns int) []Load {
	var out []Load
	for _, l := range loads {
		if l.Client == client && l.Columns == columns && l.Round > 0 {
			out = append(out, l)
		}
	}
	return out
}

// Median returns the median of a number over loads.
func Median(loads []Load, of func(Load) float64) float64 {
	var v []float64
	for _, l := range loads {
		v = append(v, of(l))
	}
	return Middle(v)
}

// Cells returns the medians of loads as cells of a table: rows per second, the CPU time of the loader and HBase per row in µs, and the
// loader's peak in MiB.
func Cells(loads []Load) string {
	return fmt.Sprintf("%.0f | %.2f | %.2f | %.0f", Median(loads, Load.RowsPerSecond), Median(loads, Load.ClientMicros),
		Median(loads, Load.ServerMicros), Median(loads, Load.Peak))
}

// Ratio returns the median over the rounds of ours against theirs, because both halves of a round met the same machine.
func Ratio(ours, theirs []Load, of func(Load) float64) float64 {
	var v []float64
	for i := range min(len(ours), len(theirs)) {
		v = append(v, of(ours[i])/of(theirs[i]))
	}
	return Middle(v)
}

// Middle returns the median of numbers, which it does not reorder; 0 if there are none.
func Middle(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}

// Pause waits until a process is quiet, for at most half a minute, so that its work after one load does not count for the next.
func Pause(pid int) error {
	for range 30 {
		before, err := CPU(pid)
		if err != nil {
			return err
		}
		time.Sleep(time.Second)
		after, err := CPU(pid)
		if err != nil {
			return err
		}
		if after-before < 0.1 {
			break
		}
	}
	return nil
}
