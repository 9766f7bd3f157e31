// Package testhbase implements brine hbase: an embedded HBase alone, for the tests of any project in any language, on configured ports,
// with fault injection over HTTP for clients with a token. It is documented in docs/test-hbase.md.
//
// The invariant: nothing listens beyond loopback unless asked to, and the port for faults answers nobody without the token.
package testhbase

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"brine/hbase/embedded"
	"brine/hbase/embedded/faulthttp"
	"brine/internal/fault"
	"brine/internal/guard"
	"brine/service/admin"
	"brine/service/stores"
)

// Options configure where the server listens and stores data, and what it requires of clients. The tags define the flags of brine hbase.
type Options struct {
	Port      *int   `xor:"ports" placeholder:"N" help:"Port of a single server that is master and region server (default 16000; 0 for any free port)."`
	Ports     string `xor:"ports" placeholder:"A-B" help:"Ports of several servers: A for the master, and one region server on each of the others up to B."`
	Listen    string `placeholder:"HOST" default:"127.0.0.1" help:"Address to listen on (default 127.0.0.1). 0.0.0.0 stands for all addresses, and requires --advertise."`
	Advertise string `placeholder:"HOST[:PORT]" help:"Address by which clients reach the server, if it differs: behind a port-forward, or in a container."`
	Data      string `type:"path" placeholder:"DIR" help:"Folder for all data, which is kept across restarts (default: tables are kept in memory)."`
	Fsync     bool   `help:"Sync every write to disk before acknowledging it. Otherwise a power failure can lose the latest writes."`

	ZooKeeperPort *int `name:"zookeeper-port" placeholder:"N" help:"Also serve clients that look up HBase in ZooKeeper, on this port (0 for any free port)."`

	TLSCert       string   `name:"tls-cert" type:"path" placeholder:"FILE" help:"Certificate of the server, in PEM: connections are then encrypted."`
	TLSKey        string   `name:"tls-key" type:"path" placeholder:"FILE" help:"Private key of the certificate, in PEM."`
	TLSCA         string   `name:"tls-ca" type:"path" placeholder:"FILE" help:"Certificate authorities, in PEM: clients must present a certificate that one of them signed."`
	TLSMinVersion string   `name:"tls-min-version" enum:"1.2,1.3" default:"1.2" help:"Minimum version of TLS: 1.2 (default) or 1.3."`
	TLSPlainText  bool     `name:"tls-plain-text" help:"Accept plain text on the same port too, as HBase does by default."`
	Keytab        string   `name:"kerberos-keytab" type:"path" placeholder:"FILE" help:"Keytab of the server's principal: clients must then authenticate with Kerberos."`
	QOP           []string `name:"kerberos-qop" placeholder:"QOP,…" help:"Kerberos qualities of protection to offer: auth, auth-int, auth-conf (default: all)."`

	Faults          string `placeholder:"HOST:PORT" help:"Address of an HTTP API that injects faults, for callers with the token."`
	FaultsTokenFile string `type:"path" placeholder:"FILE" help:"File that holds the token for --faults (default: BRINE_HBASE_FAULTS_TOKEN)."`

	FaultsToken string `kong:"-"` // from the file or the environment
}

// TokenVariable is the environment variable of Options.FaultsToken.
const TokenVariable = "BRINE_HBASE_FAULTS_TOKEN"

// defaultPort is not a default of Options.Port, because kong takes a flag with a default for one that was given, beside --ports too.
const defaultPort = 16000

// held limits what the server holds for its clients, so that it stays small.
const held = 32 << 20

// Server is a running HBase.
type Server struct {
	hbase  *embedded.Server
	data   string
	damage stores.Damage
	faults net.Listener // nil without faults
	http   *http.Server
	log    *slog.Logger
}

// Addresses are where clients reach a server. brine hbase --json prints them.
type Addresses struct {
	Connect   string   `json:"connect"` // rpc://HOST:PORT
	Servers   []string `json:"servers"` // HOST:PORT of the region servers
	ZooKeeper string   `json:"zookeeper,omitempty"`
	Faults    string   `json:"faults,omitempty"`
	Data      string   `json:"data,omitempty"`
}

// String formats the addresses for people.
func (a Addresses) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "HBase on %s", a.Connect)
	if len(a.Servers) > 1 {
		fmt.Fprintf(&b, ", %d region servers (%s)", len(a.Servers), strings.Join(a.Servers, ", "))
	}
	if a.ZooKeeper != "" {
		fmt.Fprintf(&b, ", in ZooKeeper on %s", a.ZooKeeper)
	}
	if a.Faults != "" {
		fmt.Fprintf(&b, ", faults on %s", a.Faults)
	}
	if a.Data == "" {
		return b.String() + "; tables are in memory until it stops\n"
	}
	return b.String() + "; tables are in " + a.Data + "\n"
}

// Start starts a server. Its errors have fault kinds: a port or a folder in use, or a wrong flag.
func Start(o Options, log *slog.Logger) (_ *Server, err error) {
	how, err := o.embedded()
	if err != nil {
		return nil, fault.Misused(err)
	}
	s := &Server{log: log, data: o.Data, damage: stores.NewDamage()}
	how.Damaged = s.damage.Report
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if o.Faults != "" {
		if s.faults, err = o.listenFaults(log); err != nil {
			return nil, err
		}
	}
	if s.hbase, err = stores.StartHBase(how, log); err != nil {
		return nil, err
	}
	if s.faults == nil {
		return s, nil
	}
	h, err := faulthttp.Handler(s.hbase, o.FaultsToken)
	if err != nil {
		return nil, fault.Misused(err)
	}
	s.http = &http.Server{
		Handler: h, ConnState: guard.NewConnections(maxFaultConns).Changed, MaxHeaderBytes: maxFaultHeader,
		ReadTimeout: faultTimeout, WriteTimeout: faultTimeout, IdleTimeout: faultTimeout,
	}
	return s, nil
}

