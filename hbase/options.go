package hbase

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"path"
	"strings"
	"time"

	"brine/hbase/internal/pipeline"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/rpc"
	"brine/hbase/internal/wire"
	"brine/internal/certs"
	"brine/internal/sockets"
)

// Options say where the cluster is and how long and how often the client tries. The names in brackets are HBase's own settings.
type Options struct {
	Connect string // rpc://master1:16000,master2:16000 or zk://zk1:2181,zk2:2181/hbase; also HBase 3's hbase+rpc:// and hbase+zk://
	User    string // effective user of SIMPLE authentication; default: the process's user

	Pause                 time.Duration // [hbase.client.pause] 100 ms
	PauseServerOverloaded time.Duration // [hbase.client.pause.server.overloaded] 500 ms
	Retries               int           // [hbase.client.retries.number] 15: after this many, a mutation fails as Transient
	RPCTimeout            time.Duration // [hbase.rpc.timeout] 60 s, per call
	OperationTimeout      time.Duration // [hbase.client.operation.timeout] 20 min, per mutation or get including its retries
	ScannerTimeout        time.Duration // [hbase.client.scanner.timeout.period] 60 s
	DialTimeout           time.Duration // [hbase.ipc.client.socket.timeout.connect] 10 s

	// ReplicaDelayGet and ReplicaDelayScan are how long a Timeline read waits for the region itself before it also asks the region's replicas.
	ReplicaDelayGet  time.Duration // [hbase.client.primaryCallTimeout.get] 10 ms
	ReplicaDelayScan time.Duration // [hbase.client.replicaCallTimeout.scan] 1 s

	// Patience is how long a read, an admin call or a mutation waits for its answer over all of its tries, however many there are. If zero,
	// Retries and OperationTimeout apply. It is meant for interactive commands: a scan or a procedure continues as long as answers arrive.
	Patience time.Duration

	MaxRequestRows   int // [hbase.client.max.perrequest.rows] 2048
	MaxRequestBytes  int // [hbase.client.max.perrequest.heapsize] 4 MiB
	MaxBufferedBytes int // mutations in memory in all lanes; 64 MiB
	MaxServerCalls   int // [hbase.client.max.perserver.tasks] 2
	MaxCellBytes     int // [hbase.client.keyvalue.maxsize] 10 MiB

	// MaxAnswerBytes is the length of the longest answer that the client reads; a longer one ends its connection before memory is allocated
	// for it. Gets sent together are then retried in halves. The minimum is what a scan asks for plus a cell
	// [hbase.client.scanner.max.result.size]. Default 128 MiB, more than servers send unless a row is longer
	// [hbase.server.scanner.max.result.size].
	MaxAnswerBytes int

	// TCPKeepAlive is the silence after which the operating system probes the other machine. If there is no answer for as long again, the
	// connection ends. Negative: never. A peer that is up but silent while calls are unanswered is given up after RPCTimeout.
	// [hbase.ipc.client.tcpkeepalive] 15 s
	TCPKeepAlive time.Duration
	TCPDelay     bool // small writes may wait for more data [the opposite of hbase.ipc.client.tcpnodelay]

	// Compression of the cell blocks between the client and the region servers, which must have the codec: none (the default), gzip, snappy,
	// lz4 or zstd. It saves network traffic and costs CPU time on both sides.
	Compression string

	// TLS encrypts the RPC connections to masters, region servers and the registry, and those to ZooKeeper if TLS.ZooKeeper is set. With it,
	// nothing is sent in plain text, whatever a server offers. Nil: plain text.
	TLS *TLS

	// ZooKeeperAuth is user:password for the digest scheme, for znodes that are not world-readable. Empty: no authentication.
	ZooKeeperAuth string

	// Kerberos authenticates, and may encrypt, the RPC connections to masters, region servers and the registry, but not those to ZooKeeper.
	// The client refuses a server that does not ask for it. Nil: SIMPLE authentication, in which servers trust User.
	Kerberos *Kerberos

	Dial  func(ctx context.Context, network, addr string) (net.Conn, error) // default: a net.Dialer with the TCP settings above
	Hooks Hooks

	Tracer Tracer // makes spans of operations and calls; nil: none
}

