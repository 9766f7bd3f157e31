package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	"brine/hbase"
)

const (
	down   = 2 * time.Second  // how long a table is disabled, or a process of the cluster's head stays away
	frozen = 30 * time.Second // how long a server stands still
)

// scene is where one fault plays. Its methods that are faults return when the cluster has been told to heal; whether it has is for
// the watch to see.
type scene struct {
	ctx    context.Context
	random *rand.Rand
	procs  processes
	admin  *hbase.Client
	watch  *watch
	fault  *Fault
}

func (s *scene) hits(format string, args ...any) { s.fault.Hits = fmt.Sprintf(format, args...) }

// pick is any of the regions that are good for something.
func (s *scene) pick(good func(i int, all []hbase.Region) bool) (int, []hbase.Region, error) {
	all := s.watch.table()
	var choice []int
	for i := range all {
		if good(i, all) {
			choice = append(choice, i)
		}
	}
	if len(choice) == 0 {
		return 0, nil, errors.New("no region is good for this")
	}
	return choice[s.random.IntN(len(choice))], all, nil
}

// middle is the row in the middle of a region's rows, if it has more than one.
func middle(r hbase.Region) []byte {
	var in [][]byte
	for slot := range slots {
		for row := range rowsPerSlot {
			if k := key(slot, row); bytes.Compare(k, r.Start) > 0 && (len(r.End) == 0 || bytes.Compare(k, r.End) < 0) {
				in = append(in, k)
			}
		}
	}
	if len(in) == 0 {
		return nil
	}
	return in[len(in)/2]
}

// anyOf tries it with other regions when the master will not: those that were split or merged a moment ago have to be compacted first.
func (s *scene) anyOf(once func() error) (err error) {
	for range 6 {
		if err = once(); err == nil || s.ctx.Err() != nil {
			return err
		}
	}
	return err
}

func (s *scene) split() error { return s.anyOf(s.splitOne) }
func (s *scene) merge() error { return s.anyOf(s.mergeTwo) }

func (s *scene) splitOne() error {
	i, all, err := s.pick(func(i int, all []hbase.Region) bool { return middle(all[i]) != nil })
	if err != nil {
		return err
	}
	at := middle(all[i])
	s.hits("[%s, %s) at %s", all[i].Start, all[i].End, at)
	return s.admin.SplitRegion(s.ctx, all[i], at)
}

func (s *scene) mergeTwo() error {
	i, all, err := s.pick(func(i int, all []hbase.Region) bool { return i > 0 })
	if err != nil {
		return err
	}
	s.hits("[%s, %s) and [%s, %s)", all[i-1].Start, all[i-1].End, all[i].Start, all[i].End)
	return s.admin.MergeRegions(s.ctx, all[i-1], all[i])
}

func (s *scene) move() error {
	i, all, err := s.pick(func(int, []hbase.Region) bool { return true })
	if err != nil {
		return err
	}
	s.hits("[%s, %s) from %s", all[i].Start, all[i].End, s.name(all[i].Server))
	for range 5 { // a master that has not seen the other server yet, just back, leaves the region where it is
		if err := s.admin.MoveRegion(s.ctx, all[i], ""); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(s.ctx, 3*time.Second)
		err := until(ctx, func() bool { return len(s.moved(all[i:i+1])) > 0 })
		cancel()
		if err == nil {
			return nil
		}
	}
	return errors.New("the master did not move it")
}

// moved are those of some regions that are on another server by now.
func (s *scene) moved(before []hbase.Region) (out []hbase.Region) {
	for _, r := range s.watch.table() {
		if i := slices.IndexFunc(before, func(o hbase.Region) bool { return o.Encoded == r.Encoded }); i >= 0 && before[i].Server != r.Server {
			out = append(out, r)
		}
	}
	return out
}

