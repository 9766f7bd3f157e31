package serve

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"brine/hbase"
	"brine/query"
	"brine/search"
	"brine/serve/client"
)

// kind is a kind of problem. Its name is its anchor in the documentation page.
type kind struct {
	name   string
	status int
	title  string
	about  string // for the page
}

// The kinds. Only a test and the page need the list.
var (
	badRequest = kind{"invalid", http.StatusBadRequest, "The request is not valid",
		"errors names each invalid argument and how to fix it. Repeating the request does not help."}
	notThere = kind{"not-found", http.StatusNotFound, "Not found", "There is no such route, or no such row."}
	notMade  = kind{"not-made", http.StatusNotFound, "A table or index is missing",
		"The configuration has it, but the store does not: detail names it. brine tables apply creates what is missing."}
	badMethod     = kind{"method", http.StatusMethodNotAllowed, "Method not allowed", "The header Allow lists the methods of the route."}
	notAcceptable = kind{"not-acceptable", http.StatusNotAcceptable, "Not acceptable",
		"The header Accept allows none of the route's media types."}
	badType  = kind{"media-type", http.StatusUnsupportedMediaType, "Unsupported media type", "A body must be application/json."}
	tooLarge = kind{"too-large", http.StatusRequestEntityTooLarge, "Body too large", "A body may have at most 1 MiB."}
	tooLong  = kind{"uri-too-long", http.StatusRequestURITooLong, "URI too long",
		"Path and query may have at most 16 KiB together. A batch takes more."}
	otherHost = kind{"host", http.StatusMisdirectedRequest, "Unknown host name",
		"A web page could make a browser send requests under its own name, and read the answers. Add the name to serve.hosts if it is yours."}
	wasForwarded = kind{"forwarded", http.StatusForbidden, "Forwarded requests are refused",
		"Only proxies in serve.trusted_proxies may forward requests. Without accounts, brine answers only this machine."}
	unsigned = kind{"unsigned", http.StatusUnauthorized, "The caller is unknown",
		"POST " + sessionPath + " signs in. Programs send Authorization: Bearer with an API token."}
	otherAccount = kind{"other-account", http.StatusConflict, "Another account is signed in",
		"The header " + accountHeader + " names the account that a request is meant for, and the caller is another one. " +
			"GET " + mePath + " without it names the caller."}
	forbidden = kind{"forbidden", http.StatusForbidden, "Not for this account", "The documentation says what each role may do."}
	crossSite = kind{"cross-site", http.StatusForbidden, "Sent by another site",
		"According to the browser, a page of another site sent this. Such requests change nothing here."}
	tooMany    = kind{"too-many", http.StatusTooManyRequests, "Too many requests", "Try again after Retry-After seconds."}
	noAccounts = kind{"no-accounts", http.StatusServiceUnavailable, "Accounts are not available",
		"Their database is down or slow; brine's log says why, by request_id. Try again after Retry-After seconds."}
	noCompany = kind{"no-provider", http.StatusServiceUnavailable, "The company's sign-in is not available",
		"Its OpenID provider is down or slow; brine's log says why, by request_id. Passwords, sessions and API tokens still work."}
	overloaded = kind{"overloaded", http.StatusServiceUnavailable, "Too many concurrent requests",
		"Try again after Retry-After seconds. serve.in_flight limits the number of concurrent requests."}
	unavailable = kind{"unavailable", http.StatusServiceUnavailable, "A store did not answer",
		"HBase or the search engine is down or slow; brine's log says why, by request_id. Try again after Retry-After seconds."}
	unreadable = kind{"unreadable", http.StatusInternalServerError, "A row cannot be read",
		"Its key or one of its cells does not match the configuration; brine's log names it, by request_id. Repeating the request does not help."}
	internal = kind{"internal", http.StatusInternalServerError, "Internal error", "A bug in brine; its log says more, by request_id."}

	kinds = append([]kind{badRequest, notThere, notMade, badMethod, notAcceptable, badType, tooLarge, tooLong, otherHost, wasForwarded,
		unsigned, otherAccount, forbidden, crossSite, tooMany, refused, unconfirmed, noAccounts, noCompany, overloaded, unavailable, unreadable,
		internal}, commandKinds...)
)

