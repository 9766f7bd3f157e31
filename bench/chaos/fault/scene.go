package fault

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"brine/hbase"
)

const (
	down   = 2 * time.Second  // how long a table is disabled, or a process of the cluster's head stays away
	frozen = 30 * time.Second // how long a server hangs
	alone  = time.Minute      // how long one that is held for dead may take to end, and the others to open its regions
)

// Scene is where one fault plays. Its methods that are faults return when the cluster has been asked to heal; whether it has is for
// the watch to see.
type Scene struct {
	Ctx    context.Context
	Random *rand.Rand
	Procs  Processes
	Admin  *hbase.Client
	Watch  *Watch
	Fault  *Fault
	Middle func(hbase.Region) []byte          // a row at which a region can be split; nil: there is none
	Client func(connect string) hbase.Options // of clients that a fault opens itself
}

// Play plays a fault, and notes why it could not be.
func (s *Scene) Play(k Kind) {
	if err := k.Do(s); err != nil {
		s.Fault.Failed = err.Error()
	}
}

// Hits notes what the fault hits.
func (s *Scene) Hits(format string, args ...any) { s.Fault.Hits = fmt.Sprintf(format, args...) }

// pick is any of the regions that are good for something.
func (s *Scene) pick(good func(i int, all []hbase.Region) bool) (int, []hbase.Region, error) {
	all := s.Watch.Regions()
	var choice []int
	for i := range all {
		if good(i, all) {
			choice = append(choice, i)
		}
	}
	if len(choice) == 0 {
		return 0, nil, errors.New("no region is good for this")
	}
	return choice[s.Random.IntN(len(choice))], all, nil
}

// table is any of them.
func (s *Scene) table() string { return s.Watch.tables[s.Random.IntN(len(s.Watch.tables))] }

// anyOf tries it again, with other regions, when the master will not: those that were split or merged a moment ago have to be
// compacted first, and the watch may not know them yet.
func (s *Scene) anyOf(once func() error) (err error) {
	for range 6 {
		if err = once(); err == nil || Pause(s.Ctx, time.Second) != nil {
			return err
		}
	}
	return err
}

// Settled waits until the cluster is whole after a moment. Processes of HBase that have ended by themselves are started again, except
// those that are named.
func (s *Scene) Settled(after time.Time, but ...string) error {
	all := append([]string{ZooKeeper, Master}, RegionServers...)
	all = slices.DeleteFunc(all, func(name string) bool { return slices.Contains(but, name) })
	return Until(s.Ctx, func() bool {
		s.Procs.Revive(s.Ctx, all...)
		return s.Whole(after)
	})
}

// Whole reports whether hbase:meta showed every region open after a moment.
func (s *Scene) Whole(after time.Time) bool {
	_, ok := s.Watch.Recovered(after)
	return ok
}
