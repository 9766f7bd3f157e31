package embedded_test

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// eventually waits for something to happen in another goroutine, however long that takes.
func eventually(holds func() bool) {
	for !holds() {
		time.Sleep(time.Millisecond)
	}
}

// A killed node cuts its connections. Its regions, hbase:meta's included, are on no node until its death is noticed, and then move to the
// others. Restarted, it is a new server without scanners, and does not remember what moved.
func TestKillAndRestart(t *testing.T) {
	s := start(t, embedded.Options{Servers: 2, DetectAfter: time.Hour})
	regions := createOn(t, s, "t", "b", "c", "d")
	doomed, other := s.Nodes()[s.Regions("hbase:meta")[0].Node], s.Nodes()[1-s.Regions("hbase:meta")[0].Node]
	var mine embedded.Region
	for _, r := range regions {
		if r.Node == doomed.Index() {
			mine = r
		}
	}
	c := at(t, s, mine)
	if err := putRow(c, mine.Name, string(mine.Start), "v"); err != nil {
		t.Fatal(err)
	}
	arrived := make(chan struct{})
	s.Control("Get", func(r *embedded.Request) *embedded.Outcome {
		if r.Node != doomed.Index() {
			t.Error("a request of node", r.Node)
		}
		close(arrived)
		return &embedded.Outcome{Silent: true}
	})
	c.send("Get", &hbasepb.GetRequest{Region: region(mine.Name), Get: &hbasepb.Get{Row: mine.Start}}, nil)
	<-arrived
	life, addr := doomed.ServerName(), doomed.Addr()
	doomed.Kill()
	if _, err := c.receive(); err == nil {
		t.Error("an answer of a node that was killed")
	}
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Error("a node that was killed listens")
	}
	if doomed.Up() {
		t.Error("up")
	}
	if !slices.EqualFunc(regions, s.Regions("t"), func(a, b embedded.Region) bool { return a.Node == b.Node }) {
		t.Error("regions moved before the death was noticed:", s.Regions("t"))
	}
	wantException(t, getRow(dial(t, other.Addr(), "ClientService"), mine.Name, string(mine.Start)), hbase+"NotServingRegionException", false)
	if err := doomed.Restart(""); err != nil {
		t.Fatal(err)
	}
	if doomed.Addr() != addr || doomed.ServerName() == life {
		t.Errorf("%s after %s", doomed.ServerName(), life)
	}
	if err := doomed.Restart(""); !errors.Is(err, embedded.ErrRunning) {
		t.Error(err)
	}
	for _, r := range s.Regions("t") {
		if err := getRow(at(t, s, r), r.Name, string(r.Start)+"0"); err != nil {
			t.Error(err)
		}
		if r.Encoded == mine.Encoded && len(scanCells(t, at(t, s, r), r.Name)) != 1 {
			t.Error("the row is gone")
		}
	}
	meta := metaRows(t, s)
	for _, r := range s.Regions("t") {
		if meta[r.Encoded]["sn"] != s.Nodes()[r.Node].ServerName() {
			t.Errorf("%s: %q, want %s", r.Name, meta[r.Encoded], s.Nodes()[r.Node].ServerName())
		}
	}
}

