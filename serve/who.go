package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"brine/account"
)

// cookieName is the session cookie. Because of its prefix, browsers accept it only over TLS or from this machine, and only for this host.
const cookieName = "__Host-brine"

// accountHeader names the account for which a request is meant. Tabs of a browser share one session: whoever signs in in one of them would
// otherwise be the caller of what another tab asks for somebody else, with that person's reason.
const accountHeader = "Brine-Account"

// accountsPatience is the timeout of one request to the database of accounts.
const accountsPatience = time.Second

// identify identifies the caller. It leaves c.id nil for nobody in particular, and refuses an invalid session or token.
func (c *call) identify() error {
	s := c.opts.Accounts
	if s == nil {
		return nil
	}
	header := c.r.Header.Values("Authorization")
	cookies := c.r.CookiesNamed(cookieName)
	ctx, cancel := context.WithTimeout(c.ctx, accountsPatience)
	defer cancel()
	var id account.Identity
	var err error
	switch {
	case len(header)+len(cookies) > 1:
		return refuse(unsigned, "the request has two sessions or tokens; send one")
	case len(header) == 1:
		scheme, token, _ := strings.Cut(header[0], " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return refuse(unsigned, "Authorization is not Bearer with an API token")
		}
		id, err = s.Bearer(ctx, strings.TrimSpace(token))
	case len(cookies) == 1:
		c.session = cookies[0].Value
		id, err = s.Session(ctx, c.session)
	default:
		return c.meant()
	}
	switch {
	case errors.Is(err, account.ErrUnknown) && c.endpoint.signsIn:
		return nil // signing in needs no valid session
	case errors.Is(err, account.ErrUnknown):
		if c.session != "" {
			c.forget()
		}
		return refuse(unsigned, "the session or token is not valid, or has expired; sign in")
	case err != nil && c.endpoint.signsIn && c.session != "":
		return nil
	case err != nil:
		return c.away(err)
	}
	c.id = &id
	return c.meant()
}

// meant refuses a request that is meant for another account than the caller's. To sign in is to change the account.
func (c *call) meant() error {
	name := c.r.Header.Get(accountHeader)
	switch {
	case name == "" || c.endpoint.signsIn:
		return nil
	case c.id == nil:
		return refuse(unsigned, accountHeader+" names an account, and the request has no session or token; sign in")
	case c.id.Account.Name != name:
		return refuse(otherAccount, "the session or token belongs to another account than "+accountHeader+" names; nothing was done")
	}
	return nil
}

// away converts the error of a database that did not answer.
func (c *call) away(err error) error {
	c.opts.Log.Warn("the accounts database did not answer", "request", requestID(c.r), "error", err)
	return refuse(noAccounts, "the accounts database did not answer; brine's log says why")
}

// remember sets the session cookie, and forget deletes it.
func (c *call) remember(session string) { c.cookie(session, 0) }

func (c *call) forget() { c.cookie("", -1) }

func (c *call) cookie(value string, age int) {
	http.SetCookie(c.w, &http.Cookie{Name: cookieName, Value: value, Path: "/", MaxAge: age, Secure: true, HttpOnly: true,
		SameSite: http.SameSiteLaxMode})
}

// from returns the address of a request, and the network by which pauses and rates are counted. A trusted proxy names the address that it
// got the request from; forwarding by others is refused before.
func (s *Server) from(r *http.Request) (address, network string) {
	peer := peerOf(r)
	if s.trusted(peer) {
		list := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		for _, text := range slices.Backward(list) {
			addr, err := netip.ParseAddr(strings.TrimSpace(text))
			if err != nil {
				break
			}
			if peer = addr.Unmap(); !s.trusted(peer) {
				break
			}
		}
	}
	if !peer.IsValid() {
		return "", ""
	}
	bits := 32
	if peer.Is6() {
		bits = 64 // one host has all of these addresses
	}
	p, err := peer.WithZone("").Prefix(bits)
	if err != nil {
		return peer.String(), peer.String()
	}
	return peer.String(), p.String()
}

func peerOf(r *http.Request) netip.Addr {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap()
}

func (s *Server) trusted(peer netip.Addr) bool {
	return peer.IsValid() && slices.ContainsFunc(s.opts.Proxies, func(p netip.Prefix) bool { return p.Contains(peer.WithZone("")) })
}

// rates limits how often each of many callers may ask.
type rates struct {
	perSecond float64
	mu        sync.Mutex
	of        map[string]*rate.Limiter
}

const (
	maxRates = 10_000
	burst    = 20
)

// allow reports whether the caller may ask now. Beyond maxRates callers, some start over.
func (r *rates) allow(who string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	l, known := r.of[who]
	if !known {
		if r.of == nil {
			r.of = map[string]*rate.Limiter{}
		}
		for other := range r.of {
			if len(r.of) < maxRates {
				break
			}
			delete(r.of, other)
		}
		l = rate.NewLimiter(rate.Limit(r.perSecond), burst)
		r.of[who] = l
	}
	return l.Allow()
}
