package hbase

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"brine/hbase/hbasepb"
	"brine/internal/testenv"

	"google.golang.org/protobuf/proto"
)

const zkConnectString = "zk://z1,z2,z3/hbase"

// inZooKeeper runs f in a bubble with an ensemble of three beside one HBase server.
func inZooKeeper(t *testing.T, f func(t *testing.T, z *zkPeer, opts Options)) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		z := newZKPeer(t, "/hbase")
		opts := p.options()
		opts.Connect, opts.Dial, opts.DialTimeout = zkConnectString, z.dialBeside(p), time.Second
		f(t, z, opts)
		p.stop()
		z.stop()
	})
}

func openZK(t *testing.T, opts Options) *Client {
	t.Helper()
	c, err := Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestZooKeeperFindsTheCluster(t *testing.T) {
	inZooKeeper(t, func(t *testing.T, z *zkPeer, opts Options) {
		c := openZK(t, opts)
		if failed := land(t, c, puts("a", "b")); failed != nil {
			t.Error(failed)
		}
		c.Close()
		synctest.Wait()
		z.do(func() {
			if z.opened != 1 || z.closed != 1 || z.reads != 1 {
				t.Errorf("%d sessions opened, %d closed, %d reads", z.opened, z.closed, z.reads)
			}
		})
	})
}

// Nothing is asked of ZooKeeper while nothing moves, and then no session is open.
func TestZooKeeperSessionClosesWhenIdle(t *testing.T) {
	inZooKeeper(t, func(t *testing.T, z *zkPeer, opts Options) {
		c := openZK(t, opts)
		defer c.Close()
		time.Sleep(zkIdle - time.Millisecond)
		synctest.Wait()
		z.do(func() {
			if z.open != 1 {
				t.Errorf("%d sessions before it is idle", z.open)
			}
		})
		time.Sleep(time.Millisecond)
		synctest.Wait()
		z.do(func() {
			if z.open != 0 || z.closed != 1 {
				t.Errorf("%d sessions after it, %d closed", z.open, z.closed)
			}
		})
		_, err := c.registry.activeMaster(t.Context())
		z.do(func() {
			if err != nil || z.opened != 2 {
				t.Errorf("%d sessions: %v", z.opened, err)
			}
		})
	})
}

// A session of a server that grants less time is closed before the server ends it.
func TestZooKeeperSessionEndsBeforeItsTimeout(t *testing.T) {
	inZooKeeper(t, func(t *testing.T, z *zkPeer, opts Options) {
		z.sessionTimeoutSecs = 4
		c := openZK(t, opts)
		defer c.Close()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		z.do(func() {
			if z.closed != 1 {
				t.Errorf("%d sessions closed after 2 s", z.closed)
			}
		})
	})
}

// Whatever happens to sessions and members, a look-up finds one that answers.
func TestZooKeeperSurvivesFaults(t *testing.T) {
	for name, fault := range map[string]func(z *zkPeer){
		"the session's connection breaks":     func(z *zkPeer) { z.cut = 1 },
		"it breaks again on the next session": func(z *zkPeer) { z.cut = 2 },
		"two members are dead":                func(z *zkPeer) { z.cut = 1; z.down["z1:2181"], z.down["z3:2181"] = true, true },
	} {
		t.Run(name, func(t *testing.T) {
			inZooKeeper(t, func(t *testing.T, z *zkPeer, opts Options) {
				c := openZK(t, opts)
				defer c.Close()
				z.do(func() { fault(z) })
				for range 10 {
					if addr, err := c.registry.activeMaster(t.Context()); err != nil || addr != peerAddr {
						t.Errorf("%q %v", addr, err)
					}
				}
				z.do(func() {
					if z.mostAtOnce > 1 {
						t.Errorf("%d sessions at once", z.mostAtOnce)
					}
				})
			})
		})
	}
}

// What a user must know is reported at once, with every member's answer or the setting to fix.
func TestZooKeeperTellsWhatIsWrong(t *testing.T) {
	for name, tt := range map[string]struct {
		fault func(z *zkPeer, o *Options)
		want  []string
	}{
		"all dead": {
			func(z *zkPeer, _ *Options) {
				z.down["z1:2181"], z.down["z2:2181"], z.down["z3:2181"] = true, true, true
			},
			[]string{"open zk://z1,z2,z3/hbase", "z1:2181: connection refused", "z2:2181: connection refused", "z3:2181: connection refused"},
		},
		"all refuse sessions": {func(z *zkPeer, _ *Options) { z.refuse = true }, []string{"z1:2181: the session was refused"}},
		"all silent":          {func(z *zkPeer, _ *Options) { z.mute = true }, []string{"z1:2181", "timeout"}},
		"no such parent": {
			func(_ *zkPeer, o *Options) { o.Connect = "zk://z1/hbas" },
			[]string{"option Connect names /hbas, but / holds only hbase; it must be the cluster's zookeeper.znode.parent"},
		},
		"another's parent": {
			func(z *zkPeer, o *Options) {
				z.znodes["/kafka"], z.znodes["/kafka/brokers"] = nil, nil
				o.Connect = "zk://z1/kafka"
			},
			[]string{"/kafka in option Connect, which holds brokers; it must be the cluster's zookeeper.znode.parent"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inZooKeeper(t, func(t *testing.T, z *zkPeer, opts Options) {
				tt.fault(z, &opts)
				opts.OperationTimeout = time.Hour
				start := time.Now()
				_, err := Open(t.Context(), opts)
				if err == nil {
					t.Fatal("opened")
				}
				for _, want := range tt.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("error does not say %q:\n%v", want, err)
					}
				}
				if d := time.Since(start); d > 3*opts.DialTimeout {
					t.Errorf("told after %v", d)
				}
			})
		})
	}
}