// Limits of the port for faults.
const (
	maxFaultConns  = 32
	maxFaultHeader = 16 << 10
	faultTimeout   = time.Minute
)

// embedded returns the options of the embedded server.
func (o *Options) embedded() (e embedded.Options, err error) {
	e = embedded.Options{Dir: o.Data, Advertise: o.Advertise, Fsync: o.Fsync, MaxHeld: held}
	first := defaultPort
	switch {
	case o.Port != nil:
		first = *o.Port
	case o.Ports != "":
		if first, e.Ports, err = parsePorts(o.Ports); err != nil {
			return e, err
		}
		e.Servers = len(e.Ports)
	}
	e.Addr = net.JoinHostPort(o.Listen, strconv.Itoa(first))
	if o.ZooKeeperPort != nil {
		e.ZooKeeper = net.JoinHostPort(o.Listen, strconv.Itoa(*o.ZooKeeperPort))
	}
	if e.TLS, err = o.tls(); err != nil {
		return e, err
	}
	if o.Keytab != "" {
		e.Kerberos = &embedded.Kerberos{Keytab: o.Keytab, QOP: o.QOP}
	} else if len(o.QOP) > 0 {
		return e, errors.New("--kerberos-qop requires --kerberos-keytab")
	}
	if o.Advertise == "" && everyAddress(o.Listen) {
		return e, fmt.Errorf("--listen %s means every address, but clients need one: give it with --advertise HOST[:PORT]", o.Listen)
	}
	e.Listen = func(network, addr string) (net.Listener, error) {
		l, err := net.Listen(network, addr)
		if err != nil {
			err = admin.PortError(err, o.setting(addr, e.ZooKeeper))
		}
		return l, err
	}
	return e, e.Validate()
}

// setting returns the flag that an address comes from.
func (o *Options) setting(addr, zookeeper string) string {
	switch {
	case addr == zookeeper:
		return "--zookeeper-port"
	case o.Ports != "":
		return "--ports"
	}
	return "--port"
}

func everyAddress(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

// parsePorts parses A-B.
func parsePorts(s string) (first int, others []int, err error) {
	a, b, _ := strings.Cut(s, "-")
	from, err1 := strconv.ParseUint(a, 10, 16)
	to, err2 := strconv.ParseUint(b, 10, 16)
	const most = 64
	if err1 != nil || err2 != nil || from == 0 || to < from+2 || to-from > most {
		return 0, nil, fmt.Errorf("--ports %q: give the master's port and the last region server's, such as 16000-16003 for three region "+
			"servers (2 to %d; use --port for one)", s, most)
	}
	for p := from + 1; p <= to; p++ {
		others = append(others, int(p))
	}
	return int(from), others, nil
}

func (o *Options) tls() (*embedded.TLS, error) {
	if o.TLSCert == "" && o.TLSKey == "" {
		if o.TLSCA != "" || o.TLSPlainText {
			return nil, errors.New("--tls-ca and --tls-plain-text require --tls-cert and --tls-key")
		}
		return nil, nil
	}
	if o.TLSCert == "" || o.TLSKey == "" {
		return nil, errors.New("--tls-cert and --tls-key go together")
	}
	t := &embedded.TLS{Cert: o.TLSCert, Key: o.TLSKey, CA: o.TLSCA, PlainText: o.TLSPlainText, MinVersion: tls.VersionTLS12}
	if o.TLSCA != "" {
		t.ClientAuth = embedded.Need
	}
	if o.TLSMinVersion == "1.3" {
		t.MinVersion = tls.VersionTLS13
	}
	return t, nil
}

// listenFaults opens the port for faults, which requires a token.
func (o *Options) listenFaults(log *slog.Logger) (net.Listener, error) {
	if o.FaultsTokenFile != "" {
		text, err := os.ReadFile(o.FaultsTokenFile)
		if err != nil {
			return nil, fault.Misused(fmt.Errorf("--faults-token-file: %w", err))
		}
		o.FaultsToken = strings.TrimSpace(string(text))
	}
	if o.FaultsToken == "" {
		return nil, fault.Misused(fmt.Errorf("--faults needs a token: give --faults-token-file, or set %s", TokenVariable))
	}
	return admin.Listen(o.Faults, "--faults", log)
}

// Addresses returns where clients reach the server.
func (s *Server) Addresses() Addresses {
	a := Addresses{Connect: "rpc://" + s.hbase.Master().Advertised(), ZooKeeper: s.hbase.ZooKeeper(), Data: s.data}
	for _, n := range s.hbase.Nodes() {
		a.Servers = append(a.Servers, n.Advertised())
	}
	if s.faults != nil {
		a.Faults = "http://" + s.faults.Addr().String()
	}
	return a
}

// Run serves until ctx is done or the data folder is found damaged.
func (s *Server) Run(ctx context.Context) error {
	ctx, end := s.damage.Guard(ctx)
	var ended chan struct{}
	if s.http != nil {
		ended = make(chan struct{})
		go func() {
			defer close(ended)
			if err := s.http.Serve(s.faults); !errors.Is(err, http.ErrServerClosed) {
				s.log.Error("the faults port stopped", "error", err)
			}
		}()
	}
	<-ctx.Done()
	if s.http != nil {
		_ = s.http.Close() // a fault in progress ends with the server
		<-ended
	}
	return end(nil)
}

// Close stops the server.
func (s *Server) Close() {
	if s.faults != nil {
		_ = s.faults.Close() // already closed, unless Run was never called
	}
	if s.hbase != nil {
		stores.Close("HBase", s.hbase, s.log)
	}
}
