package admin

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// Client sends requests to the admin port of a running brine.
type Client struct {
	Addr, Token string
	Timeout     time.Duration // per request; 0: ShortTimeout
	TLS         *tls.Config   // of an encrypted port; nil: plain text, unless Addr begins with https://
}

// ShortTimeout is the timeout of requests that are repeated.
const ShortTimeout = 10 * time.Second

// maxAnswer is larger than any answer, even with many tables.
const maxAnswer = 64 << 20

// UnreachableError reports that no brine answered.
type UnreachableError struct{ Err error }

func (e *UnreachableError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// StatusError is an answer with a status other than 200.
type StatusError struct {
	URL    string
	Status int
	Why    string // the beginning of the body
}

func (e *StatusError) Error() string { return fmt.Sprintf("%s answers %d: %s", e.URL, e.Status, e.Why) }

// Get sends a GET request and decodes the answer.
func (c Client) Get(ctx context.Context, path string, answer any) error {
	return c.Call(ctx, http.MethodGet, path, answer)
}

// way returns the URL of a path, and the HTTP client to use.
func (c Client) way(path string) (target string, by *http.Client) {
	addr, secure := strings.CutPrefix(c.Addr, "https://")
	socket, local := strings.CutPrefix(addr, unixPrefix)
	target = "http://"
	if secure || c.TLS != nil {
		target = "https://"
	}
	transport := &http.Transport{TLSClientConfig: c.TLS, DisableKeepAlives: true}
	switch {
	case local:
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}
		return target + "localhost" + path, &http.Client{Transport: transport}
	case target == "https://":
		return target + addr + path, &http.Client{Transport: transport}
	}
	return target + addr + path, http.DefaultClient
}

// Call sends a request and decodes the answer. It returns an UnreachableError, a StatusError, or the error of an answer that is not JSON.
func (c Client) Call(ctx context.Context, method, path string, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Timeout, ShortTimeout))
	defer cancel()
	target, by := c.way(path)
	req, err := http.NewRequestWithContext(ctx, method, target, nil)
	if err != nil {
		return err
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	resp, err := by.Do(req)
	if err != nil {
		return &UnreachableError{err}
	}
	defer resp.Body.Close()
	body := io.LimitReader(resp.Body, maxAnswer)
	if resp.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(io.LimitReader(body, 2000)) // as much as there is
		return &StatusError{target, resp.StatusCode, strings.TrimSpace(string(why))}
	}
	if err := json.NewDecoder(body).Decode(answer); err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	return nil
}
