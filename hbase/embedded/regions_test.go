package embedded_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// at dials the region server on which the region is open.
func at(t testing.TB, s *embedded.Server, r embedded.Region) *client {
	t.Helper()
	return dial(t, s.Nodes()[r.Node].Addr(), "ClientService")
}

func getRow(c *client, name []byte, row string) error {
	_, err := c.call("Get", &hbasepb.GetRequest{Region: region(name), Get: &hbasepb.Get{Row: []byte(row)}}, &hbasepb.GetResponse{}, nil)
	return err
}

func putRow(c *client, name []byte, row, value string) error {
	_, err := c.call("Mutate", &hbasepb.MutateRequest{Region: region(name), Mutation: putOf(row, 1)}, &hbasepb.MutateResponse{}, block(cell(row, "e", "q", 1, 4, value)))
	return err
}

// createOn creates a table through the master and returns its regions.
func createOn(t testing.TB, s *embedded.Server, table string, splits ...string) []embedded.Region {
	t.Helper()
	q := &hbasepb.CreateTableRequest{TableSchema: &hbasepb.TableSchema{TableName: tableNamed(table), ColumnFamilies: []*hbasepb.ColumnFamilySchema{family("e")}}}
	for _, k := range splits {
		q.SplitKeys = append(q.SplitKeys, []byte(k))
	}
	dial(t, s.Addr(), "MasterService").must("CreateTable", q, &hbasepb.CreateTableResponse{}, nil)
	return s.Regions(table)
}

// metaRows reads hbase:meta from its server: the columns of info by the row's encoded name.
func metaRows(t testing.TB, s *embedded.Server) map[string]map[string]string {
	t.Helper()
	rows := make(map[string]map[string]string)
	for _, c := range scanCells(t, at(t, s, s.Regions("hbase:meta")[0]), []byte("hbase:meta,,1")) {
		parts := strings.Split(strings.TrimSuffix(string(c.Row), "."), ".")
		encoded := parts[len(parts)-1]
		if rows[encoded] == nil {
			rows[encoded] = make(map[string]string)
		}
		rows[encoded][string(c.Qualifier)] = string(c.Value)
	}
	return rows
}

func infoOf(t testing.TB, value string) *hbasepb.RegionInfo {
	t.Helper()
	info := new(hbasepb.RegionInfo)
	raw, ok := strings.CutPrefix(value, "PBUF")
	if err := proto.Unmarshal([]byte(raw), info); err != nil || !ok {
		t.Fatalf("%q is no region's description: %v", value, err)
	}
	return info
}

func seqOf(value string) (n int64) {
	for _, b := range []byte(value) {
		n = n<<8 | int64(b)
	}
	return n
}

// Regions are distributed in turn, the registry and hbase:meta have their locations, and a node serves only its own regions.
func TestServers(t *testing.T) {
	s := start(t, embedded.Options{Servers: 3})
	regions := createOn(t, s, "t", "b", "c", "d", "e", "f")
	count := make([]int, 3)
	meta := metaRows(t, s)
	for _, r := range regions {
		count[r.Node]++
		n := s.Nodes()[r.Node]
		if row := meta[r.Encoded]; row["server"] != n.Addr() || row["sn"] != n.ServerName() || row["state"] != "OPEN" {
			t.Errorf("%s is on %s: %q", r.Name, n.ServerName(), row)
		}
		if err := getRow(at(t, s, r), r.Name, string(r.Start)+"0"); err != nil {
			t.Error(err)
		}
		elsewhere := r
		elsewhere.Node = (r.Node + 1) % 3
		wantException(t, getRow(at(t, s, elsewhere), r.Name, "x"), hbase+"NotServingRegionException", false)
	}
	if !slices.Equal(count, []int{2, 2, 2}) {
		t.Error(count)
	}
	for _, addr := range []string{s.Addr(), s.Nodes()[0].Addr(), s.Nodes()[2].Addr()} {
		c := dial(t, addr, "ClientMetaService")
		master, nodes, location := &hbasepb.GetActiveMasterResponse{}, &hbasepb.GetBootstrapNodesResponse{}, &hbasepb.GetMetaRegionLocationsResponse{}
		c.must("GetActiveMaster", &hbasepb.GetActiveMasterRequest{}, master, nil)
		c.must("GetBootstrapNodes", &hbasepb.GetBootstrapNodesRequest{}, nodes, nil)
		c.must("GetMetaRegionLocations", &hbasepb.GetMetaRegionLocationsRequest{}, location, nil)
		if got := addrOf(master.ServerName); got != s.Addr() {
			t.Errorf("%s: the master is %s, not %s", addr, got, s.Addr())
		}
		if len(nodes.ServerName) != 3 || addrOf(nodes.ServerName[1]) != s.Nodes()[1].Addr() {
			t.Errorf("%s: nodes %v", addr, nodes.ServerName)
		}
		if got := addrOf(location.MetaLocations[0].ServerName); got != s.Nodes()[s.Regions("hbase:meta")[0].Node].Addr() {
			t.Errorf("%s: hbase:meta is on %s", addr, got)
		}
	}
	status := &hbasepb.GetClusterStatusResponse{}
	dial(t, s.Addr(), "MasterService").must("GetClusterStatus", &hbasepb.GetClusterStatusRequest{}, status, nil)
	loads := 0
	for _, l := range status.ClusterStatus.LiveServers {
		loads += len(l.ServerLoad.RegionLoads)
	}
	if len(status.ClusterStatus.LiveServers) != 3 || loads != 7 {
		t.Errorf("%d servers, %d regions", len(status.ClusterStatus.LiveServers), loads)
	}
	_, err := dial(t, s.Nodes()[0].Addr(), "MasterService").call("GetClusterStatus", &hbasepb.GetClusterStatusRequest{}, status, nil)
	wantException(t, err, hbase+"ipc.UnknownServiceException", true)
}

