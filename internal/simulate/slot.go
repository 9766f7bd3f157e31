package simulate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"brine/ingest"
)

// slot is a place where a process runs, one life after another: a machine, a systemd unit.
type slot struct {
	world *World
	name  string

	mu   sync.Mutex // never held during a wait
	life *Process   // nil: down
	past []*Process
	file settings // present configuration file
}

// reads returns the present configuration file.
func (s *slot) reads() settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file
}

// reload changes the settings and makes the life, if there is one, look at them.
func (s *slot) reload(change func(*settings)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.file)
	if s.life != nil {
		select {
		case s.life.look <- struct{}{}:
		default: // it is about to
		}
	}
}

// start begins a life if there is none.
func (s *slot) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life != nil {
		return
	}
	s.life = s.world.start(fmt.Sprintf("%s.%d", s.name, len(s.past)), group, "", s.reads)
	s.past = append(s.past, s.life)
}

// take returns the life, if there is one, and leaves the slot down.
func (s *slot) take() *Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.life
	s.life = nil
	return p
}

// running returns the life, or nil if there is none.
func (s *slot) running() *Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.life
}

// stop stops the life and waits for its end.
func (s *slot) stop() {
	if p := s.take(); p != nil {
		p.Stop()
	}
}

func (s *slot) kill() {
	if p := s.take(); p != nil {
		p.Kill()
		s.world.kafka.members.Bury(context.Background(), group, p.client())
	}
}

// heal repairs the network of the life, or begins a life.
func (s *slot) heal() {
	if p := s.running(); p != nil {
		p.place.Heal()
	}
	s.start()
}

// submitted returns, by partition, the offset after the last record that any life of any slot submitted.
func (w *World) submitted() []int64 {
	offsets := make([]int64, w.plan.Partitions)
	for _, s := range slices.Concat(w.slots, w.guests) {
		for _, p := range s.past {
			p.mu.Lock()
			for id, offset := range p.submitted {
				offsets[id] = max(offsets[id], offset)
			}
			p.mu.Unlock()
		}
	}
	return offsets
}

// states describes what the lives are doing, for a finding.
func (w *World) states() string {
	var b strings.Builder
	if info := w.kafka.GroupInfo(group); info != nil {
		fmt.Fprintf(&b, "the group is %s, generation %d: ", info.State, info.Epoch)
		for _, m := range info.Members {
			fmt.Fprintf(&b, "%s has %v; ", m.MemberID, m.Assignment[topic])
		}
	}
	for _, s := range w.slots {
		p := s.running()
		if p == nil {
			fmt.Fprintf(&b, "%s is down; ", s.name)
			continue
		}
		p.mu.Lock()
		status := ingest.Status{Detail: "it has not begun: " + fmt.Sprint(p.failed)}
		if p.now != nil {
			status = p.now.loop.Status()
		}
		p.mu.Unlock()
		fmt.Fprintf(&b, "%s: %+v; ", p.Name, status)
	}
	return b.String()
}
