// Package measure is what the benchmarks share: real servers of their own, loaders as processes of their own, spreads, targets
// and reports. Nothing imports it but those that measure: bench, acceptance, and the records of the simulation.
//
// The invariant: everything that is compared ran in one run, in alternating order, against one server process that was warmed
// before, and time and CPU of every loader count over the same span: from the first row until the last one is acknowledged. The start of a
// JVM is in neither; its compiling is.
package measure

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// Load is one load as it was measured.
type Load struct {
	Client    string  `json:"client"`
	Round     int     `json:"round"` // 0: only to warm the server
	Columns   int     `json:"columns"`
	Rows      int     `json:"rows"`
	Seconds   float64 `json:"seconds"`
	ClientCPU float64 `json:"client_cpu_s"`  // of the loader, in Seconds
	WholeCPU  float64 `json:"process_cpu_s"` // of the loader from its start to its end, by getrusage
	ServerCPU float64 `json:"server_cpu_s"`  // of HBase, in Seconds
	PeakMiB   float64 `json:"peak_mib"`      // VmHWM of the loader
	P99       float64 `json:"p99_ms,omitempty"`
}

// RowsPerSecond is the rate of the load.
func (l Load) RowsPerSecond() float64 { return float64(l.Rows) / l.Seconds }

// ClientMicros is the loader's CPU time per row in µs.
func (l Load) ClientMicros() float64 { return l.ClientCPU / float64(l.Rows) * 1e6 }

// ServerMicros is HBase's CPU time per row in µs.
func (l Load) ServerMicros() float64 { return l.ServerCPU / float64(l.Rows) * 1e6 }

// Peak is the loader's largest resident memory in MiB.
func (l Load) Peak() float64 { return l.PeakMiB }

// Late is the time that 99 of 100 of its calls kept, in ms.
func (l Load) Late() float64 { return l.P99 }

// Idle is how much of the machine's cores neither the loader nor HBase used meanwhile, in percent. The kernel's own threads, which
// write files back and carry packets, have their part of it.
func (l Load) Idle() float64 {
	return 100 * (1 - (l.ClientCPU+l.ServerCPU)/(l.Seconds*float64(runtime.NumCPU())))
}

// Counted picks a client's loads of one shape, without those that warmed the server, in the order of their rounds.
func Counted(loads []Load, client string, columns int) []Load {
	var out []Load
	for _, l := range loads {
		if l.Client == client && l.Columns == columns && l.Round > 0 {
			out = append(out, l)
		}
	}
	return out
}

// Median is the median of a number over loads.
func Median(loads []Load, of func(Load) float64) float64 {
	var v []float64
	for _, l := range loads {
		v = append(v, of(l))
	}
	return Middle(v)
}

// Cells are the medians of loads as cells of a table: rows a second, the loader's and HBase's CPU time per row in µs, and the loader's
// peak in MiB.
func Cells(loads []Load) string {
	return fmt.Sprintf("%.0f | %.2f | %.2f | %.0f", Median(loads, Load.RowsPerSecond), Median(loads, Load.ClientMicros),
		Median(loads, Load.ServerMicros), Median(loads, Load.Peak))
}

// Ratio is the median over the rounds of ours against theirs: both halves of a round met the same machine.
func Ratio(ours, theirs []Load, of func(Load) float64) float64 {
	var v []float64
	for i := range min(len(ours), len(theirs)) {
		v = append(v, of(ours[i])/of(theirs[i]))
	}
	return Middle(v)
}

// Middle is the median of numbers, which stay in their order; 0 of none.
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

// Pause waits, until a process has become quiet, for at most half a minute: what it does of one load must not count for the next.
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