// TLS configures encryption. The PEM files are read again for each new connection, and their current content applies. While they are
// incomplete, their previous content does; see Hooks.Certificates.
type TLS struct {
	CA         string // file of the CAs that signed the servers' certificates; empty: the system's
	Cert, Key  string // client certificate and key files, for servers that ask for one [hbase.server.netty.tls.client.auth.mode]
	ServerName string // name that the servers' certificates must have; empty: the name or address dialled
	ZooKeeper  bool   // encrypt ZooKeeper sessions too, with the same files [zookeeper.client.secure]
	MinVersion uint16 // tls.VersionTLS12 (the default, and all that servers accept by default) or tls.VersionTLS13
}

// defaults are HBase's own, except for limits that HBase does not have.
var defaults = Options{
	Pause:                 100 * time.Millisecond,
	PauseServerOverloaded: 500 * time.Millisecond,
	Retries:               15,
	RPCTimeout:            time.Minute,
	OperationTimeout:      20 * time.Minute,
	ScannerTimeout:        time.Minute,
	DialTimeout:           10 * time.Second,
	ReplicaDelayGet:       10 * time.Millisecond,
	ReplicaDelayScan:      time.Second,
	TCPKeepAlive:          15 * time.Second,
	MaxRequestRows:        2048,
	MaxRequestBytes:       4 << 20,
	MaxBufferedBytes:      64 << 20,
	MaxServerCalls:        2,
	MaxCellBytes:          10 << 20,
	MaxAnswerBytes:        128 << 20,
	Compression:           wire.None.String(),
}

// EnsureDefaults sets zero fields to their defaults. Open calls it.
func (o *Options) EnsureDefaults() {
	o.Pause = cmp.Or(o.Pause, defaults.Pause)
	o.PauseServerOverloaded = cmp.Or(o.PauseServerOverloaded, defaults.PauseServerOverloaded)
	o.Retries = cmp.Or(o.Retries, defaults.Retries)
	o.RPCTimeout = cmp.Or(o.RPCTimeout, defaults.RPCTimeout)
	o.OperationTimeout = cmp.Or(o.OperationTimeout, defaults.OperationTimeout)
	o.ScannerTimeout = cmp.Or(o.ScannerTimeout, defaults.ScannerTimeout)
	o.DialTimeout = cmp.Or(o.DialTimeout, defaults.DialTimeout)
	o.ReplicaDelayGet = cmp.Or(o.ReplicaDelayGet, defaults.ReplicaDelayGet)
	o.ReplicaDelayScan = cmp.Or(o.ReplicaDelayScan, defaults.ReplicaDelayScan)
	o.TCPKeepAlive = cmp.Or(o.TCPKeepAlive, defaults.TCPKeepAlive)
	o.MaxRequestRows = cmp.Or(o.MaxRequestRows, defaults.MaxRequestRows)
	o.MaxRequestBytes = cmp.Or(o.MaxRequestBytes, defaults.MaxRequestBytes)
	o.MaxBufferedBytes = cmp.Or(o.MaxBufferedBytes, defaults.MaxBufferedBytes)
	o.MaxServerCalls = cmp.Or(o.MaxServerCalls, defaults.MaxServerCalls)
	o.MaxCellBytes = cmp.Or(o.MaxCellBytes, defaults.MaxCellBytes)
	o.MaxAnswerBytes = cmp.Or(o.MaxAnswerBytes, max(defaults.MaxAnswerBytes, o.leastAnswer()))
	o.Compression = cmp.Or(o.Compression, defaults.Compression)
	if o.User == "" {
		o.User = processUser()
	}
	if o.Dial == nil {
		o.Dial = tcpDial(o.TCPKeepAlive, o.TCPDelay)
	}
	o.Hooks.ensureDefaults()
}

