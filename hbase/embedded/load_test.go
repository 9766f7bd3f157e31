package embedded_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"brine/hbase/embedded"
)

// Writers continue while regions split, merge and move, and nodes die. The last acknowledged value of each row, or a later one, is there,
// and the log of applied mutations has each row's values in the order in which its writer sent them, whichever node and region applied
// them.
func TestWritesDuringTransitions(t *testing.T) {
	var mu sync.Mutex
	applied := map[string][]int{}
	places := map[string]bool{}
	s := start(t, embedded.Options{Servers: 3, DetectAfter: time.Millisecond, InTransition: 2 * time.Millisecond, Applied: func(a embedded.Applied) {
		mu.Lock()
		defer mu.Unlock()
		value, err := strconv.Atoi(string(a.Values[0]))
		if err != nil {
			t.Error(err)
		}
		applied[string(a.Row)] = append(applied[string(a.Row)], value)
		places[fmt.Sprint(a.Node, a.Region)] = true
	}})
	createOn(t, s, "t", "5")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	acknowledged := make([]int, 10)
	for i := range acknowledged {
		wg.Go(func() { acknowledged[i] = writeRow(t, s, fmt.Sprint(i), stop) })
	}
	random := rand.New(rand.NewPCG(1, 2))
	busy := func() bool { // whether every row has been written, and in many places
		mu.Lock()
		defer mu.Unlock()
		return len(applied) == len(acknowledged) && len(places) >= 10
	}
	for i := 0; i < 60 || !busy(); i++ {
		disturb(s, random)
	}
	close(stop)
	wg.Wait()
	for i, n := range acknowledged {
		row := fmt.Sprint(i)
		last := 0
		for _, v := range applied[row] {
			if v != last && v != last+1 {
				t.Errorf("row %s: %d was applied after %d", row, v, last)
			}
			last = v
		}
		if n == 0 || last != n {
			t.Errorf("row %s: %d acknowledged, %d applied last", row, n, last)
		}
		r := holder(s, row)
		cells := scanCells(t, at(t, s, r), r.Name)
		for _, c := range cells {
			if string(c.Row) == row && string(c.Value) != fmt.Sprint(n) {
				t.Errorf("row %s is %s, last acknowledged %d", row, c.Value, n)
			}
		}
	}
}

func holder(s *embedded.Server, row string) (found embedded.Region) {
	for _, r := range s.Regions("t") {
		if string(r.Start) <= row && (len(r.End) == 0 || row < string(r.End)) {
			found = r
		}
	}
	return found
}

// writeRow puts 1, 2, 3 … into a row, each until it is acknowledged, and returns the last one.
func writeRow(t *testing.T, s *embedded.Server, row string, stop <-chan struct{}) (value int) {
	conns := map[string]*client{}
	for {
		select {
		case <-stop:
			return value
		default:
		}
		for done := false; !done; {
			r := holder(s, row)
			if r.Node < 0 {
				time.Sleep(time.Millisecond)
				continue
			}
			addr := s.Nodes()[r.Node].Addr()
			if conns[addr] == nil {
				conn, err := net.Dial("tcp", addr)
				if err != nil {
					continue // it is down
				}
				conns[addr] = greet(t, conn, "ClientService")
			}
			err := putRow(conns[addr], r.Name, row, fmt.Sprint(value+1))
			if done = err == nil; !done && exception(err) == nil {
				delete(conns, addr) // the connection was cut
			}
		}
		value++
	}
}

// disturb makes a random change, and ignores errors.
func disturb(s *embedded.Server, random *rand.Rand) {
	rs := s.Regions("t")
	i := random.IntN(len(rs))
	switch n := s.Nodes()[random.IntN(3)]; random.IntN(4) {
	case 0:
		_, _, _ = s.Split(rs[i].Encoded, nil)
	case 1:
		_, _ = s.Merge(rs[i].Encoded, rs[(i+1)%len(rs)].Encoded)
	case 2:
		_ = s.Move(rs[i].Encoded, n)
	case 3:
		n.Kill()
		if random.IntN(2) == 0 { // otherwise it is back before it is missed
			eventually(func() bool { // others have its regions
				return !slices.ContainsFunc(s.Regions("t"), func(r embedded.Region) bool { return r.Node < 0 })
			})
		}
		_ = n.Restart("")
	}
}
