package term

import "time"

// Progress is how far a piece of work is, in whatever it counts.
type Progress struct {
	Done, Left int64
	Elapsed    time.Duration // since Done was 0
}

// Percent is how much of the whole is done: all, where there was nothing to do.
func (p Progress) Percent() float64 {
	if p.Done+p.Left <= 0 {
		return 100
	}
	return 100 * float64(p.Done) / float64(p.Done+p.Left)
}

// PerSecond is the mean rate.
func (p Progress) PerSecond() float64 { return float64(p.Done) / max(p.Elapsed.Seconds(), 1e-3) }

// ETA is the number of seconds that are left at the mean rate; −1 while there is none.
func (p Progress) ETA() float64 {
	switch {
	case p.Left == 0:
		return 0
	case p.Done == 0:
		return -1
	}
	return p.Elapsed.Seconds() / float64(p.Done) * float64(p.Left)
}

// Remaining writes what ETA returns.
func Remaining(eta float64) string {
	if eta < 0 {
		return "?"
	}
	return Seconds(eta).String()
}

// Rate writes a rate: "12,345/s".
func Rate(perSecond float64) string { return Thousands(int64(perSecond)) + "/s" }
