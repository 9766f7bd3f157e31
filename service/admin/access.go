package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"brine/internal/guard"
)

// strangersMay are the paths served to anyone who can reach the port.
var strangersMay = []string{"/metrics", "/healthz", "/readyz"}

// serve passes a request to its handler, or answers why it is refused and what to do. A port with a token asks everybody for it, also other
// users and programs of this machine. A socket does not: its file's permissions say who may connect.
func (p *Port) serve(w http.ResponseWriter, r *http.Request) {
	wanted := p.opts.Follow()
	token, shown := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case shown && wanted != "" && same(token, wanted):
	case !p.names.Known(r.Host):
		http.Error(w, fmt.Sprintf("brine is not known as %q here: add the name to http.hosts", guard.HostOf(r.Host)),
			http.StatusMisdirectedRequest)
		return
	case slices.Contains(strangersMay, r.URL.Path):
	case shown && wanted != "":
		refuse(w, "wrong token (http.token)")
		return
	case p.local() && guard.Forwarded(r) == "", wanted == "" && fromLoopback(r):
	case wanted == "":
		http.Error(w, "outside loopback only metrics and health are served: set http.token, and send it", http.StatusForbidden)
		return
	default:
		refuse(w, "this needs this brine's token (http.token)")
		return
	}
	if err := p.origin.Check(r); err != nil { // a web page may make a browser on this machine send it
		http.Error(w, "web pages of other origins may not request this: "+err.Error(), http.StatusForbidden)
		return
	}
	p.mux.ServeHTTP(w, r)
}

func refuse(w http.ResponseWriter, why string) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	http.Error(w, why, http.StatusUnauthorized)
}

// same compares two secrets in a time that reveals neither them nor their lengths.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// fromLoopback reports whether the request comes from this machine. A request forwarded by a proxy may come from anywhere.
func fromLoopback(r *http.Request) bool {
	if guard.Forwarded(r) != "" {
		return false
	}
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && remote.Addr().Unmap().IsLoopback()
}
