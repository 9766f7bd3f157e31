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
	down   = 2 * time.Second  // how long a table is disabled, or a process at the head of the cluster is away
	frozen = 30 * time.Second // how long a server hangs
	alone  = time.Minute      // how long a server that counts as dead may take to end, and the others to open its regions
)

// Scene is the setting of one fault. Its fault methods return once the cluster has been asked to heal; the watch sees whether it has.
type Scene struct {
	Ctx    context.Context
	Random *rand.Rand
	Procs  Processes
	Admin  *hbase.Client
	Watch  *Watch
	Fault  *Fault
	Middle func(hbase.Region) []byte          // a row at which a region can be split; nil: there is none
	Client func(connect string) hbase.Options // options of clients that a fault opens itself
}

// Play plays a fault, and records an error if it could not.
func (s *Scene) Play(k Kind) {
	if err := k.Do(s); err != nil {
		s.Fault.Failed = err.Error()
	}
}

// Hits records what the fault hits.
func (s *Scene) Hits(format string, args ...any) { s.Fault.Hits = fmt.Sprintf(format, args...) }

// pick returns a random region among those that are good.
func (s *Scene) pick(good func(i int, all []hbase.Region) bool) (int, []hbase.Region, error) {
	all := s.Watch.Regions()
	var choice []int
	for i := range all {
		if good(i, all) {
			choice = append(choice, i)
		}
	}
	if len(choice) == 0 {
		return 0, nil, errors.New("no region is suitable for this fault")
	}
	return choice[s.Random.IntN(len(choice))], all, nil
}

// table returns a random table.
func (s *Scene) table() string { return s.Watch.tables[s.Random.IntN(len(s.Watch.tables))] }

// anyOf retries with other regions if the master refuses: regions that were just split or merged must be compacted first, and the watch may
// not know them yet.
func (s *Scene) anyOf(once func() error) (err error) {
	for range 6 {
		if err = once(); err == nil || Pause(s.Ctx, time.Second) != nil {
			return err
		}
	}
	return err
}

// Settled waits until the cluster was seen to be whole after a time. It restarts processes of HBase that have ended by themselves, except
// for the named ones.
func (s *Scene) Settled(after time.Time, but ...string) error {
	all := append([]string{ZooKeeper, Master}, RegionServers...)
	all = slices.DeleteFunc(all, func(name string) bool { return slices.Contains(but, name) })
	return Until(s.Ctx, func() bool {
		s.Procs.Revive(s.Ctx, all...)
		return s.Whole(after)
	})
}

// Whole reports whether hbase:meta showed every region open after a time.
func (s *Scene) Whole(after time.Time) bool {
	_, ok := s.Watch.Recovered(after)
	return ok
}
