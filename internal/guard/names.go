// Package guard is what every HTTP port of brine holds its callers to: how many connections there are, by which names a port may be
// called, and whether a request was forwarded. It knows nothing of what is served.
package guard

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Names are those that requests may call a port by, beside localhost. A page of the web can make a browser ask us, under a name whose
// address its owner has changed to ours, and read the answer: such a name is none of these. It cannot do so by an address.
type Names struct {
	Own       string   // the host that the listener was asked for
	More      []string // *.NAME is all below NAME
	Addresses bool     // any IP address and none at all may be named; else only loopback's
}

// Known reports whether a request may call the port by this host.
func (n *Names) Known(host string) bool {
	host = HostOf(host)
	addr, err := netip.ParseAddr(host)
	switch {
	case err == nil && (n.Addresses || addr.Unmap().IsLoopback()):
		return true
	case host == "":
		return n.Addresses
	case strings.EqualFold(host, n.Own), host == "localhost", strings.HasSuffix(host, ".localhost"):
		return true
	}
	return slices.ContainsFunc(n.More, func(name string) bool {
		below, wild := strings.CutPrefix(strings.ToLower(name), "*")
		return below == host || wild && strings.HasSuffix(host, below)
	})
}

// HostOf is a request's host without its port, in lower case.
func HostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// Forwarded returns the name of the header by which a request says that it was forwarded, from anywhere; empty if none does.
func Forwarded(r *http.Request) string {
	for name, values := range r.Header {
		if (name == "Forwarded" || name == "Via" || strings.HasPrefix(name, "X-Forwarded-")) && strings.Join(values, "") != "" {
			return name
		}
	}
	return ""
}
