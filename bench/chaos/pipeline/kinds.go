package pipeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"syscall"
	"time"

	"brine/bench/chaos/fault"
	"brine/hbase"
)

const (
	zombie = 9 * time.Second // how long a brine hangs: longer than its session, so that others have its partitions when it continues
	mute   = 8 * time.Second // how long the broker hangs
	stay   = 8 * time.Second // how long one more brine stays
	down   = 2 * time.Second // how long the broker is away
)

// The tracks of faults, which run side by side.
const (
	brines  = iota // brine's processes
	servers        // processes of Kafka and HBase
	regions
	tracks
)

// kinds returns the kinds of each track.
func (r *run) kinds() [tracks]fault.Kinds {
	return [tracks]fault.Kinds{brines: {
		"kill brine":       {Times: 6, Do: r.killOne},
		"kill all brines":  {Times: 1, Do: r.killAll},
		"stop brine":       {Times: 3, Do: r.stopOne},
		"freeze brine":     {Times: 4, Do: r.freezeOne},
		"join and leave":   {Times: 3, Do: r.joinAndLeave},
		"restart in turns": {Times: 1, Do: r.restartInTurns},
	}, servers: {
		"kill broker":    {Times: 2, Do: killBroker},
		"freeze broker":  {Times: 2, Do: freezeBroker},
		"kill server":    {Times: 2, Do: (*fault.Scene).KillServer},
		"freeze server":  {Times: 1, Do: (*fault.Scene).FreezeServer},
		"kill master":    {Times: 2, Do: (*fault.Scene).KillMaster},
		"freeze master":  {Times: 1, Do: (*fault.Scene).FreezeMaster},
		"kill zookeeper": {Times: 1, Do: (*fault.Scene).KillZooKeeper},
		"kill all":       {Times: 1, Do: (*fault.Scene).KillAll},
	}, regions: {
		"split":           {Times: 4, Do: (*fault.Scene).Split},
		"merge":           {Times: 3, Do: (*fault.Scene).Merge},
		"move":            {Times: 5, Do: (*fault.Scene).Move},
		"disable+enable":  {Times: 2, Do: (*fault.Scene).Disable},
		"flush+compact":   {Times: 2, Do: (*fault.Scene).Compact},
		"balancer off+on": {Times: 2, Do: (*fault.Scene).Balance},
	}}
}

// only keeps the named kinds, each in its track.
func (r *run) only(list string) error {
	all := fault.Kinds{}
	for _, t := range r.tracks {
		maps.Copy(all, t.kinds)
	}
	names, err := all.Parse(list)
	if err != nil {
		return err
	}
	for i := range r.tracks {
		t := &r.tracks[i]
		t.plan = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return t.kinds[name].Do == nil })
	}
	return nil
}

func (r *run) killOne(s *fault.Scene) error {
	m := r.members.any(s.Random)
	s.Hits("%s", m.name)
	return m.signal(syscall.SIGKILL)
}

func (r *run) killAll(s *fault.Scene) (err error) {
	s.Hits("%d of them", r.Members)
	for _, m := range r.members.list() {
		err = cmp.Or(err, m.signal(syscall.SIGKILL))
	}
	return err
}

func (r *run) stopOne(s *fault.Scene) error {
	m := r.members.any(s.Random)
	took, err := m.stop(s.Ctx)
	s.Hits("%s, drained in %.1f s", m.name, took.Seconds())
	return err
}

func (r *run) freezeOne(s *fault.Scene) error {
	m := r.members.any(s.Random)
	s.Hits("%s for %v", m.name, zombie)
	if err := m.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	err := fault.Pause(s.Ctx, zombie)
	return cmp.Or(m.signal(syscall.SIGCONT), err)
}

// joinAndLeave makes the group rebalance twice.
func (r *run) joinAndLeave(s *fault.Scene) error {
	r.joined++
	m := r.members.start("brine-more-" + strconv.Itoa(r.joined))
	if err := fault.Pause(s.Ctx, stay); err != nil {
		return err
	}
	took, err := r.members.leave(s.Ctx, m)
	s.Hits("one more for %v, drained in %.1f s", stay, took.Seconds())
	return err
}

func (r *run) restartInTurns(s *fault.Scene) error {
	for _, m := range r.members.list() {
		took, err := m.stop(s.Ctx)
		if err != nil {
			return err
		}
		s.Hits("%d of them, the last drained in %.1f s", r.Members, took.Seconds())
		if err := fault.Pause(s.Ctx, down); err != nil {
			return err
		}
	}
	return nil
}

func killBroker(s *fault.Scene) error {
	s.Hits("for %v", down)
	return s.Procs.KillFor(s.Ctx, fault.Broker, down)
}

func freezeBroker(s *fault.Scene) error {
	s.Hits("for %v", mute)
	return s.Procs.FreezeFor(s.Ctx, fault.Broker, mute)
}

// middle returns a key in the middle of a region: the keys of both tables begin with four hex digits.
func middle(r hbase.Region) []byte {
	from, to := digits(r.Start, 0), digits(r.End, 1<<16)
	if to-from < 2 {
		return nil
	}
	return fmt.Appendf(nil, "%04x", (from+to)/2)
}

func digits(key []byte, open int) int {
	if len(key) == 0 {
		return open
	}
	n, err := strconv.ParseUint((string(key) + "0000")[:4], 16, 16)
	if err != nil {
		return open
	}
	return int(n)
}
