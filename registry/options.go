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

// Options say where the registry is, how it is asked and how much of it is kept.
type Options struct {
	// URLs of the registry's servers, with the path before /schemas, if any. The first that answers is asked. They hold no password.
	URLs    []string
	Framing Framing // how records name their schemas; default Confluent

	Username, Password string // basic authentication, unless empty
	Token              string // bearer token instead, unless empty
	// Secrets returns the password and the token of the moment, before each request, where they may change; nil: those above.
	Secrets func() (password, token string)
	TLS     *tls.Config // of https URLs; nil: the system's certificates

	// Cache is a folder in which schemas are kept over restarts. Empty: in memory only. Several processes may share it.
	Cache string

	Timeout      time.Duration // longest wait for one answer, its body included; 10 s
	UnknownAfter time.Duration // how long after the first "not found" an id counts as unknown; 1 min, negative: at once

	MaxSchemas     int   // schemas in memory; 10,000
	MaxBytes       int64 // bytes of schemas in memory; 64 MiB. The one used last stays, however large
	MaxAnswerBytes int64 // longest answer that is read, and most bytes of one schema with its references; 8 MiB
	Calls          int   // requests of one Resolve at a time; 4

	// Transport carries requests; default one of its own, with TLS as above and the environment's proxy.
	Transport http.RoundTripper
	Hooks     Hooks
}

// now returns the password and the token of the moment.
func (o *Options) now() (password, token string) {
	if o.Secrets == nil {
		return o.Password, o.Token
	}
	return o.Secrets()
}

// EnsureDefaults sets what is zero to its default. New calls it.
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

// Validate finds what is wrong with options that have their defaults. Its text holds no secret.
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
			fault("URLs[%d] is not a URL as http://host:8081", i)
		case u.User != nil:
			fault("URLs[%d] holds a user name or password", i)
		}
	}
	if !slices.Contains(Framings, o.Framing) {
		fault("Framing is none of %v", Framings)
	}
	if o.Token != "" && o.Username+o.Password != "" {
		fault("Token is set, and so is Username or Password")
	}
	for name, n := range map[string]int64{"Timeout": int64(o.Timeout), "MaxSchemas": int64(o.MaxSchemas), "MaxBytes": o.MaxBytes,
		"MaxAnswerBytes": o.MaxAnswerBytes, "Calls": int64(o.Calls)} {
		if n < 0 {
			fault("%s is negative", name)
		}
	}
	return errors.Join(faults...)
}
