package hbase

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
	"brine/hbase/internal/remote"
)

// must fails the test if a fault could not be injected.
func (l *load) must(err error) {
	if err != nil {
		l.t.Error(err)
	}
}

// until lets the load run until a fault has had its effect, however long that takes, or until the load has failed.
func (l *load) until(holds func() bool) {
	for !holds() {
		select {
		case <-l.running.Done():
			return
		case <-time.After(ms):
		}
	}
}

// pause lets the load run for a moment: as long as the machine needs for some calls.
func (l *load) pause() {
	before := l.last.Load()
	l.until(func() bool { return l.last.Load() != before })
}

// retried lets the load run until the given number of further retries.
func (l *load) retried(times int64) {
	before := l.retries.Load()
	l.until(func() bool { return l.retries.Load() >= before+times })
}

// stand waits until the load has run and stops.
func (l *load) stand() {
	l.until(func() bool { last := l.last.Load(); return last != 0 && time.Since(time.Unix(0, last)) > 100*ms })
}

func (l *load) region(row string) embedded.Region {
	for _, r := range l.s.Regions("t") {
		if string(r.Start) <= row && (len(r.End) == 0 || row < string(r.End)) {
			return r
		}
	}
	l.t.Errorf("no region has row %s", row)
	return embedded.Region{}
}

func (l *load) node(i int) *embedded.Node { return l.s.Nodes()[i] }

// elsewhere returns a node that does not have the region.
func (l *load) elsewhere(r embedded.Region) *embedded.Node {
	return l.node((r.Node + 1) % len(l.s.Nodes()))
}

// Faults in a cluster under load. None of them leaves a call's outcome unknown, so everything is applied exactly once, in order.
var answeredFaults = map[string]func(l *load){
	"split": func(l *load) {
		for _, at := range []string{"2", "6", "9", "a", "e"} {
			_, _, err := l.s.Split(l.region(at).Encoded, []byte(at))
			l.must(err)
			l.pause()
		}
	},
	"merge": func(l *load) {
		for range 3 {
			rs := l.s.Regions("t")
			_, err := l.s.Merge(rs[0].Encoded, rs[1].Encoded)
			l.must(err)
			l.pause()
		}
	},
	"split and merge": func(l *load) {
		for range 5 {
			low, high, err := l.s.Split(l.region("5").Encoded, []byte("5"))
			l.must(err)
			l.pause()
			_, err = l.s.Merge(low, high)
			l.must(err)
		}
	},
	"move": func(l *load) {
		for i := range 20 {
			r := l.region(l.rows[i%len(l.rows)])
			l.must(l.s.Move(r.Encoded, l.elsewhere(r)))
			l.pause()
		}
	},
	"move, with a clock that is wrong": func(l *load) {
		for i, ahead := range []time.Duration{-24 * time.Hour, 24 * time.Hour, 0} {
			l.node(i).SetClock(ahead)
			r := l.region("7")
			l.must(l.s.Move(r.Encoded, l.node((r.Node+1)%3)))
			l.pause()
		}
	},
	"move while hbase:meta cannot be read": func(l *load) {
		fix := l.s.CutMeta()
		r := l.region("7")
		l.must(l.s.Move(r.Encoded, l.elsewhere(r)))
		l.retried(1)
		fix()
		l.pause()
	},
	"balance": func(l *load) {
		for _, r := range l.s.Regions("t") {
			l.must(l.s.Move(r.Encoded, l.node(0)))
		}
		l.s.Balance()
		l.pause()
	},
	"one region too busy": func(l *load) {
		busy := &embedded.Exception{Class: remote.Package + "RegionTooBusyException"}
		failing := l.region("5").Encoded
		name := string(l.region("5").Name)
		remove := l.s.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
			r.Keep()
			return &embedded.Outcome{Regions: map[string]*embedded.Exception{failing: busy, name: busy}}
		})
		l.retried(5)
		remove()
		l.pause()
	},
	"rows refused at random": func(l *load) {
		rnd := rand.New(rand.NewPCG(1, 2))
		busy := &embedded.Exception{Class: remote.Package + "RegionTooBusyException"}
		remove := l.s.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
			r.Keep()
			rows := map[string]*embedded.Exception{}
			for _, row := range l.rows {
				if rnd.IntN(4) == 0 {
					rows[row] = busy
				}
			}
			return &embedded.Outcome{Rows: rows}
		})
		l.retried(10)
		remove()
	},
	"frozen": func(l *load) {
		l.node(1).Freeze()
		l.stand()
		l.node(1).Thaw()
		l.pause()
	},
	"slow": func(l *load) {
		l.node(1).Slow(1)
		l.stand()
		l.node(1).Thaw()
		l.pause()
	},
	"master killed, and back": func(l *load) {
		l.s.Master().Kill()
		l.pause()
		l.pause()
		l.must(l.s.Master().Restart(l.s.Master().Addr()))
		r := l.region("7")
		l.must(l.s.Move(r.Encoded, l.elsewhere(r)))
		l.pause()
	},
	"stopped, and back under another address": func(l *load) {
		l.node(1).Stop()
		l.pause()
		l.must(l.node(1).Restart("127.0.0.1:0"))
		l.s.Balance()
		l.pause()
	},
}

