package zk

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/zk/zktest"

	"google.golang.org/protobuf/proto"
)

// inEnsemble runs f in a synctest bubble with an ensemble of three.
func inEnsemble(t *testing.T, f func(t *testing.T, z *zktest.Ensemble, c *Cluster)) {
	synctest.Test(t, func(t *testing.T) {
		z := zktest.New(t, "/hbase")
		c := Open([]string{"z1:2181", "z2:2181", "z3:2181"}, "/hbase", time.Second, Access{Dial: z.Dial})
		f(t, z, c)
		c.Close()
		z.Stop()
	})
}

func ask(t *testing.T, c *Cluster) {
	t.Helper()
	if s, err := c.Master(t.Context()); err != nil || s.GetHostName() != "peer.example" {
		t.Errorf("%v %v", s, err)
	}
}

// Nothing is read from ZooKeeper while nothing moves, and then no session is open.
func TestZooKeeperSessionClosesWhenIdle(t *testing.T) {
	inEnsemble(t, func(t *testing.T, z *zktest.Ensemble, c *Cluster) {
		ask(t, c)
		time.Sleep(idleFor - time.Millisecond)
		synctest.Wait()
		z.Do(func() {
			if z.Open != 1 {
				t.Errorf("%d sessions before it is idle", z.Open)
			}
		})
		time.Sleep(time.Millisecond)
		synctest.Wait()
		z.Do(func() {
			if z.Open != 0 || z.Closed != 1 {
				t.Errorf("%d sessions after it, %d closed", z.Open, z.Closed)
			}
		})
		ask(t, c)
		z.Do(func() {
			if z.Opened != 2 {
				t.Errorf("%d sessions", z.Opened)
			}
		})
	})
}

// A session with a server that grants less time is closed before the server ends it.
func TestZooKeeperSessionEndsBeforeItsTimeout(t *testing.T) {
	inEnsemble(t, func(t *testing.T, z *zktest.Ensemble, c *Cluster) {
		z.Do(func() { z.SessionTimeoutSecs = 4 })
		ask(t, c)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		z.Do(func() {
			if z.Closed != 1 {
				t.Errorf("%d sessions closed after 2 s", z.Closed)
			}
		})
	})
}

// Whatever happens to sessions and members, a look-up finds a member that answers.
func TestZooKeeperSurvivesFaults(t *testing.T) {
	for name, fault := range map[string]func(z *zktest.Ensemble){
		"the session's connection breaks":     func(z *zktest.Ensemble) { z.Cut = 1 },
		"it breaks again on the next session": func(z *zktest.Ensemble) { z.Cut = 2 },
		"two members are dead":                func(z *zktest.Ensemble) { z.Cut = 1; z.Down["z1:2181"], z.Down["z3:2181"] = true, true },
	} {
		t.Run(name, func(t *testing.T) {
			inEnsemble(t, func(t *testing.T, z *zktest.Ensemble, c *Cluster) {
				ask(t, c)
				z.Do(func() { fault(z) })
				for range 10 {
					ask(t, c)
				}
				z.Do(func() {
					if z.MostAtOnce > 1 {
						t.Errorf("%d sessions at once", z.MostAtOnce)
					}
				})
			})
		})
	}
}

// A session authenticates before its first request. Without a user, or with another one, reading a protected znode is refused, and the
// error has the fix.
func TestZooKeeperIsShownAUser(t *testing.T) {
	z := zktest.New(t, "/hbase")
	z.Do(func() { z.Auth = "brine:hunter2" })
	for auth, says := range map[string]string{"brine:hunter2": "", "": "set hbase.zookeeper_auth", "brine:hunter3": "set hbase.zookeeper_auth"} {
		c := Open([]string{"z1:2181"}, "/hbase", time.Minute, Access{Dial: z.Dial, Auth: auth})
		_, err := c.Master(t.Context())
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hunter")) {
			t.Errorf("%q: %v, want %q", auth, err, says)
		}
		c.Close()
	}
}

// Ten clients of one process that all make requests at once share one session; closing the last client ends it.
func TestZooKeeperSessionIsSharedByClients(t *testing.T) {
	z := zktest.New(t, "/hbase")
	addr := z.Listen()
	clusters := make([]*Cluster, 10)
	var wg sync.WaitGroup
	for i := range clusters {
		wg.Go(func() {
			c := Open([]string{addr}, "/hbase", time.Minute, Access{})
			clusters[i] = c
			ask(t, c)
			if _, err := c.Meta(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, c := range clusters[1:] {
		c.Close()
	}
	z.Do(func() {
		if z.Opened != 1 || z.Closed != 0 {
			t.Errorf("%d sessions opened, %d closed", z.Opened, z.Closed)
		}
	})
	clusters[0].Close()
	quorums.mu.Lock()
	if len(quorums.open) != 0 {
		t.Errorf("still open: %v", quorums.open)
	}
	quorums.mu.Unlock()
	z.Finish()
	if z.Closed != 1 || z.Open != 0 {
		t.Errorf("%d closed, %d open", z.Closed, z.Open)
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