// tcpDial returns a dial function with the settings Options.TCPKeepAlive and TCPDelay. It does not set TCP_USER_TIMEOUT, because on Linux
// that would also end connections to a server that is up and only reads slowly.
func tcpDial(keepAlive time.Duration, delay bool) func(context.Context, string, string) (net.Conn, error) {
	const probes = 3
	d := &net.Dialer{KeepAlive: -1}
	if keepAlive > 0 {
		d.KeepAliveConfig = net.KeepAliveConfig{Enable: true, Idle: keepAlive, Interval: keepAlive / probes, Count: probes}
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := d.DialContext(ctx, network, addr)
		if tcp, ok := c.(*net.TCPConn); ok && delay {
			err = tcp.SetNoDelay(false)
		}
		return c, sockets.Explain(err)
	}
}

// rpc returns the options of the connections, without TLS.
func (o *Options) rpc() rpc.Options {
	compression, _ := wire.ParseCompression(o.Compression) // checked by Validate
	return rpc.Options{
		User: o.User, Compression: compression, RPCTimeout: o.RPCTimeout, DialTimeout: o.DialTimeout,
		MaxAnswerBytes: o.MaxAnswerBytes, Dial: o.Dial, Called: o.Hooks.Call, Dialled: o.Hooks.Dial, Tracer: o.Tracer,
	}
}

// encrypted returns Dial with TLS on top. It reads the files.
func (o *Options) encrypted() (func(context.Context, string, string) (net.Conn, error), error) {
	files := certs.Files{CA: o.TLS.CA, Cert: o.TLS.Cert, Key: o.TLS.Key}
	store, err := certs.Open(files, func(err error) { o.Hooks.Certificates(CertificatesInfo{err}) })
	if err != nil {
		return nil, fmt.Errorf("hbase: Options.TLS: %w", err)
	}
	client := &certs.Client{Store: store, ServerName: o.TLS.ServerName, MinVersion: o.TLS.MinVersion, Section: "hbase.tls",
		Connect: "hbase.connect"}
	dial, most := o.Dial, o.DialTimeout-o.DialTimeout/10 // less than DialTimeout, so that a caller that waits that long gets the reason
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return client.Encrypt(ctx, conn, addr)
	}, nil
}

// pipeline returns the options of the write path.
func (o *Options) pipeline() pipeline.Options {
	return pipeline.Options{
		MaxRequestRows: o.MaxRequestRows, MaxRequestBytes: o.MaxRequestBytes, MaxBufferedBytes: o.MaxBufferedBytes,
		MaxServerCalls: o.MaxServerCalls, MaxCellBytes: o.MaxCellBytes, OperationTimeout: o.OperationTimeout,
	}
}

// pause returns how long to wait after the given number of earlier failures (0 for the first).
func (o *Options) pause(d remote.Diagnosis, failures int) time.Duration {
	return remote.Pauses{Pause: o.Pause, Overloaded: o.PauseServerOverloaded, Patience: o.Patience}.For(d, failures)
}

func processUser() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	if u := os.Getenv("USER"); u != "" {
		return u
	}
	return "brine"
}

