package pipeline

// isolation is a lane's search for the mutation that makes its calls fail, when the answer does not say which it is: the
// server refuses all mutations of a call with one bare exception, or ends the connection instead of an answer. Half of the
// suspects is sent, then half of those that are left, until one mutation is alone in its call: what fails then is its own
// fault. All others are written on the way, n of them with about log2 n failing calls.
//
// While nothing at all is taken, the mutations behind the guilty one go one by one: a table that refuses everything shows
// after each mutation, not after each search.
type isolation struct {
	suspects int  // this many at the queue's front, one of which is at fault; 0: no search
	spared   bool // something was applied since the search began
	cuts     int  // calls in a row that had the connection's end as their answer
}

// cutsBefore is how many calls of a lane alone must end with the connection before the lane's mutations are suspected:
// one may always be the server's own end.
const cutsBefore = 2

// suspect narrows the search down to n mutations, or begins one.
func (s *isolation) suspect(n int) {
	if s.suspects == 0 {
		s.spared = false
	}
	s.suspects, s.cuts = n, 0
}

// resolved notes that n mutations at the front have their results.
func (s *isolation) resolved(applied, refused int) {
	if applied > 0 {
		s.spared, s.cuts = true, 0
	}
	if s.suspects == 0 {
		return
	}
	s.suspects = max(0, s.suspects-applied-refused)
	if s.suspects == 0 && refused > 0 && !s.spared {
		s.suspects = 1
	}
}
