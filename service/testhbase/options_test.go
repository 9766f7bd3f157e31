package testhbase

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"brine/hbase/hbasetest"
	"brine/internal/fault"
	"brine/internal/testenv"
)

// TestFlagsThatAreRefused checks that senseless flags are usage errors that name the flag, and that nothing listens then.
func TestFlagsThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"every address without a name": {Options{Listen: "0.0.0.0"}, "--advertise"},
		"every address of IPv6":        {Options{Listen: "::"}, "--advertise"},
		"ports that are none":          {Options{Listen: "127.0.0.1", Ports: "a-b"}, "--ports"},
		"one server on two ports":      {Options{Listen: "127.0.0.1", Ports: "16000-16001"}, "--ports"},
		"ports the wrong way round":    {Options{Listen: "127.0.0.1", Ports: "16003-16000"}, "--ports"},
		"a certificate without a key":  {Options{Listen: "127.0.0.1", TLSCert: "x"}, "--tls-key"},
		"authorities alone":            {Options{Listen: "127.0.0.1", TLSCA: "x"}, "--tls-ca"},
		"quality without a keytab":     {Options{Listen: "127.0.0.1", QOP: []string{"auth"}}, "--kerberos-qop"},
		"faults without a token":       {Options{Listen: "127.0.0.1", Faults: "127.0.0.1:0"}, "--faults-token-file"},
		"a token file that is not":     {Options{Listen: "127.0.0.1", Faults: "127.0.0.1:0", FaultsTokenFile: "/nowhere"}, "--faults-token-file"},
	} {
		s, err := Start(c.o, slog.New(slog.DiscardHandler))
		if err == nil {
			s.Close()
		}
		if known, is := errors.AsType[*fault.Error](err); !is || known.Kind != fault.Usage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want a wrong command line that names %s", name, err, c.want)
		}
	}
}

// TestPortOrPorts checks which addresses follow from the flags of ports as they are written, and that only one of them is accepted.
func TestPortOrPorts(t *testing.T) {
	for _, c := range []struct {
		args    []string
		addr    string
		servers int
		refused string
	}{
		{args: nil, addr: "127.0.0.1:16000"},
		{args: []string{"--port", "0"}, addr: "127.0.0.1:0"},
		{args: []string{"--ports", "16000-16003"}, addr: "127.0.0.1:16000", servers: 3},
		{args: []string{"--ports", "17000-17002", "--port", "16000"}, refused: "--port and --ports can't be used together"},
	} {
		o, err := parse(c.args...)
		if c.refused != "" {
			if err == nil || err.Error() != c.refused {
				t.Errorf("%q: %v, want %s", c.args, err, c.refused)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.args, err)
			continue
		}
		e, err := o.embedded()
		if err != nil || e.Addr != c.addr || e.Servers != c.servers || len(e.Ports) != c.servers {
			t.Errorf("%q: %s, %d servers on %v; %v", c.args, e.Addr, e.Servers, e.Ports, err)
		}
	}
}

// TestSeveralServers checks that --ports starts a region server on each port after the master's, and that clients find them.
func TestSeveralServers(t *testing.T) {
	for {
		first, err := strconv.Atoi(strings.TrimPrefix(testenv.Port(t), "127.0.0.1:"))
		if err != nil {
			t.Fatal(err)
		}
		o, err := parse("--ports", fmt.Sprintf("%d-%d", first, first+2))
		if err != nil {
			t.Fatal(err)
		}
		s, err := Start(o, slog.New(slog.DiscardHandler))
		if known, is := errors.AsType[*fault.Error](err); is && known.Kind == fault.Port || first+2 > 65535 {
			continue // one of the next ports is in use
		}
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		a := s.Addresses()
		want := Addresses{Connect: fmt.Sprintf("rpc://127.0.0.1:%d", first), Servers: []string{
			fmt.Sprintf("127.0.0.1:%d", first+1), fmt.Sprintf("127.0.0.1:%d", first+2),
		}}
		if !reflect.DeepEqual(a, want) {
			t.Errorf("%+v, want %+v", a, want)
		}
		hbasetest.Conform(t, hbasetest.Go, a.Connect, "go_", scripts(t)[:1], false)
		return
	}
}

// TestPortsInUse checks that each port in use is reported with its flag.
func TestPortsInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	port := l.Addr().(*net.TCPAddr).Port
	for flag, o := range map[string]Options{
		"--port": {Port: &port}, "--zookeeper-port": {ZooKeeperPort: &port}, "--ports": {Ports: strconv.Itoa(port) + "-" + strconv.Itoa(port+2)},
		"--faults": {Port: new(int), Faults: l.Addr().String(), FaultsToken: "x"},
	} {
		o.Listen = "127.0.0.1"
		s, err := Start(o, slog.New(slog.DiscardHandler))
		if err == nil {
			s.Close()
		}
		if known, is := errors.AsType[*fault.Error](err); !is || known.Kind != fault.Port || !strings.Contains(err.Error(), flag+":") {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

// TestFolderInUse checks that a second server on a folder reports it, and that the first continues.
func TestFolderInUse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	start(t, Options{Listen: "127.0.0.1", Data: dir})
	_, err := Start(Options{Listen: "127.0.0.1", Port: new(int), Data: dir}, slog.New(slog.DiscardHandler))
	if known, is := errors.AsType[*fault.Error](err); !is || known.Kind != fault.Data {
		t.Errorf("a second server on the folder: %v", err)
	}
}

// TestAddressesForPeople checks that one line names all addresses.
func TestAddressesForPeople(t *testing.T) {
	free := 0
	s := start(t, Options{Listen: "127.0.0.1", Advertise: "hbase.test:26000", ZooKeeperPort: &free, Faults: "127.0.0.1:0", FaultsToken: "x"})
	a := s.Addresses()
	text := a.String()
	for _, part := range []string{"HBase on rpc://hbase.test:26000", "ZooKeeper on " + a.ZooKeeper, "faults on http://127.0.0.1:", "in memory"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q lacks %q", text, part)
		}
	}
	if strings.Count(text, "\n") != 1 {
		t.Errorf("%q is not one line", text)
	}
}

// TestGuideIsTheExample checks that the test helper shown in docs/test-hbase.md is a running test.
func TestGuideIsTheExample(t *testing.T) {
	page, err := os.ReadFile("../../docs/test-hbase.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("../../hbase/hbasetest/example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "```go\n")
	shown, _, _ = strings.Cut(shown, "```")
	if len(shown) < 100 || !strings.Contains(string(example), shown) {
		t.Errorf("the page shows what no test runs:\n%s", shown)
	}
}
