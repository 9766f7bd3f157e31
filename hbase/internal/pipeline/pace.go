package pipeline

import "time"

// A call is far slower than others if it takes at least farSlower times as long, and at least slowest. Its lanes then ride alone, which
// shows their own times: a lane that takes less than backAgain times as long returns to the others. The gap between the two factors keeps a
// lane from going back and forth.
const (
	farSlower = 8
	backAgain = 4
	slowest   = 50 * time.Millisecond
)

// pace is how long a server's calls take: an estimate of their median, which a few slow calls do not move. If all calls become slower, the
// estimate follows, and none of them counts as slower than the others.
type pace struct{ typical time.Duration }

// observe adds the time of a call, which moves the estimate by at most an eighth.
func (p *pace) observe(d time.Duration) {
	if p.typical == 0 {
		p.typical = d
		return
	}
	step := p.typical/8 + 1
	p.typical += min(max(d-p.typical, -step), step)
}

// overdue returns the age at which an unanswered call is far slower than the others.
func (p *pace) overdue() time.Duration { return max(slowest, farSlower*p.typical) }

// slow reports whether a lane is far slower than the others after a call that took d.
func (p *pace) slow(d time.Duration, was bool) bool {
	if was {
		return d >= max(slowest/2, backAgain*p.typical)
	}
	return d >= p.overdue()
}
