package serve

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"brine/account"
	"brine/query"
	"brine/serve/client"
)

const (
	requestHeader = "X-Request-Id"
	maxRequestID  = 64
	jsonType      = "application/json"
	linesType     = "application/x-ndjson"
)

// call is one request of a route. It belongs to the request's goroutine.
type call struct {
	*Server
	endpoint *endpoint
	w        http.ResponseWriter
	r        *http.Request
	ctx      context.Context //nolint:containedctx // of the request, with its deadline
	lines    bool            // the asker wants a line a row
	values   url.Values      // of the query
	reading  *reading        // what it is read through; nil: nothing of it is kept or watched
	leave    func()          // gives its place to another request, before its end if called then

	id               *account.Identity // the caller; nil: nobody in particular
	session          string            // the token of the cookie
	scope            scope
	address, network string // where the request comes from
	reason           string // why rows of others are read
	owes             bool   // the audit still lacks what the body asks
}

// cleanID is the id of a request: the caller's where it is one, else a new one.
func cleanID(given string) string {
	odd := func(c rune) bool {
		return !strings.ContainsRune("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.", c)
	}
	if given == "" || len(given) > maxRequestID || strings.ContainsFunc(given, odd) {
		return rand.Text()
	}
	return given
}

func requestID(r *http.Request) string { return r.Header.Get(requestHeader) }

// negotiate chooses the form of the answer.
func (c *call) negotiate() error {
	accepted := c.r.Header.Get("Accept")
	if accepted == "" {
		return nil
	}
	var names []string
	for part := range strings.SplitSeq(accepted, ",") {
		name, params, err := mime.ParseMediaType(strings.TrimSpace(part))
		if q, qErr := strconv.ParseFloat(params["q"], 64); err == nil && (qErr != nil || q > 0) {
			names = append(names, name)
		}
	}
	if c.endpoint.streams && slices.Contains(names, linesType) {
		c.lines = true
		return nil
	}
	form := c.endpoint.forms()[0]
	kind, _, _ := strings.Cut(form, "/")
	for _, name := range []string{form, kind + "/*", "*/*"} {
		if slices.Contains(names, name) {
			return nil
		}
	}
	return refuse(notAcceptable, "the route answers as "+strings.Join(c.endpoint.forms(), " or "))
}

// query reads the query; each parameter is one of the route's.
func (c *call) query() (url.Values, error) {
	values, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return nil, refuse(badRequest, "the query is not written as queries are: "+err.Error())
	}
	for name, given := range values {
		i := slices.IndexFunc(c.endpoint.params, func(p param) bool { return p.in == "query" && p.name == name })
		field, _, _ := strings.Cut(name, ".")
		switch {
		case i < 0 && c.endpoint.foreign:
		case i < 0 || c.closed(field):
			return nil, wrong("query."+name, "the route has no such parameter", "it has "+c.endpoint.queryNames())
		case len(given) > 1 && !c.endpoint.params[i].list:
			return nil, wrong("query."+name, "is given twice", "give it once")
		case c.endpoint.on == nil && name != query.PageToken && slices.Contains(given, ""):
			return nil, wrong("query."+name, "is empty", "leave it out, or give it a value")
		}
	}
	return values, nil
}

// body reads the body into v.
func (c *call) body(v any) error {
	if name, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type")); err != nil || name != jsonType {
		return refuse(badType, "the body is to be "+jsonType)
	}
	d := json.NewDecoder(c.r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("something follows the object")
		}
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return refuse(tooLarge, fmt.Sprintf("the body has more than %d bytes", large.Limit))
	case err != nil && c.endpoint.secret:
		return wrong("body", "is not what the route takes", "see "+openAPIPath)
	case err != nil:
		return wrong("body", strings.TrimPrefix(err.Error(), "json: "), "see "+openAPIPath)
	}
	return nil
}

// json answers.
func (c *call) json(v any) error {
	if c.owes {
		return refuse(internal, "BUG: the audit lacks what is answered")
	}
	c.w.Header().Set("Content-Type", jsonType)
	_ = encode(c.w, v) // the asker is gone: nobody is left to answer
	return nil
}

// pageSize reads page_size: too large a one means the largest.
func pageSize(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	switch {
	case errors.Is(err, strconv.ErrRange) && text[0] != '-':
		return maxPage, nil
	case err != nil:
		return 0, wrong("query.page_size", strconv.Quote(text)+" is not a whole number", "leave it out for the view's own")
	case n < 0:
		return 0, wrong("query.page_size", "is negative", "leave it out for the view's own")
	}
	return min(n, maxPage), nil
}

// problemLine is the last line of a streamed answer that broke.
func (c *call) problemLine(err error) {
	if p := c.problem(c.r, err); p != nil {
		_ = encode(c.w, client.Line{Error: p}) // the asker is gone: nobody is left to answer
	}
}
