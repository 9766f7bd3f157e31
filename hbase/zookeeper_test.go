package hbase

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/zk/zktest"
	"brine/internal/testenv"

	"google.golang.org/protobuf/proto"
)

const zkConnectString = "zk://z1,z2,z3/hbase"

// inZooKeeper runs f in a synctest bubble with an ensemble of three and an HBase server.
func inZooKeeper(t *testing.T, f func(t *testing.T, z *zktest.Ensemble, opts Options)) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		z := zktest.New(t, "/hbase")
		opts := p.options()
		opts.Connect, opts.Dial, opts.DialTimeout = zkConnectString, dialBeside(z, p), time.Second
		f(t, z, opts)
		p.stop()
		z.Stop()
	})
}

// dialBeside returns a dialler that connects to p for the HBase server, and to z for everything else.
func dialBeside(z *zktest.Ensemble, p *peer) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if addr == peerAddr {
			return p.dial(ctx, network, addr)
		}
		return z.Dial(ctx, network, addr)
	}
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
	inZooKeeper(t, func(t *testing.T, z *zktest.Ensemble, opts Options) {
		c := openZK(t, opts)
		if failed := land(t, c, puts("a", "b")); failed != nil {
			t.Error(failed)
		}
		c.Close()
		synctest.Wait()
		z.Do(func() {
			if z.Opened != 1 || z.Closed != 1 || z.Reads != 1 {
				t.Errorf("%d sessions opened, %d closed, %d reads", z.Opened, z.Closed, z.Reads)
			}
		})
	})
}

// What a user must know is reported at once, with every member's answer or the setting to fix.
func TestZooKeeperErrorsNameTheCause(t *testing.T) {
	for name, tt := range map[string]struct {
		fault func(z *zktest.Ensemble, o *Options)
		want  []string
	}{
		"all dead": {
			func(z *zktest.Ensemble, _ *Options) {
				z.Down["z1:2181"], z.Down["z2:2181"], z.Down["z3:2181"] = true, true, true
			},
			[]string{"open zk://z1,z2,z3/hbase", "z1:2181: connection refused", "z2:2181: connection refused", "z3:2181: connection refused"},
		},
		"all refuse sessions": {func(z *zktest.Ensemble, _ *Options) { z.Refuse = true }, []string{"z1:2181: the session was refused"}},
		"all silent":          {func(z *zktest.Ensemble, _ *Options) { z.Mute = true }, []string{"z1:2181", "timeout"}},
		"no such parent": {
			func(_ *zktest.Ensemble, o *Options) { o.Connect = "zk://z1/hbas" },
			[]string{"option Connect names /hbas, but / holds only hbase; it must be the cluster's zookeeper.znode.parent"},
		},
		"another's parent": {
			func(z *zktest.Ensemble, o *Options) {
				z.Znodes["/kafka"], z.Znodes["/kafka/brokers"] = nil, nil
				o.Connect = "zk://z1/kafka"
			},
			[]string{"/kafka in option Connect, which holds brokers; it must be the cluster's zookeeper.znode.parent"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inZooKeeper(t, func(t *testing.T, z *zktest.Ensemble, opts Options) {
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
					t.Errorf("reported after %v", d)
				}
			})
		})
	}
}

// The client waits for an HBase that is starting: no parent in an empty ensemble, an empty parent, no master, hbase:meta opening.
func TestZooKeeperWaitsForHBase(t *testing.T) {
	inZooKeeper(t, func(t *testing.T, z *zktest.Ensemble, opts Options) {
		there := z.Znodes
		z.Znodes = map[string][]byte{"/zookeeper": nil}
		opts.OperationTimeout, opts.Pause = time.Hour, 100*time.Millisecond
		opened := make(chan *Client)
		go func() { opened <- openZK(t, opts) }()
		steps := []func(){
			func() { z.Znodes["/hbase"] = nil },
			func() { z.Znodes["/hbase/rs"] = nil },
			func() { z.Znodes["/hbase/master"] = there["/hbase/master"] },
			func() {
				opening := &hbasepb.MetaRegionServer{State: hbasepb.RegionState_OPENING.Enum(), Server: &hbasepb.ServerName{HostName: proto.String("x"), Port: proto.Uint32(1)}}
				b, _ := proto.Marshal(opening)
				z.Znodes["/hbase/meta-region-server"] = append([]byte("PBUF"), b...)
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
			z.Do(step)
		}
		time.Sleep(10 * time.Second)
		z.Do(func() { z.Znodes = there })
		c := <-opened
		if failed := land(t, c, puts("a")); failed != nil {
			t.Error(failed)
		}
		c.Close()
	})
}

// While ZooKeeper is away, writing continues; look-ups wait until it is back.
func TestZooKeeperGoneAndBack(t *testing.T) {
	inZooKeeper(t, func(t *testing.T, z *zktest.Ensemble, opts Options) {
		opts.OperationTimeout, opts.RPCTimeout = time.Hour, time.Second
		c := openZK(t, opts)
		defer c.Close()
		land(t, c, puts("a"))
		z.Do(func() {
			z.Cut, z.Down["z1:2181"], z.Down["z2:2181"], z.Down["z3:2181"] = 1, true, true, true
		})
		if failed := land(t, c, puts("b")); failed != nil {
			t.Error(failed)
		}
		forgetMeta(t, c)
		c.locator.ForgetTable("t")
		back := time.AfterFunc(time.Minute, func() { z.Do(func() { clear(z.Down) }) })
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

// The same with a real ZooKeeper: the cluster is found, a wrong parent is named.
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
