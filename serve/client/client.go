package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// Client is a client of one brine. It is safe for concurrent use.
type Client struct {
	Base string       // such as http://127.0.0.1:8090
	HTTP *http.Client // nil: http.DefaultClient

	// After is the token of a command that reads must see; empty: none. Stale, unless nil, is called for answers that may not show it.
	After string
	Stale func()
}

// ErrNotModified is returned for a row that has not changed.
var ErrNotModified = errors.New("the row has not changed")

// maxAnswer is larger than any answer of the API.
const maxAnswer = 256 << 20

// Views lists the views.
func (c *Client) Views(ctx context.Context) (out Views, err error) {
	return out, c.get(ctx, "/api/v1/views", nil, &out)
}

// Ask returns a page of a view.
func (c *Client) Ask(ctx context.Context, view string, params url.Values) (out Page, err error) {
	return out, c.get(ctx, viewPath(view), params, &out)
}

// Facets counts all rows that match a question of a view, by values of the fields that the view counts.
func (c *Client) Facets(ctx context.Context, view string, params url.Values) (out Facets, err error) {
	return out, c.get(ctx, viewPath(view)+"/facets", params, &out)
}

// Stream queries a view, and calls row for each row as it arrives. It returns the token of the next page. If the answer fails midway, the
// error is a *Problem or io.ErrUnexpectedEOF.
func (c *Client) Stream(ctx context.Context, view string, params url.Values, row func(Row) error) (next string, err error) {
	resp, err := c.do(ctx, http.MethodGet, viewPath(view), params, nil, "Accept", "application/x-ndjson")
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	for d := json.NewDecoder(resp.Body); ; {
		var line Line
		switch err := d.Decode(&line); {
		case errors.Is(err, io.EOF):
			return "", io.ErrUnexpectedEOF
		case err != nil:
			return "", err
		case line.Error != nil:
			return "", line.Error
		case line.End != nil:
			return line.End.Next, nil
		case line.Row != nil:
			if err := row(*line.Row); err != nil {
				return "", err
			}
		}
	}
}

// AskAll asks many questions of a view.
func (c *Client) AskAll(ctx context.Context, view string, q Questions) (out Answers, err error) {
	return out, c.post(ctx, viewPath(view)+":batch", q, &out)
}

// Find reads a row by all fields of its key.
func (c *Client) Find(ctx context.Context, table string, fields url.Values) (out Row, err error) {
	return out, c.get(ctx, tablePath(table)+"/rows", fields, &out)
}

// Row reads a row by its key, as answers show it.
func (c *Client) Row(ctx context.Context, table, key string) (out Row, err error) {
	return out, c.get(ctx, tablePath(table)+"/rows/"+url.PathEscape(key), nil, &out)
}

// Newer reads a row by its key, or returns ErrNotModified if the row still has the given version.
func (c *Client) Newer(ctx context.Context, table, key string, than int64) (out Row, err error) {
	return out, c.get(ctx, tablePath(table)+"/rows/"+url.PathEscape(key), nil, &out,
		"If-None-Match", strconv.Quote(strconv.FormatInt(than, 10)))
}

// Rows reads many rows by their keys.
func (c *Client) Rows(ctx context.Context, table string, keys ...string) (out Found, err error) {
	return out, c.post(ctx, tablePath(table)+"/rows:batch", Keys{Keys: keys}, &out)
}

// Give sends a command on a version of a row, its StateVersion. Use a new key for each command, and the same key to repeat one.
func (c *Client) Give(ctx context.Context, table, row, command string, upon int64, key string,
	fields map[string]any) (out Command, err error) {
	body, err := json.Marshal(Fields{Fields: fields})
	if err != nil {
		return out, err
	}
	resp, err := c.do(ctx, http.MethodPost, tablePath(table)+"/rows/"+url.PathEscape(row)+"/commands/"+command, nil, body,
		"Content-Type", "application/json", "If-Match", strconv.Quote(strconv.FormatInt(upon, 10)), "Idempotency-Key", key)
	if err != nil {
		return out, err
	}
	return out, read(resp, &out)
}

// Given returns the state of a command.
func (c *Client) Given(ctx context.Context, table, id string) (out Command, err error) {
	return out, c.get(ctx, tablePath(table)+"/commands/"+url.PathEscape(id), nil, &out)
}

func viewPath(name string) string  { return "/api/v1/views/" + url.PathEscape(name) }
func tablePath(name string) string { return "/api/v1/tables/" + name }

func (c *Client) get(ctx context.Context, path string, params url.Values, out any, header ...string) error {
	resp, err := c.do(ctx, http.MethodGet, path, params, nil, header...)
	if err != nil {
		return err
	}
	return read(resp, out)
}

func (c *Client) post(ctx context.Context, path string, in, out any) error {
	return c.send(ctx, http.MethodPost, path, in, out)
}

func (c *Client) send(ctx context.Context, method, path string, in, out any, header ...string) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	resp, err := c.do(ctx, method, path, nil, body, append(header, "Content-Type", "application/json")...)
	if err != nil {
		return err
	}
	return read(resp, out)
}

func read(resp *http.Response, out any) error {
	defer resp.Body.Close()
	return json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(out)
}

// do sends a request. An error status becomes a *Problem.
func (c *Client) do(ctx context.Context, method, path string, params url.Values, body []byte, header ...string) (*http.Response, error) {
	target := c.Base + path
	if len(params) > 0 {
		target += "?" + params.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i+1] != "" {
			req.Header.Set(header[i], header[i+1])
		}
	}
	if c.After != "" {
		req.Header.Set("Brine-After", c.After)
	}
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	switch resp.StatusCode {
	case http.StatusOK, http.StatusAccepted:
		if c.Stale != nil && resp.Header.Get("Brine-Stale") != "" {
			c.Stale()
		}
		return resp, nil
	case http.StatusNotModified:
		err = ErrNotModified
	default:
		p := &Problem{}
		if err := read(resp, p); err != nil || p.Status == 0 {
			return nil, fmt.Errorf("%s answers %s", target, resp.Status)
		}
		return nil, p
	}
	return nil, errors.Join(err, resp.Body.Close())
}
