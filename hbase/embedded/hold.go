package embedded

import (
	"slices"
	"sync"
)

// Transition is a change of where regions are, as a function given to Server.Hold sees it.
type Transition struct {
	Kind    string // move, split, merge, assign, unassign, enable, disable, recover
	Table   string // empty for recover
	Regions []string
}

// Hold registers a function that is asked in every transition, while its regions are closed: they stay so until the channel
// that it gives is closed, and clients meet NotServingRegionException where they were, RegionMovedException where they go
// away from, and RegionOpeningException where they come to. nil lets the transition go on. The function that Hold gives
// removes the registration.
func (s *Server) Hold(f func(Transition) (until <-chan struct{})) (remove func()) {
	return s.cluster.holds.add(f)
}

type holders struct {
	mu sync.Mutex
	fs []*func(Transition) <-chan struct{}
}

func (hs *holders) add(f func(Transition) <-chan struct{}) (remove func()) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	hs.fs = append(hs.fs, &f)
	return func() {
		hs.mu.Lock()
		defer hs.mu.Unlock()
		hs.fs = slices.DeleteFunc(hs.fs, func(o *func(Transition) <-chan struct{}) bool { return o == &f })
	}
}

func (hs *holders) all() []*func(Transition) <-chan struct{} {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	return slices.Clone(hs.fs)
}
