// Package serve is brine's HTTP API for users: views and rows, read through package query.
//
// One table, made of the configuration by New, says what there is: each route with its handler, its parameters and its answers. The
// handlers are registered from it, the OpenAPI document and the documentation page are written from it, and a test walks it. No route
// takes a path, a host or anything that is evaluated.
//
// With accounts each request is somebody's: the table says which role a route needs and whose rows it reads, and Server.may, alone, decides
// by both. A route that says neither is nobody's. Operators have a listener of their own, NewOps. Without accounts the API changes nothing,
// and is for loopback only.
//
// The invariant: a request holds one place of Options.InFlight from its route's beginning to its end, and ends within Options.Timeout,
// whatever the stores do; one that finds no place is refused at once. Event streams leave their place once they are admitted: they are
// bounded by Options.Streams, and what they cost the stores does not depend on how many ask the same (package live).
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
)

// DefaultListen is where the API listens unless it is set.
const DefaultListen = "127.0.0.1:8090"

// Options say what is served, and within what bounds.
type Options struct {
	Listen   string        // the address that was asked for: its host may be named by requests; DefaultListen
	Hosts    []string      // names that requests may call the API by, beside those of loopback; *.NAME is all below NAME
	Timeout  time.Duration // until an answer is whole, or refused; 5 s
	InFlight int           // requests that are worked on at a time; 256
	// PageBytes are about how many of JSON the rows of a page have at most: a page with more ends early, behind the row that has them, and
	// its token goes on. 8 MiB
	PageBytes int
	Streams   int // event streams at a time, each of which may be of another answer; 512

	// SQL answers statements; without a Catalog there is no such route. Its masks are the caller's.
	SQL SQL

	// Connections are how many are kept beside those of event streams: a new one too many closes the one that has been idle for longest, else
	// the one that has owed its request for longest, else the one whose request has taken longest. 1,024
	Connections int

	Version string // of this program, for the OpenAPI document

	// Console is the web console of the listener, which asks the API and nothing else: index.html and files below assets, whose names
	// change with what they hold. nil: there is none.
	Console fs.FS

	// Accounts are who may ask; nil: nobody is asked who he is, and only loopback is listened to. They are the caller's, who closes them.
	Accounts *account.Store
	// Company signs people in beside their passwords; nil: nobody. It is the caller's, who closes it.
	Company *oidc.Provider
	Access  map[string]Access // who reads which table besides support, by the table's name; nothing without Accounts
	// RoleMasks are what is masked from a role; who has none of them gets Masks.
	RoleMasks map[account.Role]*mask.Rules
	Encrypted bool           // the listener speaks TLS
	Proxies   []netip.Prefix // who may forward requests of others, and is believed about their addresses
	PerSecond float64        // requests for public rows that one account or address may send; 10

	Masks  *mask.Rules // what is shown to nobody without a role; nil: nothing
	Views  []query.View
	Tables []query.Table
	Rows   query.Client
	Docs   search.Searcher // nil where no view or table asks an index

	// Commands are what tables with a state are changed by; nil: nothing is changed. Its creator runs it.
	Commands *command.Desk
	Machines []command.Machine // of the tables, for the routes

	// Operations are what the operators' listener shows and does beside accounts; nil: nothing. They are the caller's, who closes them.
	Operations Operations

	// Cache has answers to GET requests be given again.
	Cache Cache
	// Written are the rows that this process writes: what was read of them is not given again, and who watches them is shown them at once.
	// nil: it writes none.
	Written *written.Rows
	// Alone names since when this process alone writes a table; empty: others may write it too. nil: they may write all.
	Alone func(table string) string

	Hooks Hooks
	// Question begins what a request asks as a part of its caller's trace; what it returns ends it. nil: nothing is followed.
	Question func(ctx context.Context, traceparent, name string) (context.Context, func(error))
	Log      *slog.Logger // nil: slog's own
}

// EnsureDefaults sets what is not set.
func (o *Options) EnsureDefaults() {
	o.Listen = cmp.Or(o.Listen, DefaultListen)
	o.Timeout = cmp.Or(o.Timeout, 5*time.Second)
	o.InFlight = cmp.Or(o.InFlight, 256)
	o.Cache.Bytes = cmp.Or(o.Cache.Bytes, 64<<20)
	o.PageBytes = cmp.Or(o.PageBytes, 8<<20)
	o.Streams = cmp.Or(o.Streams, 512)
	o.Connections = cmp.Or(o.Connections, 1024)
	o.SQL.Timeout = cmp.Or(o.SQL.Timeout, 30*time.Second)
	o.SQL.InFlight = cmp.Or(o.SQL.InFlight, 4)
	o.PerSecond = cmp.Or(o.PerSecond, 10)
	if o.Log == nil {
		o.Log = slog.Default()
	}
}

// Validate returns all that is wrong; EnsureDefaults came before.
func (o *Options) Validate() error {
	var errs []error
	switch {
	case Loopback(o.Listen):
	case o.Accounts == nil:
		errs = append(errs, fmt.Errorf("serve: Options.Listen: %q is not an address of loopback: beyond it the API needs accounts", o.Listen))
	case !o.Encrypted && len(o.Proxies) == 0:
		errs = append(errs, fmt.Errorf("serve: Options.Listen: %q is not an address of loopback: "+
			"beyond it passwords need TLS, or trusted proxies that speak it", o.Listen))
	}
	for name, a := range o.Access {
		if a.Public && a.Owner != "" {
			errs = append(errs, fmt.Errorf("serve: Options.Access: %s has an owner, and cannot be public", name))
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
		errs = append(errs, fmt.Errorf("serve: Options.Cache: %v, %v and %d bytes are less than there may be",
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

// Loopback reports whether an address is reached from this machine only.
func Loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// Hooks are called for requests, by many goroutines; nil ones are not. None may block.
type Hooks struct {
	Begun    func()             // a request has its place
	Ended    func()             // and has left it
	Shed     func()             // a request has found no place
	Cached   func(hit bool)     // an answer that may be old was looked for; not without Options.Cache
	Answered func(AnsweredInfo) // any request, those refused before a route was found included
}

// AnsweredInfo is a request that was answered.
type AnsweredInfo struct {
	Route  string // such as /api/v1/views/NAME; empty: of none
	Status int
	Took   time.Duration
}
