package skew

import (
	"math/rand/v2"
	"time"
)

// To look at the key of a row costs many times what it costs to count the row. So at high rates one key in so many is looked at, drawn
// at random, and counts for as many: of the keys that are looked at in a minute there are enough by far.
const (
	everyKey  = 500 // rows a second up to which every key is looked at
	maxStride = 256
)

// stride is which keys are looked at. The zero value looks at the first.
type stride struct {
	second      int64 // since the counter was made
	now, before int64 // rows of this second and of the one before
	left        int64 // rows until the next one that is looked at
}

// of returns for how many rows one that is looked at stands, when so many more come.
func (s *stride) of(at time.Duration, rows int64) int64 {
	if second := int64(at / time.Second); second != s.second {
		s.before = 0
		if second == s.second+1 {
			s.before = s.now
		}
		s.second, s.now = second, 0
	}
	s.now += rows
	return min(maxStride, 1+max(s.before, s.now)/everyKey)
}

// takes reports whether the next row is looked at.
func (s *stride) takes(of int64, rnd *rand.Rand) bool {
	if s.left > 0 {
		s.left--
		return false
	}
	if of > 1 {
		s.left = rnd.Int64N(2*of - 1) // of−1 in the mean
	}
	return true
}