// refusal is an error that is answered with a problem.
type refusal struct {
	kind   kind
	detail string
	wrong  []client.Wrong

	current *client.Current
}

func (r *refusal) Error() string { return r.detail }

func refuse(k kind, detail string, wrong ...client.Wrong) error {
	return &refusal{kind: k, detail: detail, wrong: wrong}
}

// wrong refuses one argument.
func wrong(location, message, fix string) error {
	return refuse(badRequest, location+": "+message, client.Wrong{Location: location, Message: message, Fix: fix})
}

// optionNames maps a question's options to their names in the API.
var optionNames = map[string]string{"limit": "page_size", "cursor": "page_token", "after": "page_token"}

// faultAt converts a question's fault. at is the location of its arguments: query, or a place in the body.
func faultAt(at string, f *query.Fault) error {
	name := f.Arg
	if renamed, ok := optionNames[name]; ok && (f.Option || name == "cursor") {
		name = renamed
	}
	location := at
	if name != "" {
		location += "." + name
	}
	return wrong(location, f.Msg, f.Fix)
}

// retryAfter is the number of seconds that a client is asked to wait.
const retryAfter = 1

// fail answers with a problem. The text of a store's error goes to the log, not to the client.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := s.problem(r, err)
	if p == nil {
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Del("ETag")
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if again := p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests; again && h.Get("Retry-After") == "" {
		h.Set("Retry-After", strconv.Itoa(retryAfter))
	}
	w.WriteHeader(p.Status)
	_ = encode(w, p) // an error means that the client is gone
}

// problem converts an error for the client. It returns nil if nobody waits for the answer any more.
func (s *Server) problem(r *http.Request, err error) *client.Problem {
	var known *refusal
	var fault *query.Fault
	var row *query.UnreadableError
	switch {
	case errors.As(err, &known):
	case errors.As(err, &fault):
		errors.As(faultAt("query", fault), &known)
	case r.Context().Err() != nil && errors.Is(context.Cause(r.Context()), context.Canceled):
		return nil
	case errors.As(err, &row):
		s.opts.Log.Error("a row cannot be read", "request", requestID(r), "route", route(r), "error", query.MaskedError(err, s.opts.Masks))
		known = &refusal{kind: unreadable, detail: "a row of the answer cannot be read; brine's log names it"}
	case errors.Is(err, hbase.ErrNoTable), errors.Is(err, search.ErrNoIndex):
		s.opts.Log.Warn("request failed", "request", requestID(r), "route", route(r), "error", err)
		known = &refusal{kind: notMade, detail: missingStore(err) + "; brine tables apply creates it"}
	default:
		s.opts.Log.Warn("request failed", "request", requestID(r), "route", route(r), "error", err)
		known = &refusal{kind: unavailable, detail: "the stores did not answer; brine's log says why"}
	}
	return &client.Problem{
		Type: docsPath + "#" + known.kind.name, Title: known.kind.title, Status: known.kind.status, Detail: known.detail, Errors: known.wrong,
		Request: requestID(r), Current: known.current,
	}
}

// missingStore names the missing table or index, and nothing else of the store's error.
func missingStore(err error) string {
	of, ok := errors.AsType[*hbase.Error](err)
	switch {
	case ok && errors.Is(err, hbase.ErrNoTable):
		return "HBase has no table " + of.Table
	case errors.Is(err, hbase.ErrNoTable):
		return "HBase lacks the requested table"
	}
	return "the search engine lacks the requested index"
}

// route returns the path of the route that matched a request.
func route(r *http.Request) string {
	_, path, _ := strings.Cut(r.Pattern, " ")
	return path
}

func encode(w interface{ Write([]byte) (int, error) }, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// atPlace converts the fault of a question located in a body.
func atPlace(at string, err error) error {
	if fault, ok := errors.AsType[*query.Fault](err); ok {
		return faultAt(at, fault)
	}
	return err
}
