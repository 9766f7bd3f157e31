package certs

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Client encrypts connections to servers.
type Client struct {
	Store      *Store
	ServerName string // name that servers' certificates must have; empty: the dialled host
	MinVersion uint16 // 0: TLS 1.2

	Section string // section of the settings, for fixes: hbase.tls
	Connect string // setting of the servers' addresses: hbase.connect
}

// Encrypt encrypts a connection to host:port, within ctx. If that fails, it returns an *Error and closes the connection. The returned
// connection explains an alert that the server may send later: in TLS 1.3 the server has read our certificate only after our side is done.
func (c *Client) Encrypt(ctx context.Context, plain net.Conn, addr string) (net.Conn, error) {
	began := time.Now()
	held := c.Store.now()
	config := held.dialling(c.ServerName)
	config.MinVersion = cmp.Or(c.MinVersion, config.MinVersion)
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, errors.Join(err, plain.Close())
		}
		config.ServerName = host
	}
	conn := tls.Client(plain, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = plain.Close() // the error of the handshake says more
		return nil, c.explain(ctx, err, held.own != nil, time.Since(began))
	}
	return &explained{Conn: conn, client: c, own: held.own != nil}, nil
}

// explained is a connection whose errors explain the server's alerts. Once a write has failed because the server ended the connection,
// nothing more can be read from it: the write has looked for the alert behind everything that had arrived.
type explained struct {
	*tls.Conn
	client *Client
	own    bool        // we had a certificate to show
	ended  atomic.Bool // a write has failed
}

func (c *explained) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.ended.Load() {
		for n = 0; err == nil; {
			_, err = c.Conn.Read(b)
		}
	}
	if err != nil {
		err = c.alerted(err)
	}
	return n, err
}

func (c *explained) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if err == nil {
		return n, nil
	}
	if Ended(err) { // the server's alert, if there is one, explains this
		c.ended.Store(true)
		var last error
		for rest := make([]byte, 4<<10); last == nil; {
			_, last = c.Conn.Read(rest)
		}
		if e := c.client.alert(last, c.own); e != nil {
			return n, e
		}
	}
	return n, c.alerted(err)
}

func (c *explained) alerted(err error) error {
	if e := c.client.alert(err, c.own); e != nil {
		return e
	}
	return err
}

// Error is the reason why a connection could not be encrypted, and the fix.
type Error struct {
	Msg, Fix string
	Err      error
}

func (e *Error) Error() string { return e.Msg + "; " + e.Fix }
func (e *Error) Unwrap() error { return e.Err }

// Advice returns the fix.
func (e *Error) Advice() string { return e.Fix }

// explain returns the reason why a handshake failed.
func (c *Client) explain(ctx context.Context, err error, own bool, after time.Duration) error {
	e := &Error{Err: err}
	if verification, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		e.Msg, e.Fix = c.refused(verification.Err)
		return e
	}
	if alert := c.alert(err, own); alert != nil {
		return alert
	}
	timeout, isTimeout := errors.AsType[net.Error](err)
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case plain:
		e.Msg, e.Fix = "the port does not speak TLS", "enable TLS on the servers, correct "+c.Connect+", or remove "+c.Section
	case errors.Is(ctx.Err(), context.DeadlineExceeded), isTimeout && timeout.Timeout():
		e.Msg = fmt.Sprintf("the TLS handshake was not answered within %v", after.Round(time.Millisecond))
		e.Fix = "check that this is the right port (" + c.Connect + "); a port without TLS may not answer at all: if so, remove " + c.Section
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case Ended(err):
		e.Msg = "the connection was closed during the TLS handshake"
		e.Fix = "a port without TLS does that: enable TLS on the servers, correct " + c.Connect + ", or remove " + c.Section
	case strings.Contains(err.Error(), "protocol version"):
		e.Msg, e.Fix = c.versions()
	default:
		e.Msg = "the TLS handshake failed: " + strings.TrimPrefix(err.Error(), "tls: ")
		e.Fix = "check " + c.Section + " and the servers' TLS settings"
	}
	return e
}

