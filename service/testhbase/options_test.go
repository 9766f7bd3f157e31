package testhbase

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"brine/internal/fault"
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

// TestPortsInUse checks that each port in use is reported with its flag.
func TestPortsInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	port := l.Addr().(*net.TCPAddr).Port
	for flag, o := range map[string]Options{
		"--port": {Port: port}, "--zookeeper-port": {ZooKeeperPort: &port}, "--ports": {Ports: strconv.Itoa(port) + "-" + strconv.Itoa(port+2)},
		"--faults": {Faults: l.Addr().String(), FaultsToken: "x"},
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
	_, err := Start(Options{Listen: "127.0.0.1", Data: dir}, slog.New(slog.DiscardHandler))
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