// Validate reports all faults together, each with the field, its value and its bounds. Call EnsureDefaults first.
func (o *Options) Validate() error {
	var errs []error
	if _, err := parseConnect(o.Connect); err != nil {
		errs = append(errs, err)
	}
	if _, err := wire.ParseCompression(o.Compression); err != nil {
		errs = append(errs, fmt.Errorf("hbase: Options.Compression: %w", err))
	}
	if t := o.TLS; t != nil && (t.Cert == "") != (t.Key == "") {
		errs = append(errs, errors.New("hbase: Options.TLS has only one of Cert and Key: set both"))
	}
	if t := o.TLS; t != nil && t.MinVersion != 0 && t.MinVersion != tls.VersionTLS12 && t.MinVersion != tls.VersionTLS13 {
		errs = append(errs, fmt.Errorf("hbase: Options.TLS.MinVersion is %#04x, must be tls.VersionTLS12 or tls.VersionTLS13", t.MinVersion))
	}
	if o.Kerberos != nil {
		errs = append(errs, o.Kerberos.validate())
	}
	for _, d := range []struct {
		name       string
		value, min time.Duration
	}{
		{"Pause", o.Pause, time.Millisecond},
		{"PauseServerOverloaded", o.PauseServerOverloaded, time.Millisecond},
		{"RPCTimeout", o.RPCTimeout, 10 * time.Millisecond},
		{"OperationTimeout", o.OperationTimeout, o.RPCTimeout},
		{"ScannerTimeout", o.ScannerTimeout, 10 * time.Millisecond},
		{"DialTimeout", o.DialTimeout, time.Millisecond},
		{"ReplicaDelayGet", o.ReplicaDelayGet, 0},
		{"ReplicaDelayScan", o.ReplicaDelayScan, 0},
		{"Patience", o.Patience, 0},
	} {
		if d.value < d.min {
			errs = append(errs, fmt.Errorf("hbase: Options.%s is %v, must be at least %v", d.name, d.value, d.min))
		}
	}
	const maxFrame = 1 << 30 // lengths on the wire are int32
	for _, n := range []struct {
		name            string
		value, min, max int
	}{
		{"Retries", o.Retries, 1, pipeline.MaxRetries},
		{"MaxRequestRows", o.MaxRequestRows, 1, 1 << 20},
		{"MaxRequestBytes", o.MaxRequestBytes, 1 << 10, maxFrame},
		{"MaxBufferedBytes", o.MaxBufferedBytes, 1 << 10, 1 << 40},
		{"MaxServerCalls", o.MaxServerCalls, 1, 1 << 10},
		{"MaxCellBytes", o.MaxCellBytes, 1, maxFrame},
		{"MaxAnswerBytes", o.MaxAnswerBytes, o.leastAnswer(), 2 * maxFrame},
	} {
		if n.value < n.min || n.value > n.max {
			errs = append(errs, fmt.Errorf("hbase: Options.%s is %d, must be from %d to %d", n.name, n.value, n.min, n.max))
		}
	}
	return errors.Join(errs...)
}

// leastAnswer is the length of an answer to a scan that keeps to its size limit, give or take a cell.
func (o *Options) leastAnswer() int { return 2*defaultMaxResultBytes + o.MaxCellBytes }

const (
	defaultMasterPort    = "16000"
	defaultZooKeeperPort = "2181"
	defaultZnode         = "/hbase"
	connectForms         = "give the masters as rpc://host:port,host:port (HBase 2.4 or newer), " +
		"or the ZooKeeper servers as zk://host:port,host:port/znode"
)

// connect is a parsed connect string.
type connect struct {
	zooKeeper bool // otherwise addrs are masters
	addrs     []string
	znode     string
}

func parseConnect(s string) (connect, error) {
	scheme, rest, ok := strings.Cut(strings.TrimPrefix(s, "hbase+"), "://") // HBase 3 writes them with this prefix
	port := defaultMasterPort
	var to connect
	switch {
	case s == "":
		return to, errors.New("hbase: Options.Connect is empty: " + connectForms)
	case ok && scheme == "zk":
		var parent string
		rest, parent, _ = strings.Cut(rest, "/")
		to.zooKeeper, to.znode, port = true, defaultZnode, defaultZooKeeperPort
		if parent = strings.TrimSuffix(parent, "/"); parent != "" {
			to.znode = "/" + parent
		}
		if path.Clean(to.znode) != to.znode {
			return to, fmt.Errorf("hbase: Options.Connect is %q: %q is not a znode path", s, to.znode)
		}
	case !ok || scheme != "rpc":
		return to, fmt.Errorf("hbase: Options.Connect is %q: %s", s, connectForms)
	}
	for a := range strings.SplitSeq(rest, ",") {
		a = strings.TrimSpace(a)
		if _, _, err := net.SplitHostPort(a); err != nil {
			a = net.JoinHostPort(strings.Trim(a, "[]"), port)
		}
		if host, port, err := net.SplitHostPort(a); err != nil || host == "" || port == "" {
			return to, fmt.Errorf("hbase: Options.Connect is %q: %q is not host:port", s, a)
		}
		to.addrs = append(to.addrs, a)
	}
	return to, nil
}
