// Package serve is brine's HTTP API: views, rows, SQL and commands for users and, on a listener of its own (NewOps), accounts, operations
// and jobs for operators. Package query reads the stores for it.
//
// A single table, which New makes from the configuration, lists the routes, each with its handler, parameters and answers. The handlers are
// registered from it, the OpenAPI document and the documentation page are generated from it, and a test walks it. No route takes a path, a
// host or anything that is evaluated.
//
// With accounts, each request has a caller: the table says which role a route needs and whose rows it reads, and only Server.may decides by
// them. A route with neither is forbidden to everybody. Without accounts the API changes nothing, and listens on loopback only.
//
// The invariant: a request holds one place of Options.InFlight from the arrival of its body to the end, and ends within Options.Timeout,
// whatever the stores do; a request that finds no place is refused, unless a client that does not read its answer can be cut off for it.
// Event streams release their place once they are admitted: they are bounded by Options.Streams, and their cost to the stores does not
// depend on how many clients ask the same (package live).
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"brine/account"
	"brine/account/oidc"
	"brine/command"
	"brine/mask"
	"brine/query"
	"brine/search"
	"brine/serve/written"
	"brine/sqlconsole"
)

// DefaultListen is the default address of the API.
const DefaultListen = "127.0.0.1:8090"

// Options configure what is served, and its limits.
type Options struct {
	Listen   string        // the configured address, whose host requests may use; default DefaultListen
	Hosts    []string      // allowed Host names besides loopback's; *.NAME allows all below NAME
	Timeout  time.Duration // until an answer is complete or refused; default 5 s
	InFlight int           // concurrent requests; default 256
	Unread   time.Duration // how long an answer may wait for its client to read while no place is free; default 2 s
	// PageBytes roughly limits the JSON of a page's rows. A page ends early, after the row that exceeds it, and its token continues from
	// there. The default is 8 MiB.
	PageBytes int
	Streams   int // concurrent event streams, each possibly of a different answer; default 512

	// SQL configures statements; without a Catalog there is no such route. The masks are those of the caller.
	SQL SQL

	// Connections is the most connections besides those of event streams. One more closes the connection that has been idle longest, or else
	// the one that has owed its request longest, or else the one whose request has taken longest. The default is 1,024.
	Connections int

	Version string // program version, for the OpenAPI document

	// Console is the web console of the listener, which sends requests only to the API: index.html, and files below assets, whose names change
	// with their content. nil: none
	Console fs.FS

	// Accounts are the accounts of callers; nil: callers are not identified, and only loopback is allowed. The caller of New closes them.
	Accounts *account.Store
	// Company is a provider for signing in besides passwords; nil: none. The caller of New closes it.
	Company *oidc.Provider
	Access  map[string]Access // who reads which table besides support, by table name; unused without Accounts
	// RoleMasks are the masking rules of roles. Roles not listed get Masks.
	RoleMasks map[account.Role]*mask.Rules
	Encrypted bool           // the listener speaks TLS
	Proxies   []netip.Prefix // proxies that may forward requests, and whose client addresses are believed
	PerSecond float64        // requests per second for public rows, per account or address; default 10

	Masks  *mask.Rules // what is masked for callers without a role of RoleMasks; nil: nothing
	Views  []query.View
	Tables []query.Table
	Rows   query.Client
	Docs   search.Searcher // nil if no view or table uses an index

	// Commands changes tables with a state; nil: commands are refused. Its creator runs it.
	Commands *command.Desk
	Machines []command.Machine // of the tables, for the routes

	// Operations are what the operators' listener provides besides accounts; nil: nothing. The caller of NewOps closes them.
	Operations Operations

	// Cache configures the cache of answers to GET requests.
	Cache Cache
	// Written tracks the rows that this process writes: cached answers that they overtake are not reused, and watchers see them at once. nil:
	// it writes none.
	Written *written.Rows
	// Alone returns a string that changes with the term since which only this process writes a table, or "" if others may write it. nil:
	// others may write all tables.
	Alone func(table string) string

	Hooks Hooks
	// Question starts a span for a request as part of its caller's trace. The returned function ends it. nil: no tracing
	Question func(ctx context.Context, traceparent, name string) (context.Context, func(error))
	Log      *slog.Logger // nil: slog.Default
}

