package gssapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/types"
)

// Options configure the principal that logs in, and the KDCs.
type Options struct {
	Principal   string // name[/instance][@REALM]; default with a ticket cache: its owner
	Keytab      string // file with the principal's keys, or else:
	TicketCache string // file that kinit or a similar program writes, and writes again before the tickets expire
	Krb5Conf    string // default: the file in KRB5_CONFIG, or /etc/krb5.conf

	Dial   func(ctx context.Context, network, addr string) (net.Conn, error) // to the KDCs; default net.Dialer's
	Lookup func(ctx context.Context, addr string) ([]string, error)          // names of an address; default the system's resolver
	// Warn is called with failures of a renewal, which is retried. It must not block.
	Warn func(error)
}

// Login holds a principal's ticket-granting ticket and its tickets for servers. It is safe for concurrent use.
//
// Its goroutine replaces the ticket-granting ticket after 5/6 of its life: with a keytab by logging in again; with a ticket cache by
// reading it again, or else by renewing the ticket. Files are read each time they are needed, so that they can be replaced.
type Login struct {
	opts  Options
	kdcs  kdcs
	named types.PrincipalName // empty: the ticket cache's owner
	realm string

	busy chan struct{} // holds a token while a goroutine talks to a KDC

	mu       sync.Mutex
	granting *Ticket
	servers  map[string]Ticket

	changed chan struct{} // signals a new granting ticket
	cancel  context.CancelFunc
	wg      sync.WaitGroup
}

// NewLogin reads krb5.conf and checks that the files exist. It contacts no KDC; the first Ticket does. Close ends the login.
func NewLogin(o Options) (*Login, error) {
	if o.Dial == nil {
		o.Dial = new(net.Dialer).DialContext
	}
	if o.Lookup == nil {
		o.Lookup = net.DefaultResolver.LookupAddr
	}
	if o.Warn == nil {
		o.Warn = func(error) {}
	}
	if (o.Keytab == "") == (o.TicketCache == "") {
		return nil, errors.New("kerberos: give either a keytab or a ticket cache, not both")
	}
	file := cmp.Or(o.Krb5Conf, os.Getenv("KRB5_CONFIG"), "/etc/krb5.conf")
	conf, err := readConf(file)
	if err != nil {
		return nil, err
	}
	l := &Login{
		opts: o, kdcs: kdcs{conf: conf, dial: o.Dial, now: time.Now},
		busy: make(chan struct{}, 1), servers: make(map[string]Ticket), changed: make(chan struct{}, 1),
	}
	l.named, l.realm = nameOf(o.Principal)
	if l.realm == "" {
		l.realm = conf.LibDefaults.DefaultRealm
	}
	if err := l.check(file); err != nil {
		return nil, err
	}
	var ctx context.Context
	ctx, l.cancel = context.WithCancel(context.Background())
	l.wg.Go(func() { l.keep(ctx) })
	return l, nil
}

