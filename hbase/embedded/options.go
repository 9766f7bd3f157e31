package embedded

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"brine/hbase/embedded/internal/store"
	"brine/internal/gssapi"

	"github.com/cockroachdb/pebble/v2"
)

// Errors of Start that callers test with errors.Is.
var (
	ErrInUse       = store.ErrInUse       // another server, of this process or another one, has the data folder open
	ErrNewerFormat = store.ErrNewerFormat // the data folder was written by a newer version
	ErrDamaged     = store.ErrDamaged     // a file of the data folder, which the error names, is not what was written
)

// Options are where the server listens and stores, and its limits. The zero value is a server in memory on a free loopback port.
type Options struct {
	Dir  string // data folder, made when it does not exist; empty: in memory, until Close
	Addr string // host:port to listen on; default 127.0.0.1:0, a free port

	// Listen opens the listeners, for networks other than the machine's own; default net.Listen.
	Listen func(network, addr string) (net.Listener, error)

	// TLS is what all listeners speak; nil: plain text.
	TLS *TLS

	// Kerberos lets in only clients with a ticket for the server; nil: everybody is let in.
	Kerberos *Kerberos

	// Release is the HBase as which the server answers: 2.6, the default, or 3.0, where namespaces are rows of hbase:meta and servers report
	// reads and writes.
	Release string

	// Servers is how many region servers there are; default 1, on Addr together with the master. When there are more, Addr is
	// the master's and registry's, and they listen on Ports of its host, or on free ones.
	Servers int
	Ports   []int // of the region servers when there are several, one for each; default free ones

	// Advertise is the host, or host:port, by which clients reach Addr where that is another one: behind a port-forward, in a container.
	// Region servers with ports of their own are reached at ports that are as far from it as theirs are from Addr's. It is required when
	// Addr is every address of the machine, since a server is known by one name.
	Advertise string

	ZooKeeper string // host:port of a ZooKeeper of the server's own, by which older clients find it; empty: none

	DetectAfter  time.Duration // from a node's death until the master notices; default 100 ms
	InTransition time.Duration // how long regions that move, split, merge or are assigned stay closed; see also Server.Hold

	// Fsync makes an acknowledgement wait until the disk has the write. Without it the acknowledgement waits for the
	// operating system: what was acknowledged survives a kill -9 of the process, but not a failure of power.
	Fsync bool

	Clock        func() time.Time // the server's time; default time.Now
	ScannerLease time.Duration    // how long a scanner waits for its next call; default 60 s, as HBase
	Heartbeat    int              // rows that a filter leaves out before a scan is answered without any; default 100,000 (HBase: by time)
	MaxHeld      int              // bytes of pending requests and answers; clients that do not read are cut off first; default 64 MiB
	MaxRequest   int              // bytes of a request; more is a RequestTooBigException; default half of MaxHeld (HBase: 256 MiB)
	MaxResult    int              // bytes of an answer's cells, give or take a row; default 16 MiB (HBase: 100), for the whole process has 200
	MaxCell      int              // bytes of a cell; default 10 MiB, as HBase's hbase.server.keyvalue.maxsize

	// Applied, when set, is called with every mutation in the order in which they are applied, region by region. It makes
	// writers of one region wait for each other, so it is for tests. It must not block or call the server.
	Applied func(Applied)

	// Damaged, when set, is called once, with an ErrDamaged that names the file, when what is stored turns out to be damaged while it is
	// read: from then on the server may answer exceptions forever. It must not block or call the server.
	Damaged func(error)

	Warn   func(error)   // called with what fails outside of calls and is retried; it must not block; default: silent
	Logger pebble.Logger // of the storage engine; default: silent
}

// TLS is how the server's connections are encrypted, by files in PEM that are read again for each of them. What is wrong with files that
// have changed goes to Options.Warn, and those before stay.
type TLS struct {
	Cert, Key  string     // files of the server's certificate and its key
	CA         string     // file of the authorities that clients' certificates are signed by
	ClientAuth ClientAuth // default: no certificate is asked for
	MinVersion uint16     // default tls.VersionTLS12
	PlainText  bool       // the same port takes plain text as well [hbase.server.netty.tls.supportplaintext, there true unless set]
}

// ClientAuth is what the server wants of clients' certificates [hbase.server.netty.tls.client.auth.mode].
type ClientAuth string

// The words are HBase's, whose default is Need.
const (
	None ClientAuth = "none"
	Want ClientAuth = "want" // one that is shown must be good
	Need ClientAuth = "need"
)

var clientAuth = map[ClientAuth]tls.ClientAuthType{
	"": tls.NoClientCert, None: tls.NoClientCert, Want: tls.VerifyClientCertIfGiven, Need: tls.RequireAndVerifyClientCert,
}

func (t *TLS) validate() error {
	var faults []error
	if t.Cert == "" || t.Key == "" {
		faults = append(faults, errors.New("embedded: Options.TLS lacks Cert or Key, which a server must have"))
	}
	auth, known := clientAuth[t.ClientAuth]
	if !known {
		faults = append(faults, fmt.Errorf("embedded: Options.TLS.ClientAuth is %q, it must be none, want or need", t.ClientAuth))
	}
	if known && auth != tls.NoClientCert && t.CA == "" {
		faults = append(faults, fmt.Errorf("embedded: Options.TLS.ClientAuth is %s, and CA names no authorities", t.ClientAuth))
	}
	return errors.Join(faults...)
}

