package skew

import (
	"math/rand/v2"
	"time"
)

// Looking at the key of a row costs many times what counting the row costs. So at high rates only one key in several is looked at, drawn at
// random, and it stands for the others: in a minute, more than enough keys are looked at.
const (
	everyKey  = 500 // rows per second up to which every key is looked at
	maxStride = 256
)

// stride decides which keys are looked at. The zero value looks at the first.
type stride struct {
	second      int64 // since the counter was made
	now, before int64 // rows of this second and of the one before
	left        int64 // rows until the next one to look at
}

// of returns the number of rows for which a row that is looked at stands, once rows more rows are counted.
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

// takes reports whether to look at the next row.
func (s *stride) takes(of int64, rnd *rand.Rand) bool {
	if s.left > 0 {
		s.left--
		return false
	}
	if of > 1 {
		s.left = rnd.Int64N(2*of - 1) // of−1 on average
	}
	return true
}