// An HBase that is starting is waited for: no parent in an empty ensemble, an empty parent, no master, hbase:meta opening.
func TestZooKeeperWaitsForHBase(t *testing.T) {
	inZooKeeper(t, func(t *testing.T, z *zkPeer, opts Options) {
		there := z.znodes
		z.znodes = map[string][]byte{"/zookeeper": nil}
		opts.OperationTimeout, opts.Pause = time.Hour, 100*time.Millisecond
		opened := make(chan *Client)
		go func() { opened <- openZK(t, opts) }()
		steps := []func(){
			func() { z.znodes["/hbase"] = nil },
			func() { z.znodes["/hbase/rs"] = nil },
			func() { z.znodes["/hbase/master"] = there["/hbase/master"] },
			func() {
				opening := &hbasepb.MetaRegionServer{State: hbasepb.RegionState_OPENING.Enum(), Server: &hbasepb.ServerName{HostName: proto.String("x"), Port: proto.Uint32(1)}}
				b, _ := proto.Marshal(opening)
				z.znodes["/hbase/meta-region-server"] = append([]byte("PBUF"), b...)
			},
		}
		for i, step := range steps {
			time.Sleep(10 * time.Second)
			synctest.Wait()
			select {
			case <-opened:
				t.Fatalf("opened before step %d", i)
			default:
			}
			z.do(step)
		}
		time.Sleep(10 * time.Second)
		z.do(func() { z.znodes = there })
		c := <-opened
		if failed := land(t, c, puts("a")); failed != nil {
			t.Error(failed)
		}
		c.Close()
	})
}