// Kerberos is how clients are authenticated. Who they are is not asked for any further: all may do everything.
type Kerberos struct {
	Keytab string   // file with the keys of the server's principal; it is read at the start
	QOP    []string // qualities of protection that are offered [hbase.rpc.protection]: auth, auth-int, auth-conf; default all
}

// open reads the keytab.
func (k *Kerberos) open() (*authenticator, error) {
	var a authenticator
	for _, name := range k.QOP {
		q, err := gssapi.ParseQOP(name)
		if err != nil {
			return nil, fmt.Errorf("embedded: Options.Kerberos.QOP: %w", err)
		}
		a.offered |= q
	}
	if a.offered == 0 {
		a.offered = gssapi.Auth | gssapi.Int | gssapi.Conf
	}
	var err error
	if a.acceptor, err = gssapi.NewAcceptor(k.Keytab); err != nil {
		return nil, fmt.Errorf("embedded: Options.Kerberos: %w", err)
	}
	return &a, nil
}

// Applied is one mutation that was applied.
type Applied struct {
	Node   int    // index in Server.Nodes
	Table  string // namespace:name, or name in the default namespace
	Region string // encoded name
	Row    []byte
	Cells  int
	Values [][]byte // of the cells, in their order
}

// EnsureDefaults sets what is left out.
func (o *Options) EnsureDefaults() {
	o.Addr = cmp.Or(o.Addr, "127.0.0.1:0")
	if o.Listen == nil {
		o.Listen = net.Listen
	}
	o.Release = cmp.Or(o.Release, "2.6")
	o.Servers = cmp.Or(o.Servers, 1)
	o.DetectAfter = cmp.Or(o.DetectAfter, 100*time.Millisecond)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	o.ScannerLease = cmp.Or(o.ScannerLease, time.Minute)
	o.Heartbeat = cmp.Or(o.Heartbeat, 100_000)
	o.MaxHeld = cmp.Or(o.MaxHeld, 64<<20)
	o.MaxRequest = cmp.Or(o.MaxRequest, o.MaxHeld/2)
	o.MaxResult = cmp.Or(o.MaxResult, 16<<20)
	o.MaxCell = cmp.Or(o.MaxCell, 10<<20)
}

// Validate returns all faults of the options, joined.
func (o *Options) Validate() error {
	faults := []error{o.validateAddresses()}
	if o.TLS != nil {
		faults = append(faults, o.TLS.validate())
	}
	if o.Release != "" && releases[o.Release] == "" {
		faults = append(faults, fmt.Errorf("embedded: Options.Release is %q, it must be 2.6 or 3.0", o.Release))
	}
	for _, f := range []struct {
		name     string
		negative bool
		value    any
	}{
		{"Servers", o.Servers < 0, o.Servers},
		{"DetectAfter", o.DetectAfter < 0, o.DetectAfter},
		{"InTransition", o.InTransition < 0, o.InTransition},
		{"ScannerLease", o.ScannerLease < 0, o.ScannerLease},
		{"Heartbeat", o.Heartbeat < 0, o.Heartbeat},
		{"MaxHeld", o.MaxHeld < 0, o.MaxHeld},
		{"MaxRequest", o.MaxRequest < 0, o.MaxRequest},
		{"MaxResult", o.MaxResult < 0, o.MaxResult},
		{"MaxCell", o.MaxCell < 0, o.MaxCell},
	} {
		if f.negative {
			faults = append(faults, fmt.Errorf("embedded: Options.%s is %v, it must be positive", f.name, f.value))
		}
	}
	return errors.Join(faults...)
}

func (o *Options) validateAddresses() error {
	if o.Addr == "" && o.Advertise == "" && len(o.Ports) == 0 {
		return nil
	}
	var faults []error
	host, _, err := net.SplitHostPort(cmp.Or(o.Addr, "127.0.0.1:0"))
	if err != nil {
		faults = append(faults, fmt.Errorf("embedded: Options.Addr: %w", err))
	}
	if ip := net.ParseIP(host); err == nil && o.Advertise == "" && (host == "" || ip != nil && ip.IsUnspecified()) {
		faults = append(faults, fmt.Errorf("embedded: Options.Addr %q is every address, and Advertise does not say by which one clients come",
			o.Addr))
	}
	if _, _, err := o.advertised(); err != nil {
		faults = append(faults, fmt.Errorf("embedded: Options.Advertise: %w", err))
	}
	if n := len(o.Ports); n > 0 && n != o.Servers {
		faults = append(faults, fmt.Errorf("embedded: Options.Ports are %d, of %d region servers", n, o.Servers))
	}
	return errors.Join(faults...)
}

// advertised returns what Advertise says; port 0: as the listeners'.
func (o *Options) advertised() (host string, port uint16, err error) {
	if !strings.Contains(o.Advertise, ":") || net.ParseIP(o.Advertise) != nil {
		return o.Advertise, 0, nil
	}
	host, text, err := net.SplitHostPort(o.Advertise)
	if err != nil {
		return "", 0, err
	}
	number, err := strconv.ParseUint(text, 10, 16)
	if err == nil && host == "" {
		err = errors.New("it names no host")
	}
	return host, uint16(number), err
}
