package hbase

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"brine/bench/chaos/fault"
	"brine/hbase"
)

const (
	ticketLife = time.Minute
	cutEvery   = 30 * time.Second // Kerberos and TLS run when a connection begins
)

// secured reports whether clients need the options of secure.
func (r *run) secured() bool { return r.options != nil }

// logIn writes the settings with which clients get short-lived tickets.
func (r *run) logIn() error {
	conf, err := os.ReadFile(r.procs.Path("run/kdc/krb5.conf"))
	if err != nil {
		return err
	}
	life := fmt.Appendf(nil, "[libdefaults]\n  ticket_lifetime = %.0fs\n", ticketLife.Seconds())
	return os.WriteFile(r.procs.Path("krb5.conf"), bytes.Replace(conf, []byte("[libdefaults]\n"), life, 1), 0o600)
}

// secure adds the options that the cluster requires of a client.
func (r *run) secure(o *hbase.Options) {
	tls, kdc := r.procs.Path("run/secure/tls/"), r.procs.Path("run/kdc/data/")
	o.TLS = &hbase.TLS{CA: tls + "/ca.pem", Cert: tls + "/client.pem", Key: tls + "/client.key"}
	o.Kerberos = &hbase.Kerberos{Principal: "brine", Keytab: kdc + "/brine.keytab", Krb5Conf: r.procs.Path("krb5.conf")}
}

// logins returns the number of ticket-granting tickets that the KDC issued to brine.
func (r *run) logins() (n int, err error) {
	log, err := os.ReadFile(r.procs.Path("run/kdc/log"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, ": ISSUE: ") && strings.Contains(line, " brine@") && strings.Contains(line, " for krbtgt/") {
			n++
		}
	}
	return n, nil
}

// cutter dials connections, and cuts them.
type cutter struct {
	mu    sync.Mutex
	conns []net.Conn
	cut   int
}

func (c *cutter) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns = append(c.conns, conn)
	return conn, nil
}

// every cuts all connections at an interval until ctx is done.
func (c *cutter) every(ctx context.Context, d time.Duration) {
	for fault.Pause(ctx, d) == nil {
		c.now()
	}
}

// now cuts all connections. It does not count those that had already ended.
func (c *cutter) now() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		if conn.Close() == nil {
			c.cut++
		}
	}
	c.conns = nil
}

func (c *cutter) cuts() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cut
}