func (s *scene) disable() error {
	if err := s.admin.DisableTable(s.ctx, table); err != nil {
		return err
	}
	s.hits("for %v", down)
	if err := pause(s.ctx, down); err != nil {
		return err
	}
	return s.admin.EnableTable(s.ctx, table)
}

func (s *scene) compact() error {
	s.hits("the table")
	if err := s.admin.FlushTable(s.ctx, table); err != nil {
		return err
	}
	return s.admin.CompactTable(s.ctx, table, true)
}

// balance lets the master spread the regions again, which faults before have driven onto one server.
func (s *scene) balance() error {
	before := s.watch.table()
	for _, on := range []bool{false, true} {
		if _, err := s.admin.SetBalancer(s.ctx, on); err != nil {
			return err
		}
	}
	if _, err := s.admin.Balance(s.ctx); err != nil {
		return err
	}
	if err := pause(s.ctx, down); err != nil { // it moves them one after another
		return err
	}
	s.hits("%d regions moved", len(s.moved(before)))
	return nil
}

// victim is the region server with the most regions of the table.
func (s *scene) victim() (name, addr string, err error) {
	most := -1
	for _, candidate := range regionServers {
		a, err := s.procs.address(candidate)
		if err != nil {
			return "", "", err
		}
		n := 0
		for _, r := range s.watch.table() {
			if r.Server == a {
				n++
			}
		}
		if n > most {
			name, addr, most = candidate, a, n
		}
	}
	s.hits("%s with %d of %d regions", name, most, len(s.watch.table()))
	return name, addr, nil
}

func (s *scene) name(addr string) string {
	for _, name := range regionServers {
		if a, err := s.procs.address(name); err == nil && a == addr {
			return name
		}
	}
	return addr
}

// killServer starts the server again only when its regions are open elsewhere.
func (s *scene) killServer() error {
	name, addr, err := s.victim()
	if err != nil {
		return err
	}
	if err := s.procs.kill(name); err != nil {
		return err
	}
	s.watch.died(addr)
	return s.back(name)
}

// back waits for the regions of a dead server to be open elsewhere, and starts it again.
func (s *scene) back(name string) error {
	err := until(s.ctx, func() bool {
		for _, other := range regionServers {
			if other != name {
				s.procs.revive(s.ctx, other)
			}
		}
		_, ok := s.watch.recovered(s.fault.began)
		return ok
	})
	if err != nil {
		return err
	}
	return s.procs.Up(s.ctx, name)
}

func (s *scene) freezeServer() error {
	name, addr, err := s.victim()
	if err != nil {
		return err
	}
	if err := s.procs.signal(name, syscall.SIGSTOP); err != nil {
		return err
	}
	s.watch.died(addr)
	if err := pause(s.ctx, frozen); err != nil {
		return err
	}
	if err := s.procs.signal(name, syscall.SIGCONT); err != nil {
		return err
	}
	if err := s.procs.gone(s.ctx, name); err != nil { // told that it is dead, it ends itself
		return err
	}
	return s.back(name)
}

func (s *scene) killMaster() error {
	s.hits("for %v", down)
	if err := s.procs.kill(master); err != nil {
		return err
	}
	if err := pause(s.ctx, down); err != nil {
		return err
	}
	return s.procs.Up(s.ctx, master)
}

func (s *scene) killZooKeeper() error {
	s.hits("for %v", down)
	if err := s.procs.kill(zookeeper); err != nil {
		return err
	}
	if err := pause(s.ctx, down); err != nil {
		return err
	}
	return s.procs.Up(s.ctx, zookeeper)
}

func (s *scene) killAll() error {
	all := append([]string{master}, regionServers...)
	s.hits("master and both region servers")
	if err := s.procs.kill(all...); err != nil {
		return err
	}
	for _, name := range regionServers {
		addr, err := s.procs.address(name)
		if err != nil {
			return err
		}
		s.watch.died(addr)
	}
	return s.procs.Up(s.ctx, all...)
}
