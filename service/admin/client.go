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

// Client asks a running brine through its admin port.
type Client struct {
	Addr, Token string
	Timeout     time.Duration // of one answer; 0: ShortTimeout
	TLS         *tls.Config   // of an encrypted port; nil: plain text, unless Addr begins with https://
}

// ShortTimeout is for one answer of a brine that is asked again and again.
const ShortTimeout = 10 * time.Second

// maxAnswer is more than a brine has to say of all its tables.
const maxAnswer = 64 << 20

// UnreachableError says that no brine has answered.
type UnreachableError struct{ Err error }

func (e *UnreachableError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// StatusError is an answer that is none.
type StatusError struct {
	URL    string
	Status int
	Why    string // the beginning of what the server said
}

func (e *StatusError) Error() string { return fmt.Sprintf("%s answers %d: %s", e.URL, e.Status, e.Why) }

// Get reads what the brine answers at a path.
func (c Client) Get(ctx context.Context, path string, answer any) error {
	return c.Call(ctx, http.MethodGet, path, answer)
}

// way is the URL of a path, and the client that asks it.
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

// Call reads what the brine answers to a request. Its errors are an UnreachableError, a StatusError, or of an answer that is no JSON.
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
		why, _ := io.ReadAll(io.LimitReader(body, 2000)) // what there is of it
		return &StatusError{target, resp.StatusCode, strings.TrimSpace(string(why))}
	}
	if err := json.NewDecoder(body).Decode(answer); err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	return nil
}
