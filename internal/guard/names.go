// Package guard has the checks that every HTTP port of brine makes: the number of connections, the names by which a port may be called, and
// whether a request was forwarded. It knows nothing of what is served.
package guard

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Names are the host names by which requests may call a port, besides localhost. A web page can make a browser call us under a name whose
// owner has changed its address to ours, and read the answer; such a name is not among these. That does not work with an address.
type Names struct {
	Own       string   // the host that the listener was configured with
	More      []string // *.NAME stands for all names below NAME
	Addresses bool     // allow any IP address and an empty host; otherwise only loopback addresses
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

// HostOf returns a request's host without its port, in lower case.
func HostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// Forwarded returns the name of a header which shows that the request was forwarded, or "" if there is none.
func Forwarded(r *http.Request) string {
	for name, values := range r.Header {
		if (name == "Forwarded" || name == "Via" || strings.HasPrefix(name, "X-Forwarded-")) && strings.Join(values, "") != "" {
			return name
		}
	}
	return ""
}
