package registry

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Options configure where the registry is, how it is queried, and how much of it is cached.
type Options struct {
	// URLs of the registry's servers, with the path before /schemas, if any. The first that answers is used. They hold no password.
	URLs    []string
	Framing Framing // how records name their schemas; default Confluent

	Username, Password string // for basic authentication, unless empty
	Token              string // bearer token instead, unless empty
	// Secrets returns the current password and token before each request, if they may change; nil: those above.
	Secrets func() (password, token string)
	TLS     func() *tls.Config // of a connection to an https URL that is made now; nil: the system's certificates

	// Cache is a folder in which schemas survive restarts. Empty: in memory only. Several processes may share it.
	Cache string

	Timeout      time.Duration // for one answer, including its body; 10 s
	UnknownAfter time.Duration // how long after the first "not found" an id counts as unknown; 1 min, negative: at once

	MaxSchemas     int   // in memory; 10,000
	MaxBytes       int64 // in memory; 64 MiB. The last used schema stays, however large
	MaxAnswerBytes int64 // of the longest answer that is read, and of one schema with its references; 8 MiB
	Calls          int   // concurrent requests of one Resolve; 4

	// Transport carries requests. By default it is the client's own, with TLS as above and the environment's proxy.
	Transport http.RoundTripper
	Hooks     Hooks
}

// now returns the current password and token.
func (o *Options) now() (password, token string) {
	if o.Secrets == nil {
		return o.Password, o.Token
	}
	return o.Secrets()
}

// EnsureDefaults sets zero options to their defaults. New calls it.
func (o *Options) EnsureDefaults() {
	o.Framing = cmp.Or(o.Framing, Confluent)
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	o.UnknownAfter = cmp.Or(o.UnknownAfter, time.Minute)
	o.MaxSchemas = cmp.Or(o.MaxSchemas, 10_000)
	o.MaxBytes = cmp.Or(o.MaxBytes, 64<<20)
	o.MaxAnswerBytes = cmp.Or(o.MaxAnswerBytes, 8<<20)
	o.Calls = cmp.Or(o.Calls, 4)
	o.Hooks.ensureDefaults()
}

// Validate returns all faults of options that have their defaults. The text holds no secret.
func (o *Options) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("registry: Options."+format, args...))
	}
	if len(o.URLs) == 0 {
		fault("URLs is empty")
	}
	for i, text := range o.URLs {
		u, err := url.Parse(text)
		switch {
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "":
			fault("URLs[%d] is not a URL such as http://host:8081", i)
		case u.User != nil:
			fault("URLs[%d] holds a user name or password", i)
		}
	}
	if !slices.Contains(Framings, o.Framing) {
		fault("Framing is not one of %v", Framings)
	}
	if o.Token != "" && o.Username+o.Password != "" {
		fault("both Token and Username or Password are set")
	}
	for name, n := range map[string]int64{"Timeout": int64(o.Timeout), "MaxSchemas": int64(o.MaxSchemas), "MaxBytes": o.MaxBytes,
		"MaxAnswerBytes": o.MaxAnswerBytes, "Calls": int64(o.Calls)} {
		if n < 0 {
			fault("%s is negative", name)
		}
	}
	return errors.Join(faults...)
}
