package serve

import (
	"bytes"
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

// call is a request to a route. The request's goroutine owns it.
type call struct {
	*Server
	endpoint *endpoint
	w        http.ResponseWriter
	r        *http.Request
	ctx      context.Context //nolint:containedctx // of the request, with its deadline
	lines    bool            // the client wants one line per row
	values   url.Values      // of the query
	reading  *reading        // what it reads through; nil: the answer is neither cached nor watched
	answer   *recorder       // below w
	text     []byte          // of the body
	unread   error           // why text is not the whole body
	at       *place          // nil: released

	id               *account.Identity // the caller; nil: nobody in particular
	session          string            // the token of the cookie
	scope            scope
	address, network string // where the request comes from
	reason           string // why other people's rows are read
	owes             bool   // the audit entry, which includes the body, is still due
}

// cleanID returns the caller's request id if it is valid, and otherwise a random one.
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

// negotiate chooses the format of the answer.
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
	return refuse(notAcceptable, "the route answers with "+strings.Join(c.endpoint.forms(), " or "))
}

// query parses the query. Each parameter must belong to the route.
func (c *call) query() (url.Values, error) {
	values, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return nil, refuse(badRequest, "the query string is not valid: "+err.Error())
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
			return nil, wrong("query."+name, "is empty", "remove it, or give it a value")
		}
	}
	return values, nil
}

// leave releases the place, if that was not done before.
func (c *call) leave() {
	if c.at == nil {
		return
	}
	c.places.release(c.at)
	c.at = nil
	c.opts.Hooks.Ended()
}

// body decodes the body into v.
func (c *call) body(v any) error {
	if name, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type")); err != nil || name != jsonType {
		return refuse(badType, "the body must be "+jsonType)
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(c.unread, &large):
		return refuse(tooLarge, fmt.Sprintf("the body has more than %d bytes", large.Limit))
	case c.unread != nil:
		return wrong("body", fmt.Sprintf("did not arrive completely within %v", bodyTimeout), "send the whole body at once")
	}
	d := json.NewDecoder(bytes.NewReader(c.text))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("there is data after the object")
		}
	}
	switch {
	case err != nil && c.endpoint.secret:
		return wrong("body", "is not what the route accepts", "see "+openAPIPath)
	case err != nil:
		return wrong("body", strings.TrimPrefix(err.Error(), "json: "), "see "+openAPIPath)
	}
	return nil
}

// json sends v as the answer.
func (c *call) json(v any) error {
	if err := c.beginJSON(); err != nil {
		return err
	}
	_ = encode(c.w, v) // an error means that the client is gone
	return nil
}

// send sends JSON as the answer.
func (c *call) send(text []byte) error {
	if err := c.beginJSON(); err != nil {
		return err
	}
	c.w.Header().Set("Content-Length", strconv.Itoa(len(text))) // otherwise it is sent in chunks
	_, _ = c.w.Write(text)                                      // an error means that the client is gone
	return nil
}

// beginJSON begins an answer that is JSON.
func (c *call) beginJSON() error {
	if c.owes {
		return refuse(internal, "BUG: the audit lacks what was answered")
	}
	c.w.Header().Set("Content-Type", jsonType)
	return nil
}

// pageSize parses page_size. A value that is too large means the maximum.
func pageSize(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	switch {
	case errors.Is(err, strconv.ErrRange) && text[0] != '-':
		return maxPage, nil
	case err != nil:
		return 0, wrong("query.page_size", strconv.Quote(text)+" is not a whole number", "omit it for the view's own")
	case n < 0:
		return 0, wrong("query.page_size", "is negative", "omit it for the view's own")
	}
	return min(n, maxPage), nil
}

// problemLine writes the last line of a streamed answer that failed.
func (c *call) problemLine(err error) {
	if p := c.problem(c.r, err); p != nil {
		_ = encode(c.w, client.Line{Error: p}) // an error means that the client is gone
	}
}
