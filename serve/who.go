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

// cookieName is the session's: by its prefix browsers take it over TLS or from this machine only, for this host and no other.
const cookieName = "__Host-brine"

// accountsPatience is for one answer of the database of accounts.
const accountsPatience = time.Second

// identify identifies the caller. Nobody in particular is nil; an invalid session or token is refused.
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
		return refuse(unsigned, "two sessions or tokens are shown; show one")
	case len(header) == 1:
		scheme, token, _ := strings.Cut(header[0], " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return refuse(unsigned, "Authorization is not Bearer and an API token")
		}
		id, err = s.Bearer(ctx, strings.TrimSpace(token))
	case len(cookies) == 1:
		c.session = cookies[0].Value
		id, err = s.Session(ctx, c.session)
	default:
		return nil
	}
	switch {
	case errors.Is(err, account.ErrUnknown) && c.endpoint.signsIn:
		return nil // who signs in need not be signed in
	case errors.Is(err, account.ErrUnknown):
		if c.session != "" {
			c.forget()
		}
		return refuse(unsigned, "the session or token is not valid, or not any more; sign in")
	case err != nil && c.endpoint.signsIn && c.session != "":
		return nil
	case err != nil:
		return c.away(err)
	}
	c.id = &id
	return nil
}

// away is the problem of a database that did not answer.
func (c *call) away(err error) error {
	c.opts.Log.Warn("the database of accounts did not answer", "request", requestID(c.r), "error", err)
	return refuse(noAccounts, "the database of accounts gave no answer; the log of brine says why")
}

// remember sets the cookie of a session; forget takes it back.
func (c *call) remember(session string) { c.cookie(session, 0) }

func (c *call) forget() { c.cookie("", -1) }

func (c *call) cookie(value string, age int) {
	http.SetCookie(c.w, &http.Cookie{Name: cookieName, Value: value, Path: "/", MaxAge: age, Secure: true, HttpOnly: true,
		SameSite: http.SameSiteLaxMode})
}

// from says where a request comes from: its address, and the network that pauses and rates are counted by. A proxy that is trusted names
// the address that it has it from; what others say of that is refused before.
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
		bits = 64 // the holder of one address has all of these
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

// rates are how often each of many may ask.
type rates struct {
	perSecond float64
	mu        sync.Mutex
	of        map[string]*rate.Limiter
}

const (
	maxRates = 10_000
	burst    = 20
)

// allow reports whether this one may ask now. Of more than maxRates some begin again.
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
