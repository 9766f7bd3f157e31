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

// The paths of the routes that are not a view's or a table's.
const (
	root        = "/api/v1"
	viewsPath   = root + "/views"
	tablesPath  = root + "/tables"
	openAPIPath = root + "/openapi.json"
	docsPath    = root + "/docs"
)

// anybody is the role of routes for every caller, signed in or not.
const anybody account.Role = "anybody"

// endpoint is a route: all that is known of it, in one place.
type endpoint struct {
	method, path string
	id           string // of the operation
	about        string // one sentence
	params       []param
	body         any // a value of the type of the body; nil: none
	answer       any // a value of the type of the answer
	streams      bool
	line         any           // of a streamed answer; nil: client.Line
	within       time.Duration // its own deadline; 0: that of all
	events       bool          // it goes on until the asker has enough: once it is admitted it gives its place up, and has no deadline
	conditional  bool          // it has an ETag, and answers 304
	missing      bool          // it may answer 404
	waits        bool          // it reads rows, and may wait for a command to be applied
	bare         bool          // it takes a body, and needs none
	free         bool          // it is made beforehand, asks no store and takes no place

	aside   bool   // its path is not to be read by the route whose wildcard it would be for GET
	accepts string // what an answer with 202, which it has then, says
	refuses []kind // the kinds of problems that only such routes have
	state   any    // of a route with events: a value of the type that those named state hold; nil: they are a view's pages

	role     account.Role // the least that may ask, where accounts are, or anybody; empty: what on says, and without it nobody
	on       *subject     // whose rows it reads; nil: none
	reasons  bool         // it reads rows of others, whatever it is on: it takes a reason
	signedIn bool         // it takes a session, and no API token
	signsIn  bool         // the caller need not be signed in
	foreign  bool         // another server chooses its parameters: those that the route does not know are passed over
	leads    string       // where its answer leads a browser, for people; empty: nowhere
	secret   bool         // its body holds what no problem quotes
	handle   func(*call) error
}

// param is a parameter of a route.
type param struct {
	in, name string
	about    string
	kind     rowkey.Type
	required bool
	list     bool
}

// forms are the media types of the answer.
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

// table is all routes that answer with data.
func (s *Server) table() []*endpoint {
	routes := []*endpoint{
		{method: http.MethodGet, path: viewsPath, id: "views", about: "The views that may be asked, with what they are asked by.",
			role: anybody, answer: client.Views{}, handle: func(c *call) error { return c.json(c.listed()) }},
		{method: http.MethodGet, path: tablesPath, id: "tables",
			about: "The tables whose rows may be read, with their keys and the commands on them.",
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
