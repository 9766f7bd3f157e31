package measure

import (
	"math"
	"slices"
	"time"
)

// Milliseconds are the durations of repetitions of the same thing.
type Milliseconds []float64

// Add adds a duration.
func (m *Milliseconds) Add(d time.Duration) { *m = append(*m, float64(d.Microseconds())/1000) }

// At returns the quantile of a share of the durations; 1 is the longest.
func (m Milliseconds) At(share float64) float64 {
	if len(m) == 0 {
		return math.Inf(1)
	}
	sorted := slices.Sorted(slices.Values(m))
	return sorted[max(0, int(math.Ceil(share*float64(len(m))))-1)]
}

// parts is the number of parts of a run that are compared with each other for its spread.
const parts = 5

// Estimate returns At with its spread, which comes from the same quantile of each fifth of the durations, in the order in which they were
// added.
func (m Milliseconds) Estimate(share float64) Estimate {
	e := Estimate{Value: m.At(share)}
	if len(m) < 2*parts {
		e.Spread = e.Value
		return e
	}
	var of []float64
	for i := range parts {
		of = append(of, m[i*len(m)/parts:(i+1)*len(m)/parts].At(share))
	}
	e.Spread = Repeated(of).Spread
	return e
}