// While ZooKeeper is away, writing goes on; what must be looked up waits until it is back.
func TestZooKeeperGoneAndBack(t *testing.T) {
	inZooKeeper(t, func(t *testing.T, z *zkPeer, opts Options) {
		opts.OperationTimeout, opts.RPCTimeout = time.Hour, time.Second
		c := openZK(t, opts)
		defer c.Close()
		land(t, c, puts("a"))
		z.do(func() {
			z.cut, z.down["z1:2181"], z.down["z2:2181"], z.down["z3:2181"] = 1, true, true, true
		})
		if failed := land(t, c, puts("b")); failed != nil {
			t.Error(failed)
		}
		c.locator.dropMeta(c.locator.meta)
		c.locator.cache.dropTable("t")
		back := time.AfterFunc(time.Minute, func() { z.do(func() { clear(z.down) }) })
		defer back.Stop()
		start := time.Now()
		if _, err := c.Get(context.Background(), "t", Get{Row: []byte("a")}); err != nil {
			t.Error(err)
		}
		if d := time.Since(start); d < time.Minute || d > 2*time.Minute {
			t.Errorf("took %v", d)
		}
	})
}

// Ten clients of one process that all ask at once share one session; the last that closes ends it.
func TestZooKeeperSessionIsSharedByClients(t *testing.T) {
	z := newZKPeer(t, "/hbase")
	addr := z.listen()
	registries := make([]*zkRegistry, 10)
	var wg sync.WaitGroup
	for i := range registries {
		wg.Go(func() {
			g := &zkRegistry{quorum: joinQuorum([]string{addr}, nil), parent: "/hbase", patience: time.Minute}
			registries[i] = g
			if got, err := g.activeMaster(t.Context()); err != nil || got != peerAddr {
				t.Errorf("%q %v", got, err)
			}
			if _, err := g.meta(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, g := range registries[1:] {
		g.close()
	}
	z.do(func() {
		if z.opened != 1 || z.closed != 0 {
			t.Errorf("%d sessions opened, %d closed", z.opened, z.closed)
		}
	})
	registries[0].close()
	quorums.mu.Lock()
	if len(quorums.open) != 0 {
		t.Errorf("still open: %v", quorums.open)
	}
	quorums.mu.Unlock()
	z.finish()
	if z.closed != 1 || z.open != 0 {
		t.Errorf("%d closed, %d open", z.closed, z.open)
	}
}

func TestZnodesOfAllForms(t *testing.T) {
	m := &hbasepb.ClusterId{ClusterId: proto.String("x")}
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	for data, good := range map[string]bool{
		"PBUF" + string(b):                        true,
		"\xff\x00\x00\x00\x03abcPBUF" + string(b): true,
		"\xff\x00\x00\x00\x00PBUF" + string(b):    true,
		"":                                        false,
		"x":                                       false,
		"\xff\x00\x00":                            false,
		"\xff\x00\x00\x00\x09abcPBUF" + string(b):     false,
		"\xff\xff\xff\xff\xffabcPBUF" + string(b):     false,
		"\xff\x00\x00\x00\x03abcPBU":                  false,
		"\xff\x00\x00\x00\x03abcPBUF\x0a\xff\xff\x0f": false,
	} {
		var got hbasepb.ClusterId
		if err := parseZnode([]byte(data), &got); (err == nil) != good || good && got.GetClusterId() != "x" {
			t.Errorf("%q: %v %v", data, &got, err)
		}
	}
}

// The same against a real ZooKeeper: the cluster is found, a wrong parent is named.
func TestRealZooKeeper(t *testing.T) {
	connect := testenv.HBaseZooKeeper(t)
	c := open(t, Options{Connect: connect})
	if tables, err := c.Tables(t.Context()); err != nil {
		t.Errorf("%v %v", tables, err)
	}
	if regions, err := c.Regions(t.Context(), "hbase:namespace"); err != nil && !strings.Contains(err.Error(), "no such table") {
		t.Errorf("%v %v", regions, err)
	}
	base, parent, _ := strings.Cut(strings.TrimPrefix(connect, "zk://"), "/")
	_, err := Open(t.Context(), Options{Connect: "zk://" + base + "/" + parent + "-wrong"})
	if err == nil || !strings.Contains(err.Error(), "zookeeper.znode.parent") || !strings.Contains(err.Error(), parent) {
		t.Errorf("wrong parent: %v", err)
	}
}
