package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// strangersMay are the paths that anyone is served who can reach the port.
var strangersMay = []string{"/metrics", "/healthz", "/readyz"}

// serve lets a request through to its path, or says why not and what to do.
func (p *Port) serve(w http.ResponseWriter, r *http.Request) {
	token, shown := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case shown && p.opts.Token != "" && same(token, p.opts.Token):
	case !p.known(r.Host):
		http.Error(w, fmt.Sprintf("brine is not known as %q here: add the name to http.hosts", hostOf(r.Host)), http.StatusMisdirectedRequest)
		return
	case slices.Contains(strangersMay, r.URL.Path):
	case shown && p.opts.Token != "":
		refuse(w, "this is not the token of this brine (http.token)")
		return
	case fromLoopback(r):
	case p.opts.Token == "":
		http.Error(w, "beyond loopback only metrics and health are served: set http.token, and show it", http.StatusForbidden)
		return
	default:
		refuse(w, "beyond loopback this takes the token of this brine (http.token)")
		return
	}
	p.mux.ServeHTTP(w, r)
}

func refuse(w http.ResponseWriter, why string) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	http.Error(w, why, http.StatusUnauthorized)
}

// same compares two secrets in a time that reveals nothing about them or their lengths.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// known reports whether a request may call the port by this host. A page of the web can make a browser ask us, under a name whose address
// its owner has changed to ours, and read the answer: such a name is none of these. It cannot do so by an address.
func (p *Port) known(host string) bool {
	host = hostOf(host)
	if _, err := netip.ParseAddr(host); err == nil || host == "" || strings.EqualFold(host, p.own) {
		return true
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	return slices.ContainsFunc(p.opts.Hosts, func(name string) bool {
		below, wild := strings.CutPrefix(strings.ToLower(name), "*")
		return below == host || wild && strings.HasSuffix(host, below)
	})
}

// hostOf is a request's host without its port, in lower case.
func hostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// fromLoopback reports whether who asks is on this machine. What a proxy forwards may come from anywhere.
func fromLoopback(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "Via"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && remote.Addr().Unmap().IsLoopback()
}
