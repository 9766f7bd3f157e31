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

// Errors of Start, for use with errors.Is.
var (
	ErrInUse       = store.ErrInUse       // another server, in this process or another, has the data folder open
	ErrNewerFormat = store.ErrNewerFormat // the data folder was written by a newer version
	ErrDamaged     = store.ErrDamaged     // a file of the data folder, named by the error, is not what was written
)

// Options configure where the server listens and stores, and its limits. The zero value is an in-memory server on a free loopback port.
type Options struct {
	Dir  string // data folder, created if missing; empty: in memory, until Close
	Addr string // host:port to listen on; default 127.0.0.1:0, a free port

	// Listen opens the listeners, for networks other than the machine's own; default net.Listen.
	Listen func(network, addr string) (net.Listener, error)

	// TLS is the encryption of all listeners; nil: plain text.
	TLS *TLS

	// Kerberos admits only clients with a ticket for the server; nil: no authentication.
	Kerberos *Kerberos

	// Release is the HBase release whose behaviour the server shows: 2.6, the default, or 3.0, where namespaces are rows of hbase:meta and
	// servers report reads and writes.
	Release string

	// Servers is the number of region servers; default 1, on Addr together with the master. If there are more, Addr belongs to the master and
	// registry, and the region servers listen on Ports of its host, or on free ones.
	Servers int
	Ports   []int // of the region servers if there are several, one each; default free ones

	// Advertise is the host, or host:port, at which clients reach Addr if that differs from Addr: behind a port-forward, in a container.
	// Region servers on ports of their own are reached at the same distance from the advertised port as their ports have from Addr's.
	// Advertise is required if Addr is every address of the machine, because a server has only one name.
	Advertise string

	ZooKeeper string // host:port for the server's own ZooKeeper, with which older clients find it; empty: none

	DetectAfter  time.Duration // from a node's death until the master notices; default 100 ms
	InTransition time.Duration // how long regions stay closed when they move, split, merge or are assigned; see also Server.Hold

	// Fsync makes an acknowledgement wait until the write is on disk. Without it the acknowledgement waits only for the operating system:
	// acknowledged writes survive a kill -9 of the process, but not a power failure.
	Fsync bool

	Clock        func() time.Time // the server's time; default time.Now
	ScannerLease time.Duration    // how long a scanner waits for its next call; default 60 s, as in HBase
	Heartbeat    int              // rows that a filter may drop before a scan is answered without any; default 100,000 (HBase: by time)
	MaxHeld      int              // bytes of pending requests and answers; clients that do not read are cut off first; default 64 MiB
	MaxRequest   int              // bytes of a request; a larger one gets a RequestTooBigException; default half of MaxHeld (HBase: 256 MiB)
	MaxResult    int              // bytes of an answer's cells, give or take a row; default 16 MiB (HBase: 100), as the process has 200 in all
	MaxCell      int              // bytes of a cell; default 10 MiB, like HBase's hbase.server.keyvalue.maxsize

	// Applied, if set, is called with every mutation in the order in which they are applied, region by region. It makes writers of one region
	// wait for each other, so it is for tests. It must not block or call the server.
	Applied func(Applied)

	// Damaged, if set, is called once, with an ErrDamaged that names the file, when a read finds that stored data is damaged. From then on the
	// server may answer exceptions forever. Damaged must not block or call the server.
	Damaged func(error)

	Warn   func(error)   // called with errors that occur outside of calls and are retried; must not block; default: silent
	Logger pebble.Logger // of the storage engine; default: silent
}

// TLS configures the encryption of the server's connections, with PEM files that are read again for each connection. Errors in changed
// files go to Options.Warn, and the previous contents stay in use.
type TLS struct {
	Cert, Key  string     // files of the server's certificate and key
	CA         string     // file of the authorities that sign clients' certificates
	ClientAuth ClientAuth // default: no certificate is requested
	MinVersion uint16     // default tls.VersionTLS12
	PlainText  bool       // accept plain text on the same port [hbase.server.netty.tls.supportplaintext, which defaults to true]
}

// ClientAuth is what the server requires of clients' certificates [hbase.server.netty.tls.client.auth.mode].
type ClientAuth string

// The values are HBase's, whose default is Need.
const (
	None ClientAuth = "none"
	Want ClientAuth = "want" // a certificate is optional, but must be valid
	Need ClientAuth = "need"
)

var clientAuth = map[ClientAuth]tls.ClientAuthType{
	"": tls.NoClientCert, None: tls.NoClientCert, Want: tls.VerifyClientCertIfGiven, Need: tls.RequireAndVerifyClientCert,
}

func (t *TLS) validate() error {
	var faults []error
	if t.Cert == "" || t.Key == "" {
		faults = append(faults, errors.New("embedded: Options.TLS lacks Cert or Key, but a server needs both"))
	}
	auth, known := clientAuth[t.ClientAuth]
	if !known {
		faults = append(faults, fmt.Errorf("embedded: Options.TLS.ClientAuth is %q, it must be none, want or need", t.ClientAuth))
	}
	if known && auth != tls.NoClientCert && t.CA == "" {
		faults = append(faults, fmt.Errorf("embedded: Options.TLS.ClientAuth is %s, but CA names no authorities", t.ClientAuth))
	}
	return errors.Join(faults...)
}

// Kerberos configures how clients are authenticated. There is no authorization: every client may do everything.
type Kerberos struct {
	Keytab string   // file with the keys of the server's principal, read at the start
	QOP    []string // qualities of protection to offer [hbase.rpc.protection]: auth, auth-int, auth-conf; default all
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

// Applied is a mutation that was applied.
type Applied struct {
	Node   int    // index in Server.Nodes
	Table  string // namespace:name, or name in the default namespace
	Region string // encoded name
	Row    []byte
	Cells  int
	Values [][]byte // of the cells, in order
}

// EnsureDefaults sets the defaults of fields that are unset.
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

// Validate returns all errors in the options, joined.
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
		faults = append(faults, fmt.Errorf("embedded: Options.Addr %q means every address, but Advertise does not name one for clients",
			o.Addr))
	}
	if _, _, err := o.advertised(); err != nil {
		faults = append(faults, fmt.Errorf("embedded: Options.Advertise: %w", err))
	}
	if n := len(o.Ports); n > 0 && n != o.Servers {
		faults = append(faults, fmt.Errorf("embedded: Options.Ports has %d ports for %d region servers", n, o.Servers))
	}
	return errors.Join(faults...)
}

// advertised returns the host and port of Advertise; port 0 means the listeners' own.
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
