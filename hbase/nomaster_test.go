package hbase

import (
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
	"brine/hbase/internal/locate"
	"brine/hbase/internal/zk/zktest"

	"google.golang.org/protobuf/proto"
)

// masterless starts two region servers with a table and kills their master, which is noticed after the given time.
func masterless(t *testing.T, notice time.Duration) *embedded.Server {
	t.Helper()
	s := startEmbedded(t, embedded.Options{Servers: 2, DetectAfter: notice})
	createTable(t, open(t, Options{Connect: "rpc://" + s.Addr()}), "t", "b")
	s.Master().Kill()
	return s
}

// works opens a client, writes and reads, and expects an error that there is no master.
func works(t *testing.T, connect string) {
	t.Helper()
	ctx := t.Context()
	c, err := Open(ctx, Options{Connect: connect, Pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if failed := land(t, c, puts("a", "b", "c")); failed != nil {
		t.Error(failed)
	}
	if row, err := c.Get(ctx, "t", Get{Row: []byte("b")}); err != nil || len(row.Cells) != 1 {
		t.Errorf("read %v: %v", row, err)
	}
	if addr, err := c.Master(ctx); !errors.Is(err, ErrNoMaster) {
		t.Errorf("the master is at %q: %v", addr, err)
	} else if strings.Contains(err.Error(), "region") {
		t.Errorf("the error of a missing master is %v", err)
	}
}

// A client with region servers in its connect string, alone or beside masters, needs no master: neither when there is none, nor while the
// region servers still consider a dead one alive.
func TestOpensWithoutMasterByRegionServers(t *testing.T) {
	for name, notice := range map[string]time.Duration{"none": time.Nanosecond, "one of which nobody knows that it is dead": time.Hour} {
		t.Run(name, func(t *testing.T) {
			s := masterless(t, notice)
			servers := "rpc://" + s.Nodes()[0].Addr() + "," + s.Nodes()[1].Addr()
			works(t, servers)
			works(t, servers+","+s.Addr())
		})
	}
}

func nameOf(t *testing.T, n *embedded.Node) *hbasepb.ServerName {
	t.Helper()
	host, port, err := net.SplitHostPort(n.Addr())
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	return &hbasepb.ServerName{HostName: &host, Port: proto.Uint32(uint32(number)), StartCode: proto.Uint64(1)}
}

// ZooKeeper has the location of hbase:meta; that of the master is missing, or names a dead one.
func TestOpensWithoutMasterByZooKeeper(t *testing.T) {
	s := masterless(t, time.Nanosecond)
	z := zktest.New(t, "/hbase")
	connect := "zk://" + z.Listen() + "/hbase"
	z.Set("/hbase/master", &hbasepb.Master{Master: nameOf(t, s.Master())})
	meta := s.Nodes()[s.Regions(locate.MetaTable)[0].Node]
	z.Set("/hbase/meta-region-server", &hbasepb.MetaRegionServer{Server: nameOf(t, meta), State: hbasepb.RegionState_OPEN.Enum()})
	works(t, connect)
	z.Do(func() { delete(z.Znodes, "/hbase/master") })
	works(t, connect)
	z.Finish()
}

// A client configured with only the master's address finds hbase:meta again through region servers that it has used since.
func TestFindsMetaAgainWithoutMaster(t *testing.T) {
	s := startEmbedded(t, embedded.Options{Servers: 2, DetectAfter: time.Nanosecond})
	c := open(t, Options{Connect: "rpc://" + s.Addr(), Pause: time.Millisecond})
	createTable(t, c, "t")
	s.Master().Kill()
	forgetMeta(t, c)
	if _, err := c.Get(t.Context(), "t", Get{Row: []byte("a")}); err != nil {
		t.Error(err)
	}
	if _, err := Open(t.Context(), Options{Connect: "rpc://" + s.Addr()}); err == nil || !strings.Contains(err.Error(), s.Addr()) {
		t.Errorf("opened by a dead master alone: %v", err)
	}
}

// A starting master counts as present: callers must not continue without what only it knows.
func TestStartingMasterIsNotAway(t *testing.T) {
	s := startEmbedded(t, embedded.Options{})
	defer s.HoldMaster()()
	c := open(t, Options{Connect: "rpc://" + s.Addr()})
	if addr, err := c.Master(t.Context()); err != nil || addr != s.Addr() {
		t.Errorf("%q: %v", addr, err)
	}
}
