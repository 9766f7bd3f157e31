package term

import "time"

// Progress is the progress of a piece of work, in any unit.
type Progress struct {
	Done, Left int64
	Elapsed    time.Duration // since Done was 0
}

// Percent returns the percentage that is done, or 100 if there was nothing to do.
func (p Progress) Percent() float64 {
	if p.Done+p.Left <= 0 {
		return 100
	}
	return 100 * float64(p.Done) / float64(p.Done+p.Left)
}

// PerSecond returns the mean rate.
func (p Progress) PerSecond() float64 { return float64(p.Done) / max(p.Elapsed.Seconds(), 1e-3) }

// ETA returns the number of seconds left at the mean rate, or −1 if there is no rate yet.
func (p Progress) ETA() float64 {
	switch {
	case p.Left == 0:
		return 0
	case p.Done == 0:
		return -1
	}
	return p.Elapsed.Seconds() / float64(p.Done) * float64(p.Left)
}

// Remaining formats the result of ETA.
func Remaining(eta float64) string {
	if eta < 0 {
		return "?"
	}
	return Seconds(eta).String()
}

// Rate formats a rate: "12,345/s".
func Rate(perSecond float64) string { return Thousands(int64(perSecond)) + "/s" }