// The master notices a death after a while; a master that starts later notices it at once. Without a master it goes unnoticed.
func TestDetection(t *testing.T) {
	s := start(t, embedded.Options{Servers: 3, DetectAfter: time.Millisecond})
	createOn(t, s, "t", "b", "c")
	served := func(node int) (n int) {
		for _, r := range s.Regions("t") {
			if r.Node == node {
				n++
			}
		}
		return n
	}
	s.Nodes()[1].Kill()
	eventually(func() bool { return served(1) == 0 && served(0)+served(2) == 3 })
	status := &hbasepb.GetClusterStatusResponse{}
	dial(t, s.Addr(), "MasterService").must("GetClusterStatus", &hbasepb.GetClusterStatusRequest{}, status, nil)
	if len(status.ClusterStatus.LiveServers) != 2 || len(status.ClusterStatus.DeadServers) != 1 || addrOf(status.ClusterStatus.DeadServers[0]) != s.Nodes()[1].Addr() {
		t.Errorf("%v", status.ClusterStatus)
	}
	s.Master().Kill()
	if _, err := net.Dial("tcp", s.Addr()); err == nil {
		t.Error("a master that was killed listens")
	}
	registry := dial(t, s.Nodes()[0].Addr(), "ClientMetaService")
	eventually(func() bool { // no master is known
		r := &hbasepb.GetActiveMasterResponse{}
		registry.must("GetActiveMaster", &hbasepb.GetActiveMasterRequest{}, r, nil)
		return r.ServerName == nil
	})
	before := served(2)
	s.Nodes()[2].Kill()
	eventually(func() bool { // one node is known
		r := &hbasepb.GetBootstrapNodesResponse{}
		registry.must("GetBootstrapNodes", &hbasepb.GetBootstrapNodesRequest{}, r, nil)
		return len(r.ServerName) == 1
	})
	if served(2) != before {
		t.Error("regions moved without a master")
	}
	if err := s.Master().Restart(""); err != nil {
		t.Fatal(err)
	}
	if served(0) != 3 {
		t.Error(s.Regions("t"))
	}
	s.Nodes()[0].Kill()
	eventually(func() bool { return served(-1) == 3 })
	if err := s.Nodes()[2].Restart("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	if served(2) != 3 {
		t.Error(s.Regions("t"))
	}
}

// If a master that has just started finds no live node for the regions, the next node to start gets them.
func TestNodeStartedDuringRecovery(t *testing.T) {
	s := start(t, embedded.Options{Servers: 2, DetectAfter: time.Hour})
	createOn(t, s, "t", "b", "c")
	for _, n := range append(s.Nodes(), s.Master()) {
		n.Kill()
	}
	release, waiting := held(s)
	up := make(chan error, 1)
	go func() { up <- s.Master().Restart("") }()
	if tr := <-waiting; tr.Kind != "recover" {
		t.Error(tr)
	}
	if err := s.Nodes()[1].Restart(""); err != nil {
		t.Fatal(err)
	}
	release()
	if err := <-up; err != nil {
		t.Fatal(err)
	}
	for _, r := range append(s.Regions("t"), s.Regions("hbase:meta")...) {
		if r.Node != 1 {
			t.Errorf("region %q is on node %d", r.Name, r.Node)
		}
	}
}

// A stopping node says that it stops while its regions move to the others.
func TestStop(t *testing.T) {
	s := start(t, embedded.Options{Servers: 2})
	r := createOn(t, s, "t")[0]
	c, n := at(t, s, r), s.Nodes()[r.Node]
	release, waiting := held(s)
	stopped := make(chan struct{})
	go func() { defer close(stopped); n.Stop() }()
	<-waiting
	wantException(t, putRow(c, r.Name, "a", "v"), hbase+"regionserver.RegionServerStoppedException", false)
	release()
	<-stopped
	if _, err := c.receive(); !errors.Is(err, io.EOF) {
		t.Error("the connection has not ended:", err)
	}
	after := s.Regions("t")[0]
	if after.Node != 1-r.Node {
		t.Fatal(after)
	}
	if err := putRow(at(t, s, after), r.Name, "a", "v"); err != nil {
		t.Error(err)
	}
}

// A frozen node accepts connections and bytes but answers nothing; when it thaws it answers everything.
func TestFreeze(t *testing.T) {
	s := start(t, embedded.Options{Servers: 2})
	r := createOn(t, s, "t")[0]
	c, n := at(t, s, r), s.Nodes()[r.Node]
	n.Freeze()
	get := &hbasepb.GetRequest{Region: region(r.Name), Get: &hbasepb.Get{Row: []byte("a")}}
	id := c.send("Get", get, nil)
	late := at(t, s, r)
	late.send("Get", get, nil)
	for _, c := range []*client{c, late} {
		if err := c.c.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.receive(); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("a frozen node answers:", err)
		}
		if err := c.c.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	n.Thaw()
	if a, err := c.receive(); err != nil || a.CallID != id {
		t.Error(a, err)
	}
	if _, err := late.receive(); err != nil {
		t.Error(err)
	}
	n.Freeze()
	n.Kill() // also ends pending calls
}