func TestAnsweredFaultsUnderLoad(t *testing.T) {
	for name, faults := range answeredFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLoad(t, 3, func(o *Options) { o.RPCTimeout, o.DialTimeout = 20*time.Second, time.Second })
			l.during(func() { faults(l) })
			l.check(name != "stopped, and back under another address") // its last answers may be lost with it
		})
	}
}

// A plan of random faults, the same for the same seed: regions split, merge and move, and rows and regions are refused, all at the same
// time.
func TestRandomFaultsKeepTheOrder(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 0))
			l := newLoad(t, 3, nil)
			remove := l.refuse(rand.New(rand.NewPCG(seed, 1)), odds{calls: 3, of: 3, region: 1, row: 1})
			l.during(func() {
				defer remove()
				for range 12 {
					l.someFault(rnd)
					l.pause()
				}
			})
			l.check(true)
		})
	}
}

// odds are how often something is refused at random.
type odds struct {
	calls       int // one call in this many
	of          int // and then, of this many region actions,
	region, row int // this many as a whole, and a row in this many
}

// refuse makes the servers refuse regions and rows at random, with any of the exceptions that the client retries.
func (l *load) refuse(rnd *rand.Rand, o odds) (remove func()) {
	classes := []string{
		"NotServingRegionException", "RegionTooBusyException", "exceptions.RegionOpeningException", "CallQueueTooBigException",
		"MultiActionResultTooLarge", "regionserver.WrongRegionException", "regionserver.RegionServerStoppedException", "some.UnknownException",
	}
	return l.s.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
		if rnd.IntN(o.calls) > 0 {
			return nil
		}
		r.Keep()
		x := &embedded.Exception{Class: remote.Package + classes[rnd.IntN(len(classes))]}
		out := &embedded.Outcome{Regions: map[string]*embedded.Exception{}, Rows: map[string]*embedded.Exception{}}
		for _, ra := range r.Param.(*hbasepb.MultiRequest).RegionAction {
			switch n := rnd.IntN(o.of); {
			case n < o.region:
				out.Regions[string(ra.Region.Value)] = x
			case n < o.region+o.row:
				out.Rows[l.rows[rnd.IntN(len(l.rows))]] = x
			}
		}
		return out
	})
}

// someFault splits, merges or moves a region.
func (l *load) someFault(rnd *rand.Rand) {
	rs := l.s.Regions("t")
	i := rnd.IntN(len(rs))
	switch rnd.IntN(3) {
	case 0:
		at := fmt.Sprintf("%x", rnd.IntN(16))
		if r := l.region(at); string(r.Start) < at {
			_, _, err := l.s.Split(r.Encoded, []byte(at))
			l.must(err)
		}
	case 1:
		if i > 0 {
			_, err := l.s.Merge(rs[i-1].Encoded, rs[i].Encoded)
			l.must(err)
		}
	case 2:
		l.must(l.s.Move(rs[i].Encoded, l.elsewhere(rs[i])))
	}
}