// readConf reads krb5.conf. It ignores directives that gokrb5 does not support.
func readConf(file string) (conf *config.Config, err error) {
	b, err := readFile(file)
	if err != nil {
		return nil, fmt.Errorf("kerberos: %w", err)
	}
	err = guarded(file, func() error {
		conf, err = config.NewFromString(string(b))
		if _, unknown := errors.AsType[config.UnsupportedDirective](err); unknown {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("kerberos: %w", err)
	}
	return conf, nil
}

// check checks what can be checked without a KDC.
func (l *Login) check(conf string) error {
	if l.opts.TicketCache != "" {
		file, err := cacheFile(l.opts.TicketCache)
		l.opts.TicketCache = file
		return err
	}
	switch {
	case l.opts.Principal == "":
		return errors.New("kerberos: a keytab may hold keys of several principals: name the principal")
	case l.realm == "":
		return fmt.Errorf("kerberos: the principal %s has no realm, and %s has no default_realm", l.opts.Principal, conf)
	}
	keys, err := readKeytab(l.opts.Keytab)
	if err == nil {
		_, err = etypesOf(keys, l.named, l.realm)
	}
	if err != nil {
		return fmt.Errorf("kerberos: %s: %w", l.opts.Keytab, err)
	}
	return nil
}

// Close ends the goroutine. Tickets already returned stay valid.
func (l *Login) Close() {
	l.cancel()
	l.wg.Wait()
}

// Ticket returns a ticket for a server, named service/host[@REALM]. It reuses a ticket until 5/6 of its life have passed, and longer if no
// KDC answers.
func (l *Login) Ticket(ctx context.Context, server string) (Ticket, error) {
	if t, ok := l.known(server); ok && !t.old(l.kdcs.now()) {
		return t, nil
	}
	if err := l.enter(ctx); err != nil {
		return Ticket{}, err
	}
	defer l.leave()
	before, ok := l.known(server)
	if ok && !before.old(l.kdcs.now()) { // another goroutine got it meanwhile
		return before, nil
	}
	t, err := l.get(ctx, server)
	if err != nil && ok && before.until.After(l.kdcs.now()) {
		return before, nil
	}
	if err != nil {
		return Ticket{}, fmt.Errorf("kerberos: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.servers[server] = t
	return t, nil
}

// Forget drops the ticket of a server that refused it: the server's keys may have changed.
func (l *Login) Forget(server string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.servers, server)
}

func (l *Login) known(server string) (Ticket, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, ok := l.servers[server]
	return t, ok
}

func (l *Login) enter(ctx context.Context) error {
	select {
	case l.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("kerberos: waiting for a KDC: %w", context.Cause(ctx))
	}
}

func (l *Login) leave() { <-l.busy }

// get requests a server's ticket. The caller has entered.
func (l *Login) get(ctx context.Context, server string) (Ticket, error) {
	granting, err := l.grant(ctx)
	if err != nil {
		return Ticket{}, err
	}
	name, realm := nameOf(server)
	if realm == "" {
		realm = cmp.Or(l.kdcs.conf.ResolveRealm(name.NameString[len(name.NameString)-1]), granting.realm)
	}
	t, err := l.kdcs.service(ctx, granting, name, realm)
	if !ended(err) {
		return t, err
	}
	granting, again := l.renew(ctx, &granting) // it has expired since grant checked it, or the KDC's clock is ahead of ours
	if again != nil {
		return Ticket{}, fmt.Errorf("%w, and no other could be obtained: %w", err, again)
	}
	return l.kdcs.service(ctx, granting, name, realm)
}

// grant returns a ticket-granting ticket that has not expired. The caller has entered.
func (l *Login) grant(ctx context.Context) (Ticket, error) {
	l.mu.Lock()
	t := l.granting
	l.mu.Unlock()
	if t != nil && t.until.After(l.kdcs.now()) {
		return *t, nil
	}
	return l.renew(ctx, nil)
}

// renew gets a ticket-granting ticket that is newer than before. The caller has entered.
func (l *Login) renew(ctx context.Context, before *Ticket) (t Ticket, err error) {
	if l.opts.Keytab != "" {
		t, err = l.fromKeytab(ctx)
	} else {
		t, err = l.fromCache(ctx, before)
	}
	if err != nil {
		return Ticket{}, err
	}
	l.mu.Lock()
	l.granting = &t
	l.mu.Unlock()
	select {
	case l.changed <- struct{}{}:
	default:
	}
	return t, nil
}

func (l *Login) fromKeytab(ctx context.Context) (Ticket, error) {
	keys, err := readKeytab(l.opts.Keytab)
	if err != nil {
		return Ticket{}, err
	}
	t, err := l.kdcs.login(ctx, l.named, l.realm, keys)
	if err != nil {
		return Ticket{}, fmt.Errorf("login as %s with keytab %s: %w", l.named.PrincipalNameString()+"@"+l.realm, l.opts.Keytab, err)
	}
	return t, nil
}

// fromCache returns the ticket in the cache, or renews it if it is the same as before.
func (l *Login) fromCache(ctx context.Context, before *Ticket) (Ticket, error) {
	t, err := readCache(l.opts.TicketCache)
	now := l.kdcs.now()
	owner := t.client.PrincipalNameString() + "@" + t.realm
	switch {
	case err != nil && before == nil:
		return Ticket{}, err
	case err == nil && l.opts.Principal != "" && (!t.client.Equal(l.named) || t.realm != l.realm):
		return Ticket{}, fmt.Errorf("ticket cache %s belongs to %s, not to %s@%s", l.opts.TicketCache, owner,
			l.named.PrincipalNameString(), l.realm)
	case err == nil && (before == nil || t.until.After(before.until)):
		if !t.until.After(now) {
			return Ticket{}, fmt.Errorf("ticket cache %s: %w: the ticket of %s expired at %s; get another one (kinit)", l.opts.TicketCache,
				ErrExpired, owner, t.until.Format(time.RFC3339))
		}
		return t, nil
	}
	if !before.renewable.After(before.until) {
		return Ticket{}, fmt.Errorf("ticket cache %s has no newer ticket, and that of %s, which expires at %s, is not renewable: %w",
			l.opts.TicketCache, owner, before.until.Format(time.RFC3339), cmp.Or(err, errors.New("get another one (kinit)")))
	}
	return l.kdcs.renew(ctx, *before)
}

// keep renews the ticket-granting ticket until ctx is done. After a failure it retries after a tenth of the remaining life, at least a
// second and at most a minute.
func (l *Login) keep(ctx context.Context) {
	var failed bool
	for {
		l.mu.Lock()
		t := l.granting
		l.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-l.changed:
			failed = false
		case <-l.wait(t, failed):
			err := l.again(ctx, t)
			if failed = err != nil; failed && ctx.Err() == nil {
				l.opts.Warn(fmt.Errorf("kerberos: could not renew the ticket, which expires at %s: %w", t.until.Format(time.RFC3339), err))
			}
		}
	}
}

// wait returns a channel that signals when the ticket is due for renewal, or nil if there is no ticket.
func (l *Login) wait(t *Ticket, failed bool) <-chan time.Time {
	switch {
	case t == nil:
		return nil
	case failed:
		return time.After(min(max(t.until.Sub(l.kdcs.now())/10, time.Second), time.Minute))
	}
	return time.After(t.due().Sub(l.kdcs.now()))
}

func (l *Login) again(ctx context.Context, t *Ticket) error {
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer l.leave()
	_, err := l.renew(ctx, t)
	return err
}

// host is the placeholder for the server's host in the name of a principal.
const host = "_HOST"

// Server returns the principal of a server at host:port or host from a pattern, service/_HOST[@REALM]. As in Java, the host is the name
// that its address maps to, in lower case, unless krb5.conf says rdns = false.
func (l *Login) Server(ctx context.Context, pattern, addr string) string {
	if !strings.Contains(pattern, host) {
		return pattern
	}
	name, _, err := net.SplitHostPort(addr)
	if err != nil {
		name = addr
	}
	return strings.Replace(pattern, host, strings.ToLower(l.canonical(ctx, name)), 1)
}

func (l *Login) canonical(ctx context.Context, name string) string {
	ip := net.ParseIP(name)
	if ip == nil && !l.kdcs.conf.LibDefaults.RDNS {
		return strings.TrimSuffix(name, ".")
	}
	addr := name
	if ip == nil {
		addrs, err := net.DefaultResolver.LookupHost(ctx, name)
		if err != nil || len(addrs) == 0 {
			return strings.TrimSuffix(name, ".")
		}
		addr = addrs[0]
	}
	names, err := l.opts.Lookup(ctx, addr)
	if err != nil || len(names) == 0 {
		return strings.TrimSuffix(name, ".")
	}
	return strings.TrimSuffix(names[0], ".")
}