func addrOf(n *hbasepb.ServerName) string { return fmt.Sprintf("%s:%d", n.GetHostName(), n.GetPort()) }

// held makes the next transitions wait. It returns a function that releases them and a channel that reports waiting ones.
func held(s *embedded.Server) (release func(), waiting <-chan embedded.Transition) {
	until, in := make(chan struct{}), make(chan embedded.Transition, 16)
	remove := s.Hold(func(tr embedded.Transition) <-chan struct{} {
		in <- tr
		return until
	})
	return func() { remove(); close(until) }, in
}

// While a region moves, its old server names the new one, and the new one answers that the region is opening. Then the new one has it, with
// a greater sequence number, and the old one names it until it forgets.
func TestMove(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	clock := &testClock{now: now}
	s := start(t, embedded.Options{Servers: 2, Clock: clock.Now})
	r := createOn(t, s, "t")[0]
	from, to := s.Nodes()[r.Node], s.Nodes()[1-r.Node]
	before := metaRows(t, s)[r.Encoded]
	old := at(t, s, r)
	if err := putRow(old, r.Name, "a", "v"); err != nil {
		t.Fatal(err)
	}
	release, waiting := held(s)
	moved := make(chan error, 1)
	go func() { moved <- s.Move(r.Encoded, to) }()
	if tr := <-waiting; tr.Kind != "move" || tr.Table != "t" || !slices.Equal(tr.Regions, []string{r.Encoded}) {
		t.Error(tr)
	}
	wantMoved := func(err error) int64 {
		t.Helper()
		wantException(t, err, hbase+"exceptions.RegionMovedException", false)
		e := exception(err)
		var host string
		var port, code, seq int64
		text := strings.NewReplacer(".", " ").Replace(strings.SplitN(strings.SplitN(e.GetStackTrace(), "Region moved to: ", 2)[1], "\n", 2)[0])
		text = strings.ReplaceAll(text, "127 0 0 1", "127.0.0.1")
		if _, err := fmt.Sscanf(text, "hostname=%s port=%d startCode=%d  As of locationSeqNum=%d", &host, &port, &code, &seq); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if got := fmt.Sprintf("%s,%d,%d", host, port, code); got != to.ServerName() || e.GetHostname() != host || int64(e.GetPort()) != port {
			t.Errorf("moved to %s, want %s: %v", got, to.ServerName(), e)
		}
		return seq
	}
	seq := wantMoved(getRow(old, r.Name, "a"))
	fresh := dial(t, to.Addr(), "ClientService")
	wantException(t, getRow(fresh, r.Name, "a"), hbase+"exceptions.RegionOpeningException", false)
	if row := metaRows(t, s)[r.Encoded]; row["state"] != "OPENING" || row["sn"] != to.ServerName() || row["server"] != from.Addr() {
		t.Errorf("%q", row)
	}
	if err := s.Move(r.Encoded, nil); err == nil || !strings.Contains(err.Error(), "is currently in transition") {
		t.Error(err)
	}
	release()
	if err := <-moved; err != nil {
		t.Fatal(err)
	}
	if err := getRow(fresh, r.Name, "a"); err != nil {
		t.Error(err)
	}
	wantMoved(getRow(old, r.Name, "a"))
	row := metaRows(t, s)[r.Encoded]
	if after, was := seqOf(row["seqnumDuringOpen"]), seqOf(before["seqnumDuringOpen"]); row["server"] != to.Addr() || row["state"] != "OPEN" || was >= seq || seq >= after {
		t.Errorf("sequence numbers %d, %d, %d: %q", was, seq, after, row)
	}
	clock.Add(2*time.Minute + time.Millisecond)
	wantException(t, getRow(old, r.Name, "a"), hbase+"NotServingRegionException", false)
	if err := s.Move(r.Encoded, nil); err != nil {
		t.Fatal(err)
	}
	if err := getRow(old, r.Name, "a"); err != nil {
		t.Error("back again:", err)
	}
}