// A slow node sends slowly: a tenth of the bytes of its answer takes at least a tenth of a second.
func TestSlow(t *testing.T) {
	s := start(t, embedded.Options{})
	r := createOn(t, s, "t")[0]
	c := at(t, s, r)
	if err := putRow(c, r.Name, "a", string(make([]byte, 500))); err != nil {
		t.Fatal(err)
	}
	s.Nodes()[0].Slow(2000)
	begin := time.Now()
	if got := scanCells(t, c, r.Name); len(got) != 1 || len(got[0].Value) != 500 {
		t.Fatal(got)
	}
	if d := time.Since(begin); d < 200*time.Millisecond {
		t.Errorf("over 500 bytes at 2000 a second took %v", d)
	}
	s.Nodes()[0].Thaw()
	if err := getRow(c, r.Name, "a"); err != nil {
		t.Error(err)
	}
}

// Each node uses its own clock for timestamps.
func TestNodeClock(t *testing.T) {
	clock := &testClock{now: time.UnixMilli(1_000_000)}
	s := start(t, embedded.Options{Servers: 2, Clock: clock.Now})
	r := createOn(t, s, "t")[0]
	s.Nodes()[r.Node].SetClock(-time.Minute)
	c := at(t, s, r)
	c.must("Mutate", &hbasepb.MutateRequest{Region: region(r.Name), Mutation: putOf("a", 1)}, &hbasepb.MutateResponse{}, block(cell("a", "e", "q", 1<<63-1, 4, "v")))
	if got := scanCells(t, c, r.Name); len(got) != 1 || got[0].Timestamp != 940_000 {
		t.Fatal(got)
	}
}

// The master can be held as if it had just started; the registry and IsMasterRunning are answered nonetheless.
func TestMasterHolds(t *testing.T) {
	s := start(t, embedded.Options{})
	release := s.HoldMaster()
	m := dial(t, s.Addr(), "MasterService")
	_, err := m.call("GetTableNames", &hbasepb.GetTableNamesRequest{}, &hbasepb.GetTableNamesResponse{}, nil)
	wantException(t, err, hbase+"PleaseHoldException", false)
	m.must("IsMasterRunning", &hbasepb.IsMasterRunningRequest{}, &hbasepb.IsMasterRunningResponse{}, nil)
	release()
	m.must("GetTableNames", &hbasepb.GetTableNamesRequest{}, &hbasepb.GetTableNamesResponse{}, nil)
}

// hbase:meta can be cut off while the other regions of its node answer.
func TestCutMeta(t *testing.T) {
	s := start(t, embedded.Options{})
	r := createOn(t, s, "t")[0]
	fix := s.CutMeta()
	c := at(t, s, r)
	scan := &hbasepb.ScanRequest{Region: region([]byte("hbase:meta,,1")), Scan: &hbasepb.Scan{}, NumberOfRows: proto.Uint32(1)}
	c.send("Scan", scan, nil)
	if err := getRow(c, r.Name, "a"); err != nil {
		t.Error("the first answer is not the region's:", err)
	}
	fix()
	c.must("Scan", scan, &hbasepb.ScanResponse{}, nil)
}

// A cluster of one node is gone completely when that is killed or stopped. Restarted, at its old address or at another, it has its tables.
func TestClusterOfOne(t *testing.T) {
	for name, end := range map[string]func(*embedded.Node){"killed": (*embedded.Node).Kill, "stopped": (*embedded.Node).Stop} {
		t.Run(name, func(t *testing.T) {
			s := start(t, embedded.Options{})
			n, addr := s.Master(), s.Addr()
			if len(s.Nodes()) != 1 || s.Nodes()[0] != n || n.Index() != 0 {
				t.Error(s.Nodes())
			}
			r := createOn(t, s, "t")[0]
			if err := putRow(at(t, s, r), r.Name, "a", "v"); err != nil {
				t.Fatal(err)
			}
			for _, next := range []string{"", "127.0.0.1:0"} {
				life := n.ServerName()
				end(n)
				if _, err := net.Dial("tcp", s.Addr()); err == nil {
					t.Error("it listens")
				}
				if err := n.Restart(next); err != nil {
					t.Fatal(err)
				}
				if (s.Addr() == addr) != (next == "") || n.ServerName() == life {
					t.Errorf("%s after %s", n.ServerName(), life)
				}
				if got := scanCells(t, at(t, s, s.Regions("t")[0]), r.Name); len(got) != 1 {
					t.Error(got)
				}
			}
		})
	}
}
