package measure

import (
	"math"
	"slices"
	"time"
)

// Milliseconds are how long the same thing took, again and again.
type Milliseconds []float64

// Add adds one.
func (m *Milliseconds) Add(d time.Duration) { *m = append(*m, float64(d.Microseconds())/1000) }

// At is the time that a share of all kept; 1 is the longest. It sorts them.
func (m Milliseconds) At(share float64) float64 {
	if len(m) == 0 {
		return math.Inf(1)
	}
	slices.Sort(m)
	return m[max(0, int(math.Ceil(share*float64(len(m))))-1)]
}
