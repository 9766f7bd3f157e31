package embedded_test

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
)

// TestAdvertisedAddresses: the registry and hbase:meta name a server by the address in Advertise, and region servers with ports of their
// own keep their distance from it.
func TestAdvertisedAddresses(t *testing.T) {
	s := start(t, embedded.Options{Servers: 2, Advertise: "hbase.example:26000"})
	port := func(addr string) int {
		_, text, err := net.SplitHostPort(addr)
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var want []string
	for _, n := range s.Nodes() {
		at := (26000 + port(n.Addr()) - port(s.Addr()) + 1<<16) % (1 << 16)
		want = append(want, "hbase.example:"+strconv.Itoa(at))
		if n.Advertised() != want[n.Index()] || !strings.HasPrefix(n.ServerName(), "hbase.example,"+strconv.Itoa(at)+",") {
			t.Errorf("node %d is %s, %s; want %s", n.Index(), n.Advertised(), n.ServerName(), want[n.Index()])
		}
	}
	if s.Master().Advertised() != "hbase.example:26000" {
		t.Errorf("the master is %s", s.Master().Advertised())
	}
	r := &hbasepb.GetBootstrapNodesResponse{}
	dial(t, s.Addr(), "ClientMetaService").must("GetBootstrapNodes", &hbasepb.GetBootstrapNodesRequest{}, r, nil)
	var got []string
	for _, n := range r.ServerName {
		got = append(got, net.JoinHostPort(n.GetHostName(), strconv.Itoa(int(n.GetPort()))))
	}
	if !slices.Equal(got, want) {
		t.Errorf("bootstrap nodes are %v, want %v", got, want)
	}
}

// TestAdvertisedHostKeepsPorts: a host alone leaves the ports unchanged.
func TestAdvertisedHostKeepsPorts(t *testing.T) {
	s := start(t, embedded.Options{Advertise: "hbase.example"})
	_, port, err := net.SplitHostPort(s.Addr())
	if err != nil || s.Master().Advertised() != "hbase.example:"+port {
		t.Errorf("%s is advertised as %s (%v)", s.Addr(), s.Master().Advertised(), err)
	}
}

func TestAddressesThatCannotBe(t *testing.T) {
	for name, o := range map[string]embedded.Options{
		"every address": {Addr: "0.0.0.0:0"}, "every address of IPv6": {Addr: "[::]:0"}, "no host": {Addr: ":0"}, "no port": {Addr: "127.0.0.1"},
		"a port that is none": {Advertise: "h:66000"}, "no host to advertise": {Advertise: ":1"}, "fewer ports": {Servers: 3, Ports: []int{1, 2}},
	} {
		if s, err := embedded.Start(o); err == nil {
			t.Errorf("%s: it started", name)
			_ = s.Close()
		} else if !strings.HasPrefix(err.Error(), "embedded: Options.") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
