package registry

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/sr"

	"brine/internal/backoff"
)

// The pauses in which an id is not requested again.
const (
	firstPause   = 100 * time.Millisecond // after a failure; doubles
	longestPause = 5 * time.Second
	missingPause = time.Second      // after "not found", while that may still change; doubles
	unknownPause = 10 * time.Second // after that
)

// fail returns the Error for an id that could not be fetched, and remembers it.
func (c *Client) fail(ctx context.Context, id ID, err error) *Error {
	e := c.explain(id, err)
	missing := e.Status == http.StatusNotFound
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.failed[id]
	if f == nil {
		f = &failure{}
		c.forget()
		c.failed[id] = f
	}
	now := c.now()
	switch {
	case !missing:
		f.missing = time.Time{} // a registry that comes up again may not have read all of its schemas yet
	case f.missing.IsZero():
		f.missing, f.tries = now, 0
	}
	if missing && now.Sub(f.missing) >= c.o.UnknownAfter {
		c.mu.Unlock()
		wrong := c.notThere(ctx, e)
		c.mu.Lock()
		if wrong {
			e.Fix = notThereFix
		} else {
			e.Outcome = Unknown
		}
	}
	f.tries++
	switch {
	case e.Outcome == Unknown:
		e.Wait = unknownPause
	case missing: // request it once more when the time is over
		e.Wait = min(backoff.Exponential(missingPause, longestPause, f.tries-1), f.missing.Add(c.o.UnknownAfter).Sub(now))
		e.Wait = max(e.Wait, firstPause)
	default:
		e.Wait = backoff.Exponential(firstPause, longestPause, f.tries-1)
	}
	f.err, f.until = e, now.Add(e.Wait)
	return e
}

// forget makes room for one more failure by dropping the one requested longest ago.
func (c *Client) forget() {
	if len(c.failed) < maxFailures {
		return
	}
	var oldest ID
	var until time.Time
	for id, f := range c.failed {
		if oldest.Kind == 0 || f.until.Before(until) {
			oldest, until = id, f.until
		}
	}
	delete(c.failed, oldest)
}

// notThere reports whether a "not found" comes not from a registry but from something else at its address, for which every id would be
// unknown.
func (c *Client) notThere(ctx context.Context, e *Error) bool {
	if e.Code/100 == http.StatusNotFound { // 40401, 40403, …: from a registry itself
		return false
	}
	return c.Check(ctx) != nil
}

// explain returns the Error for the result of a request. Only fail makes it Unknown.
func (c *Client) explain(id ID, err error) *Error {
	e := &Error{Outcome: Retry, ID: id, URL: c.o.URLs[0], Cause: err.Error()}
	var request *requestError
	if errors.As(err, &request) {
		e.URL = request.url
	}
	var answered *sr.ResponseError
	var tooLong errTooLong
	switch {
	case errors.As(err, &answered):
		c.answered(e, answered)
	case errors.Is(err, errNoGlobal):
		e.Outcome, e.Cause = Denied, errNoGlobal.Error()
		e.Fix = "write registry.url: http://host:8080" + ccompatPath + "7, which can look up globalIds"
	case errors.As(err, &tooLong):
		e.Cause, e.Fix = tooLong.Error(), "check what answers there: a schema is not that long"
	case errors.Is(err, errNoSchema):
		e.Cause, e.Fix = errNoSchema.Error(), garbageFix
	default:
		c.unanswered(e, err)
	}
	e.Cause, e.URL = c.clean(e.Cause), c.clean(e.URL)
	return e
}

const notThereFix = "the registry's API is not there: write registry.url up to where /schemas begins, such as http://host:8081 or " +
	"http://host:8080/apis/ccompat/v7"

const garbageFix = "check what answers at registry.url: a proxy, or another server"

// answered explains an error that the registry returned.
func (c *Client) answered(e *Error, a *sr.ResponseError) {
	e.Status, e.Code = a.StatusCode, a.ErrorCode
	e.Cause = "it answered nothing"
	if text := a.Error(); text != "" {
		e.Cause = "it answered " + strconv.QuoteToGraphic(cut(text))
	}
	switch {
	case a.StatusCode == http.StatusUnauthorized:
		e.Outcome, e.Fix = Denied, "correct registry.user and registry.password, or registry.token"
	case a.StatusCode == http.StatusForbidden:
		e.Outcome, e.Fix = Denied, "allow brine's user to read schemas and subjects in the registry"
	case a.StatusCode == http.StatusNotFound:
		e.Fix = "register the schema, or check which registry the record's producer uses"
	case a.StatusCode == http.StatusTooManyRequests:
		e.Fix = "the registry is limiting requests; brine keeps asking"
	case a.StatusCode < 400:
		e.Fix = "set registry.url to the address that it redirects to"
	case a.StatusCode >= 500 || a.StatusCode == http.StatusRequestTimeout:
		e.Fix = "check the registry; brine keeps asking"
	default:
		e.Fix = garbageFix
	}
}

// unanswered explains that there was no answer, or none that can be read.
func (c *Client) unanswered(e *Error, err error) {
	e.Fix = "check that the registry is running, and that registry.url names it; brine keeps asking"
	var timeout interface{ Timeout() bool }
	var certificate *tls.CertificateVerificationError
	var network *url.Error
	switch {
	case errors.As(err, &network):
		e.err, e.Cause, e.URL = network.Err, network.Err.Error(), network.URL // of several, the last one tried
	case strings.Contains(err.Error(), "unable to decode"):
		e.Cause, e.Fix = "its answer is not the JSON of a registry", garbageFix
	case errors.Is(err, context.Canceled):
		e.err, e.Cause, e.Fix = context.Canceled, "the client was closed", ""
		return
	}
	switch {
	case errors.As(err, &certificate):
		e.Fix = "name the authorities that signed the registry's certificate: registry.tls.ca"
	case strings.Contains(e.Cause, "server gave HTTP response to HTTPS client"):
		e.Fix = "write http:// in registry.url"
	case errors.As(err, &timeout) && timeout.Timeout():
		e.Cause = "no complete answer within " + c.o.Timeout.String()
	}
}

// mostShown is the number of runes that messages show of text from elsewhere.
const mostShown = 200

func cut(text string) string {
	n := 0
	for i := range text {
		if n++; n > mostShown {
			return text[:i] + "…"
		}
	}
	return text
}

// clean removes secrets from a text and escapes what is not printable: an answer may repeat what it was sent.
func (c *Client) clean(text string) string {
	password, token := c.o.now()
	basic := base64.StdEncoding.EncodeToString([]byte(c.o.Username + ":" + password))
	for _, secret := range []string{password, token, basic, c.o.Password, c.o.Token} {
		if secret != "" && password+token != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, text)
}