// Faults that leave the outcome of calls unknown: the calls are sent again, so mutations may be applied twice, but the last one applied is
// the last one submitted, and none is missing.
func TestUnknownOutcomesUnderLoad(t *testing.T) {
	for name, faults := range map[string]func(l *load){
		"killed, and back": func(l *load) {
			for i := range 3 {
				l.node(i).Kill()
				l.retried(1)
				l.must(l.node(i).Restart(l.node(i).Addr()))
				l.pause()
			}
		},
		"killed, and back under another address": func(l *load) {
			for i := range 3 {
				l.node(i).Kill()
				l.must(l.node(i).Restart("127.0.0.1:0"))
				l.pause()
			}
		},
		"all killed, and back": func(l *load) {
			l.s.Master().Kill()
			for i := range 3 {
				l.node(i).Kill()
			}
			l.retried(1)
			for i := range 3 {
				l.must(l.node(i).Restart(""))
			}
			l.must(l.s.Master().Restart(""))
			l.pause()
		},
		"answers never sent": func(l *load) {
			var n atomic.Int64
			defer l.s.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
				r.Keep()
				switch n.Add(1) % 10 {
				case 0:
					return &embedded.Outcome{Silent: true, Apply: true}
				case 5:
					return &embedded.Outcome{Silent: true}
				}
				return &embedded.Outcome{}
			})()
			l.retried(5)
		},
		"connections dropped": func(l *load) {
			var n atomic.Int64
			defer l.s.Control("", func(r *embedded.Request) *embedded.Outcome {
				r.Keep()
				switch n.Add(1) % 20 {
				case 0:
					return &embedded.Outcome{Drop: true, Apply: true}
				case 10:
					return &embedded.Outcome{Drop: true}
				}
				return &embedded.Outcome{}
			})()
			l.retried(10)
		},
		"frozen for longer than a call may take": func(l *load) {
			l.node(1).Freeze()
			l.retried(1)
			l.node(1).Thaw()
			l.pause()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLoad(t, 3, func(o *Options) { o.RPCTimeout = 2 * time.Second })
			l.during(func() { faults(l) })
			if name == "frozen for longer than a call may take" {
				l.checkPresent()
				return
			}
			l.check(false)
		})
	}
}

// A disabled table returns its mutations as failed, and accepts them when it is enabled again. A dropped table also returns them.
func TestTableDisabledEnabledAndDroppedUnderLoad(t *testing.T) {
	l := newLoad(t, 3, func(o *Options) { o.Retries = 5 })
	l.during(func() {})
	refused := func(want error) {
		for b := l.batch(); ; {
			failed, err := l.c.Submit(t.Context(), b).Wait(t.Context())
			if err != nil {
				t.Fatal(failed, err)
			}
			if len(failed) == b.Len() && failed[0].Kind == NoTable && errors.Is(&failed[0], want) {
				l.submitted--
				return
			}
			if failed == nil {
				b = l.batch() // batch made before the table was disabled
			}
		}
	}
	l.must(l.c.DisableTable(t.Context(), "t"))
	refused(ErrDisabled)
	l.must(l.c.EnableTable(t.Context(), "t"))
	l.during(func() {})
	l.check(true)
	l.must(l.c.DisableTable(t.Context(), "t"))
	l.must(l.c.DeleteTable(t.Context(), "t"))
	refused(ErrNoTable)
}

// The client waits for a name that does not resolve for a while.
func TestNameThatDoesNotResolveUnderLoad(t *testing.T) {
	var down atomic.Bool
	var refused atomic.Int64
	l := newLoad(t, 3, func(o *Options) {
		o.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if down.Load() {
				refused.Add(1)
				return nil, &net.DNSError{Err: "no such host", Name: addr, IsNotFound: true}
			}
			return new(net.Dialer).DialContext(ctx, network, addr)
		}
	})
	l.during(func() {
		down.Store(true)
		l.node(1).Kill()
		l.until(func() bool { return refused.Load() > 0 })
		l.must(l.node(1).Restart(l.node(1).Addr()))
		down.Store(false)
	})
	l.check(false)
}

