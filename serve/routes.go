package serve

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"brine/account"
	"brine/rowkey"
	"brine/serve/client"
)

// Paths of the routes that do not belong to a view or a table.
const (
	root        = "/api/v1"
	viewsPath   = root + "/views"
	tablesPath  = root + "/tables"
	openAPIPath = root + "/openapi.json"
	docsPath    = root + "/docs"
)

// anybody is the role of routes for every caller, signed in or not.
const anybody account.Role = "anybody"

// endpoint is a route, with all that is known of it.
type endpoint struct {
	method, path string
	id           string // of the operation
	about        string // one sentence
	params       []param
	body         any // a value of the body's type; nil: none
	answer       any // a value of the answer's type
	streams      bool
	line         any           // a value of the type of a streamed line; nil: client.Line
	within       time.Duration // its own deadline; 0: the common one
	events       bool          // it streams events until the client leaves: once admitted it releases its place, and has no deadline
	conditional  bool          // it has an ETag, and may answer 304
	missing      bool          // it may answer 404
	waits        bool          // it reads rows, and may wait for a command to be applied
	bare         bool          // its body is optional
	free         bool          // its answer is prepared: it needs no store and no place

	aside   bool   // GET of its path is refused, because it would match another route's wildcard
	accepts string // meaning of its 202 answer; empty: it answers 200
	refuses []kind // kinds of problems that only such routes have
	state   any    // of a route with events: a value of the type of the state events; nil: the events are a view's pages

	role     account.Role // the least role, with accounts, or anybody; empty: on decides, and without on nobody may
	on       *subject     // whose rows it reads; nil: none
	reasons  bool         // it reads other people's rows, whatever on says: it requires a reason
	signedIn bool         // it requires a session, not an API token
	signsIn  bool         // the caller need not be signed in
	foreign  bool         // another server chooses its parameters: unknown ones are ignored
	leads    string       // where it redirects a browser to, for people; empty: nowhere
	secret   bool         // its body must not be quoted in problems
	handle   func(*call) error
}

// param is a parameter of a route.
type param struct {
	in, name string
	about    string
	kind     rowkey.Type
	unit     time.Duration // see rowkey.Field
	required bool
	list     bool
}

// timed reports whether values can be times.
func (p *param) timed() bool { return p.kind == rowkey.Time || p.unit != 0 }

// forms returns the media types of the answer.
func (e *endpoint) forms() []string {
	switch {
	case e.streams:
		return []string{jsonType, linesType}
	case e.events:
		return []string{eventsType}
	}
	return []string{jsonType}
}

func (e *endpoint) queryNames() string {
	var names []string
	for _, p := range e.params {
		if p.in == "query" {
			names = append(names, p.name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// table returns all routes that answer with data.
func (s *Server) table() []*endpoint {
	routes := []*endpoint{
		{method: http.MethodGet, path: viewsPath, id: "views", about: "List the views that the caller may use, with their parameters.",
			role: anybody, answer: client.Views{}, handle: func(c *call) error { return c.json(c.listed()) }},
		{method: http.MethodGet, path: tablesPath, id: "tables",
			about: "List the tables whose rows the caller may read, with their keys and commands.",
			role:  anybody, answer: client.Tables{}, handle: func(c *call) error { return c.json(c.listedTables()) }},
	}
	lists := len(routes)
	for i := range s.opts.Views {
		routes = append(routes, viewRoutes(&s.opts.Views[i])...)
	}
	for i := range s.opts.Tables {
		routes = append(routes, tableRoutes(&s.opts.Tables[i])...)
	}
	if len(s.opts.Machines) > 0 {
		for _, e := range routes[lists:] {
			e.waits = true
		}
	}
	for i := range s.opts.Machines {
		routes = append(routes, commandRoutes(&s.opts.Machines[i])...)
	}
	return append(append(routes, s.sqlRoutes()...), s.ownRoutes()...)
}

func viewPath(name string) string  { return viewsPath + "/" + url.PathEscape(name) }
func tablePath(name string) string { return tablesPath + "/" + name }
