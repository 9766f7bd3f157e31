package pipeline

import "time"

// A call is far slower than others if it takes farSlower times as long as they do, and at least slowest. Its lanes then travel
// alone, where their own time shows: a lane that takes less than backAgain times as long returns to the others. The gap
// between the two keeps a lane from going back and forth.
const (
	farSlower = 8
	backAgain = 4
	slowest   = 50 * time.Millisecond
)

// pace is how long a server's calls take: about their median, which a few slow ones do not move. When all become slower
// it follows, and none of them is slower than the others.
type pace struct{ typical time.Duration }

// observe takes in a call's time: each moves the estimate by an eighth at most.
func (p *pace) observe(d time.Duration) {
	if p.typical == 0 {
		p.typical = d
		return
	}
	step := p.typical/8 + 1
	p.typical += min(max(d-p.typical, -step), step)
}

// overdue is when an unanswered call is far slower than the others.
func (p *pace) overdue() time.Duration { return max(slowest, farSlower*p.typical) }

// slow reports whether a lane is far slower than the others after a call of it took d.
func (p *pace) slow(d time.Duration, was bool) bool {
	if was {
		return d >= max(slowest/2, backAgain*p.typical)
	}
	return d >= p.overdue()
}
