package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
)

// victim returns the region server with the most regions of the table.
func (s *Scene) victim() (name, addr string, err error) {
	most := -1
	for _, candidate := range RegionServers {
		a, err := s.Procs.RegionServer(candidate)
		if err != nil {
			return "", "", err
		}
		n := 0
		for _, r := range s.Watch.Regions() {
			if r.Server == a {
				n++
			}
		}
		if n > most {
			name, addr, most = candidate, a, n
		}
	}
	s.Hits("%s with %d of %d regions", name, most, len(s.Watch.Regions()))
	return name, addr, nil
}

func (s *Scene) name(addr string) string {
	for _, name := range RegionServers {
		if a, err := s.Procs.RegionServer(name); err == nil && a == addr {
			return name
		}
	}
	return addr
}

// KillServer kills the region server with the most regions. It restarts the server only once its regions are open elsewhere.
func (s *Scene) KillServer() error {
	name, addr, err := s.victim()
	if err != nil {
		return err
	}
	if err := s.Procs.Kill(name); err != nil {
		return err
	}
	s.Watch.Died(addr)
	return s.back(name)
}

// back waits until the regions of a dead server are open elsewhere, but not longer than alone, and restarts the server.
func (s *Scene) back(name string) error {
	waiting := *s
	var cancel context.CancelFunc
	waiting.Ctx, cancel = context.WithTimeout(s.Ctx, alone)
	defer cancel()
	if err := waiting.Settled(s.Fault.Began, name); err != nil {
		s.Fault.Hits += fmt.Sprintf(", back after %v though its regions were not open elsewhere", alone)
	}
	return s.Procs.Up(s.Ctx, name)
}

// FreezeServer freezes the region server with the most regions until the master takes it for dead.
func (s *Scene) FreezeServer() error {
	name, addr, err := s.victim()
	if err != nil {
		return err
	}
	if err := s.Procs.Signal(name, syscall.SIGSTOP); err != nil {
		return err
	}
	s.Watch.Died(addr)
	if err := errors.Join(Pause(s.Ctx, frozen), s.Procs.Signal(name, syscall.SIGCONT)); err != nil {
		return err
	}
	if err := s.ends(name); err != nil {
		return err
	}
	return s.back(name)
}

// ends waits for the end of a server that the master takes for dead: the server ends itself when it learns that. If it hangs in the
// meantime, it is killed.
func (s *Scene) ends(name string) error {
	waiting, cancel := context.WithTimeout(s.Ctx, alone)
	defer cancel()
	if s.Procs.Gone(waiting, name) == nil {
		return nil
	}
	s.Fault.Hits += fmt.Sprintf(", killed after %v in which it did not end", alone)
	return s.Procs.Kill(name)
}

// Upgrade ends a process as an operator does, a region server once its regions are elsewhere, and starts it as the release to which the
// cluster is now set.
func (s *Scene) Upgrade(name string) error {
	s.Hits("%s", name)
	if name == Master {
		return errors.Join(s.stop(name), s.Procs.Up(s.Ctx, name))
	}
	if _, err := s.Admin.SetBalancer(s.Ctx, false); err != nil {
		return err
	}
	drained, err := s.drain(name)
	if err != nil {
		return err
	}
	s.Hits("%s, of %d regions", name, drained)
	if err := errors.Join(s.stop(name), s.Procs.Up(s.Ctx, name)); err != nil {
		return err
	}
	if _, err := s.Admin.SetBalancer(s.Ctx, true); err != nil {
		return err
	}
	return s.balance()
}

// stop ends a process of HBase with SIGTERM, and waits for its end.
func (s *Scene) stop(name string) error {
	return errors.Join(s.Procs.Signal(name, syscall.SIGTERM), s.ends(name))
}

// drain moves the regions of the watched tables from a region server to another one, and returns their number.
func (s *Scene) drain(name string) (moved int, err error) {
	addr, err := s.Procs.RegionServer(name)
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(RegionServers, func(other string) bool { return other != name })
	other, err := s.Procs.RegionServer(RegionServers[i])
	if err != nil {
		return 0, err
	}
	err = Until(s.Ctx, func() bool {
		left := 0
		for _, r := range s.Watch.Regions() {
			if r.Server == addr {
				left++
				if s.Admin.MoveRegion(s.Ctx, r, other) == nil {
					moved++
				}
			}
		}
		return left == 0
	})
	return moved, err
}

// KillMaster kills the master.
func (s *Scene) KillMaster() error {
	s.Hits("for %v", down)
	return s.Procs.KillFor(s.Ctx, Master, down)
}

// FreezeMaster freezes the master for less than its session timeout.
func (s *Scene) FreezeMaster() error {
	s.Hits("for %v", 2*down)
	return s.Procs.FreezeFor(s.Ctx, Master, 2*down)
}

// KillZooKeeper kills ZooKeeper.
func (s *Scene) KillZooKeeper() error {
	s.Hits("for %v", down)
	return s.Procs.KillFor(s.Ctx, ZooKeeper, down)
}

// KillAll kills the master and all region servers at once.
func (s *Scene) KillAll() error {
	all := append([]string{Master}, RegionServers...)
	s.Hits("master and both region servers")
	if err := s.Procs.Kill(all...); err != nil {
		return err
	}
	for _, name := range RegionServers {
		addr, err := s.Procs.RegionServer(name)
		if err != nil {
			return err
		}
		s.Watch.Died(addr)
	}
	return s.Procs.Up(s.Ctx, all...)
}