// flippedConn changes one byte of the n-th read over all connections.
type flippedConn struct {
	net.Conn
	left *atomic.Int64
	at   int // index of the byte in the read
}

func (f flippedConn) Read(b []byte) (int, error) {
	n, err := f.Conn.Read(b)
	if n > 0 && f.left.Add(-1) == 0 {
		b[f.at%n] ^= 0x15
	}
	return n, err
}

// One byte of each answer in turn is flipped: in its length, which is then wrong, in its header, or in the rest. The server has applied the
// call, so whatever the client makes of the answer, each mutation gets one result, and the last one wins.
func TestFlippedBytesAreSurvived(t *testing.T) {
	for _, at := range []int{0, 1, 2, 3, 4, 5, 7, 9, 13} {
		t.Run(fmt.Sprint("byte ", at), func(t *testing.T) {
			t.Parallel()
			var left atomic.Int64
			left.Store(1 << 40)
			l := newLoad(t, 1, func(o *Options) {
				badNetwork(func(c net.Conn) net.Conn { return flippedConn{c, &left, at} })(o)
				o.RPCTimeout = 2 * time.Second
				// A second call on the connection that the client gives up may be applied after it was sent again, and these cells have the same
				// timestamp.
				o.MaxServerCalls = 1
			})
			l.during(func() {
				for i := range 4 {
					l.pause()
					left.Store(int64(1 + i))
					l.until(func() bool { return left.Load() <= 0 })
				}
			})
			l.check(false)
		})
	}
}

// The n-th RPC, whatever it is, fails in some way, for n from 0 until a run has no failure.
func TestEveryFailedRPCIsSurvived(t *testing.T) {
	for name, fault := range map[string]embedded.Outcome{
		"dropped before":  {Drop: true},
		"dropped after":   {Drop: true, Apply: true},
		"queue too big":   {Exception: &embedded.Exception{Class: remote.Package + "CallQueueTooBigException"}},
		"server stopping": {Exception: &embedded.Exception{Class: remote.Package + "regionserver.RegionServerStoppedException"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := startEmbedded(t, embedded.Options{})
			createTable(t, open(t, patient("rpc://"+s.Addr())), "faults", "r3", "r6")
			n := 0
			for ; ; n++ {
				var seen atomic.Int64
				remove := s.Control("", func(r *embedded.Request) *embedded.Outcome {
					if seen.Add(1) != int64(n+1) {
						return nil
					}
					return &fault
				})
				c, err := Open(t.Context(), patient("rpc://"+s.Addr()))
				if err != nil && seen.Load() > int64(n) { // an unreachable cluster is reported at once
					c, err = Open(t.Context(), patient("rpc://"+s.Addr()))
				}
				if err != nil {
					t.Fatalf("RPC %d: %v", n, err)
				}
				writeAndReadBack(t, c, MutatorOptions{Autoflush: true}, int64(n+1))
				c.Close()
				remove()
				if seen.Load() <= int64(n) {
					break
				}
			}
			if n < 8 {
				t.Errorf("only %d RPCs were failed", n)
			}
			t.Logf("%d RPCs failed in turn", n)
		})
	}
}

// Under load, the answers to calls arrive in any order.
func TestAnswersOutOfOrderUnderLoad(t *testing.T) {
	l := newLoad(t, 1, nil)
	rnd := rand.New(rand.NewPCG(3, 4))
	var late atomic.Int64
	remove := l.s.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
		r.Keep()
		late.Add(1)
		return &embedded.Outcome{Delay: time.Duration(rnd.IntN(10)) * ms}
	})
	l.during(func() {
		l.until(func() bool { return late.Load() >= 100 }) // many answers came out of order
		remove()
	})
	l.check(true)
}