// Ended reports whether an error means that the other side ended the connection.
func Ended(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func (c *Client) versions() (msg, fix string) {
	return "the server supports none of the client's TLS versions, which are " + version(cmp.Or(c.MinVersion, tls.VersionTLS12)) + " or newer",
		"enable a newer one on the servers, or lower " + c.Section + ".min_version"
}

// alert explains the alert with which a server ends a connection; it returns nil if err is not an alert. Alerts have no exported type.
func (c *Client) alert(err error, own bool) error {
	op, ok := errors.AsType[*net.OpError](err)
	if !ok || op.Op != "remote error" {
		return nil
	}
	said := strings.TrimPrefix(op.Err.Error(), "tls: ")
	e := &Error{Err: err}
	switch {
	case strings.Contains(said, "protocol version"):
		e.Msg, e.Fix = c.versions()
	case strings.Contains(said, "unrecognized name"):
		e.Msg, e.Fix = "the server does not know the requested name", "correct "+c.Section+".server_name or "+c.Connect
	case !strings.Contains(said, "certificate") && said != "handshake failure" && said != "access denied":
		e.Msg, e.Fix = "the server closed the TLS connection: "+said, "the server's log says why"
	case own:
		e.Msg = "the server refuses the client's certificate: " + said
		e.Fix = "name in " + c.Section + ".cert one that is valid now, signed by an authority that the servers trust and, if they check " +
			"that, issued for this machine's address; their log says more"
	default:
		e.Msg = "the server requires a client certificate: " + said
		e.Fix = "set " + c.Section + ".cert and " + c.Section + ".key"
	}
	return e
}

// refused explains what is wrong with a server's certificate.
func (c *Client) refused(err error) (msg, fix string) {
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	host, isHost := errors.AsType[x509.HostnameError](err)
	unknown, isUnknown := errors.AsType[x509.UnknownAuthorityError](err)
	const renew = "renew it, or correct this machine's clock"
	switch {
	case isInvalid && invalid.Reason == x509.Expired && time.Now().Before(invalid.Cert.NotBefore):
		return "the server's certificate " + subject(invalid.Cert) + " is not valid before " + when(invalid.Cert.NotBefore), renew
	case isInvalid && invalid.Reason == x509.Expired:
		return "the server's certificate " + subject(invalid.Cert) + " expired at " + when(invalid.Cert.NotAfter), renew
	case isHost:
		return "the server's certificate " + subject(host.Certificate) + " is for " + names(host.Certificate) + ", not for " + host.Host,
			"issue one for that name, or set " + c.Section + ".server_name to a name in it"
	case isUnknown && string(unknown.Cert.RawIssuer) == string(unknown.Cert.RawSubject):
		return "the server's certificate " + subject(unknown.Cert) + " is self-signed, and unknown here",
			"name a file that holds it in " + c.Section + ".ca"
	case isUnknown:
		return "the server's certificate " + subject(unknown.Cert) + " is signed by an unknown authority, " +
				quoted(unknown.Cert.Issuer.String()),
			"name the file of that authority's certificate in " + c.Section + ".ca"
	}
	return "the server's certificate is refused: " + strings.TrimPrefix(err.Error(), "x509: "), "issue one that is valid for a server"
}

func subject(c *x509.Certificate) string { return quoted(c.Subject.String()) }

// names lists the names that a certificate is for.
func names(c *x509.Certificate) string {
	all := c.DNSNames
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	if len(all) == 0 {
		return "no host"
	}
	text := strings.Join(all, ", ")
	if len(text) > shown {
		return quoted(text)
	}
	return strings.Map(printable, text)
}

const shown = 200 // bytes of the server's own description to show

func quoted(s string) string { return fmt.Sprintf("%q", s[:min(shown, len(s))]) }

func printable(r rune) rune {
	if r < ' ' || r > '~' {
		return '?'
	}
	return r
}

func when(t time.Time) string { return t.UTC().Format(time.RFC3339) }