// EnsureDefaults replaces zero fields by their defaults.
func (o *Options) EnsureDefaults() {
	o.Hooks.ensureDefaults()
	o.Listen = cmp.Or(o.Listen, DefaultListen)
	o.Timeout = cmp.Or(o.Timeout, 5*time.Second)
	o.InFlight = cmp.Or(o.InFlight, 256)
	o.Unread = cmp.Or(o.Unread, 2*time.Second)
	o.Cache.Bytes = cmp.Or(o.Cache.Bytes, 64<<20)
	o.PageBytes = cmp.Or(o.PageBytes, 8<<20)
	o.Streams = cmp.Or(o.Streams, 512)
	o.Connections = cmp.Or(o.Connections, 1024)
	o.SQL.Timeout = cmp.Or(o.SQL.Timeout, 30*time.Second)
	o.SQL.InFlight = cmp.Or(o.SQL.InFlight, 4)
	var one sqlconsole.Limits
	one.EnsureDefaults()
	o.SQL.Unsent = cmp.Or(o.SQL.Unsent, int64(o.SQL.InFlight)*one.Held)
	o.PerSecond = cmp.Or(o.PerSecond, 10)
	if o.Log == nil {
		o.Log = slog.Default()
	}
}

// Validate returns all errors at once. It expects EnsureDefaults to have run.
func (o *Options) Validate() error {
	var errs []error
	switch {
	case Loopback(o.Listen):
	case o.Accounts == nil:
		errs = append(errs, fmt.Errorf("serve: Options.Listen: %q is not a loopback address: outside loopback the API needs accounts", o.Listen))
	case !o.Encrypted && len(o.Proxies) == 0:
		errs = append(errs, fmt.Errorf("serve: Options.Listen: %q is not a loopback address: "+
			"outside loopback, passwords need TLS or trusted proxies that use it", o.Listen))
	}
	for name, a := range o.Access {
		if a.Public && a.Owner != "" {
			errs = append(errs, fmt.Errorf("serve: Options.Access: %s has an owner, so it cannot be public", name))
		}
	}
	if o.PerSecond < 0 {
		errs = append(errs, fmt.Errorf("serve: Options.PerSecond: %v is less than 0", o.PerSecond))
	}
	if o.Timeout < 10*time.Millisecond {
		errs = append(errs, fmt.Errorf("serve: Options.Timeout: %v is less than 10ms", o.Timeout))
	}
	if o.InFlight < 1 {
		errs = append(errs, fmt.Errorf("serve: Options.InFlight: %d is less than 1", o.InFlight))
	}
	if o.Cache.MaxAge < 0 || o.Cache.Own < 0 || o.Cache.Bytes < 1 {
		errs = append(errs, fmt.Errorf("serve: Options.Cache: %v, %v and %d bytes are below the minimum",
			o.Cache.MaxAge, o.Cache.Own, o.Cache.Bytes))
	}
	if o.PageBytes < 1 {
		errs = append(errs, fmt.Errorf("serve: Options.PageBytes: %d is less than 1", o.PageBytes))
	}
	if o.SQL.Timeout < 10*time.Millisecond {
		errs = append(errs, fmt.Errorf("serve: Options.SQL.Timeout: %v is less than 10ms", o.SQL.Timeout))
	}
	if o.SQL.InFlight < 1 {
		errs = append(errs, fmt.Errorf("serve: Options.SQL.InFlight: %d is less than 1", o.SQL.InFlight))
	}
	if o.SQL.Unsent < 1 {
		errs = append(errs, fmt.Errorf("serve: Options.SQL.Unsent: %d is less than 1", o.SQL.Unsent))
	}
	if o.Streams < 1 {
		errs = append(errs, fmt.Errorf("serve: Options.Streams: %d is less than 1", o.Streams))
	}
	if o.Connections < 1 {
		errs = append(errs, fmt.Errorf("serve: Options.Connections: %d is less than 1", o.Connections))
	}
	if o.Rows == nil {
		errs = append(errs, errors.New("serve: Options.Rows: nothing to read rows from"))
	}
	for i := range o.Views {
		if err := o.Views[i].Check(); err != nil {
			errs = append(errs, fmt.Errorf("serve: Options.Views: %s: %w", o.Views[i].Name, err))
		}
	}
	return errors.Join(errs...)
}

// Loopback reports whether an address can be reached only from this machine.
func Loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// Hooks are called for requests, by many goroutines. A nil hook does nothing. A hook must not block.
type Hooks struct {
	Begun    func()             // a request has got its place
	Ended    func()             // it has released it
	Shed     func()             // a request found no place
	Cached   func(hit bool)     // a cache lookup; only with Options.Cache
	Answered func(AnsweredInfo) // any request, including those refused before routing
}

func (h *Hooks) ensureDefaults() {
	for _, hook := range []*func(){&h.Begun, &h.Ended, &h.Shed} {
		if *hook == nil {
			*hook = func() {}
		}
	}
	if h.Cached == nil {
		h.Cached = func(bool) {}
	}
	if h.Answered == nil {
		h.Answered = func(AnsweredInfo) {}
	}
}

// AnsweredInfo describes an answered request.
type AnsweredInfo struct {
	Route  string // such as /api/v1/views/NAME; empty: no route
	Status int
	Took   time.Duration
}
