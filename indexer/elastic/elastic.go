package elastic

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elastic/elastic-transport-go/v8/elastictransport"

	"brine/indexer"
	"brine/internal/certs"
	"brine/internal/sockets"
)

// Options locate and configure the server.
type Options struct {
	Addresses []string // http://host:9200, …; a node that does not answer is avoided for a while
	Username  string
	Password  string
	APIKey    string // instead of a user; base64 of id:key

	// Secrets returns the current password and key before each request, if they may change; nil: the fields above.
	Secrets func() (password, apiKey string)

	TLS func() *tls.Config // of a connection that is made now; nil: the system's certificates

	Analyzer string        // of text fields; default standard. smartcn or ik_smart for Chinese, if the server has it
	Shards   int           // of a new index; default 1
	Replicas int           // of a new index, and of one that Tune changes; default 1
	Refresh  time.Duration // the delay until a search finds what is written, for the same indexes; default 1 s

	MaxAnswerBytes int64         // per answer; default 512 MiB
	Patience       time.Duration // the timeout of a call, including its answer; 0: only that of its context

	Transport http.RoundTripper // default: http.DefaultTransport's settings
}

func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = sockets.Dial(&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}) // the times of http.DefaultTransport
	return t
}

// EnsureDefaults sets zero fields to their defaults. Open calls it.
func (o *Options) EnsureDefaults() {
	o.Analyzer = cmp.Or(o.Analyzer, standard)
	o.Shards = cmp.Or(o.Shards, 1)
	o.Replicas = cmp.Or(o.Replicas, 1)
	o.Refresh = cmp.Or(o.Refresh, time.Second)
	o.MaxAnswerBytes = cmp.Or(o.MaxAnswerBytes, 512<<20)
	if o.Transport == nil {
		o.Transport = transport()
	}
}

// Validate reports every fault at once. It expects EnsureDefaults to have run.
func (o *Options) Validate() error {
	var errs []error
	bad := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf("elastic: Options."+format, args...))
		}
	}
	bad(len(o.Addresses) == 0, "Addresses is empty; give http://host:9200")
	for _, a := range o.Addresses {
		u, err := url.Parse(a)
		bad(err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https", "Addresses: %q is not an address; give http://host:9200", a)
	}
	bad(o.APIKey != "" && o.Username != "", "APIKey and Username are both set; keep one of them")
	bad(o.Shards < 1 || o.Shards > 1024, "Shards is %d: it must be from 1 to 1024", o.Shards)
	bad(o.Replicas < NoReplicas || o.Replicas > 100, "Replicas is %d: it must be from 1 to 100, or NoReplicas", o.Replicas)
	bad(o.Refresh < time.Millisecond, "Refresh is %v: it must be at least 1ms", o.Refresh)
	bad(o.MaxAnswerBytes < 1, "MaxAnswerBytes is %d: it must be at least 1", o.MaxAnswerBytes)
	bad(o.Patience < 0, "Patience is %v: it must be at least 0", o.Patience)
	return errors.Join(errs...)
}

// standard is the default analyzer of texts.
const standard = "standard"

// NoReplicas is the value of Options.Replicas for a server with one node.
const NoReplicas = -1

// Engine is one search cluster.
type Engine struct {
	opts    Options
	client  *elastictransport.Client
	nodes   nodes
	idle    interface{ CloseIdleConnections() }
	mu      sync.Mutex
	known   map[string]indexer.Mapping // by index, for queries
	routers atomic.Pointer[routers]    // written under mu
	buffers sync.Pool                  // of *bytes.Buffer: bodies and answers of bulk calls
	parsers sync.Pool                  // of *fastjson.Parser
}

var _ indexer.Engine = (*Engine)(nil)

// Open validates the options. It makes no call.
func Open(opts Options) (*Engine, error) {
	opts.EnsureDefaults()
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if opts.Replicas == NoReplicas {
		opts.Replicas = 0
	}
	var urls []*url.URL
	for _, a := range opts.Addresses {
		u, _ := url.Parse(strings.TrimSuffix(a, "/")) // Validate has parsed it
		urls = append(urls, u)
	}
	var err error
	if opts.Transport, err = trusting(opts.Transport, opts.TLS); err != nil {
		return nil, fmt.Errorf("search.ca: %w", err)
	}
	e := &Engine{opts: opts, known: map[string]indexer.Mapping{}}
	settings := []elastictransport.Option{
		elastictransport.WithConnectionPoolFunc(e.nodes.open),
		elastictransport.WithURLs(urls...),
		elastictransport.WithTransport(opts.Transport),
		elastictransport.WithDisableRetry(), // the indexer retries, item by item
		elastictransport.WithUserAgent("brine"),
	}
	if e.client, err = elastictransport.NewClient(settings...); err != nil {
		return nil, fmt.Errorf("search.connect: %w", err)
	}
	e.idle, _ = opts.Transport.(interface{ CloseIdleConnections() })
	e.buffers.New = func() any { return new(bytes.Buffer) }
	e.parsers.New = newParser
	return e, nil
}

// trusting returns the transport with these connections, or t itself if config is nil. Close can close the connections of the result.
func trusting(t http.RoundTripper, config func() *tls.Config) (http.RoundTripper, error) {
	if config == nil {
		return t, nil
	}
	of, ok := t.(*http.Transport)
	if !ok {
		return nil, fmt.Errorf("elastic: Options.Transport is a %T, whose authorities cannot be set", t)
	}
	of = of.Clone()
	certs.Follow(of, config)
	return of, nil
}

// Close closes the idle connections.
func (e *Engine) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := e.client.Close(ctx)
	if e.idle != nil {
		e.idle.CloseIdleConnections()
	}
	return err
}

const (
	typeJSON   = "application/json"
	typeNDJSON = "application/x-ndjson"

	maxReason = 16 << 10 // of an error's answer
)

// do makes one request and passes the answer's body to read. For a status of 300 or more it returns an *indexer.RequestError.
func (e *Engine) do(ctx context.Context, method, path, contentType string, body io.ReadCloser, size int, read func(io.Reader) error) error {
	if e.opts.Patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, e.opts.Patience)
		defer cancel()
	}
	req, err := http.NewRequestWithContext(ctx, method, path, nil)
	if err != nil {
		if body != nil {
			body.Close()
		}
		return err
	}
	if body != nil {
		req.Body, req.ContentLength = body, int64(size)
		req.Header.Set("Content-Type", contentType)
	}
	password, key := e.opts.Password, e.opts.APIKey
	if e.opts.Secrets != nil {
		password, key = e.opts.Secrets()
	}
	switch {
	case key != "":
		req.Header.Set("Authorization", "ApiKey "+key)
	case e.opts.Username != "":
		req.SetBasicAuth(e.opts.Username, password)
	}
	resp, err := e.client.Perform(req)
	if err != nil {
		return fmt.Errorf("%s %s%s: %w", method, req.URL.Host, req.URL.Path, err)
	}
	defer resp.Body.Close()
	if cannotServe(resp.StatusCode) {
		e.nodes.failed(req.URL)
	}
	if resp.StatusCode >= 300 {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxReason)) // ignore a truncated answer: the status alone decides
		kind, reason := faultOf(text, e.opts.Username, password, key)
		return &indexer.RequestError{Server: req.URL.Host, Status: resp.StatusCode, Kind: kind, Reason: reason}
	}
	answer := &bounded{body: resp.Body, limit: e.opts.MaxAnswerBytes, left: e.opts.MaxAnswerBytes}
	if resp.ContentLength > answer.limit {
		err = answer.tooLong(resp.ContentLength)
	} else {
		err = read(answer)
	}
	if err != nil {
		e.nodes.failed(req.URL)
		return fmt.Errorf("%s %s%s: answer: %w", method, req.URL.Host, req.URL.Path, err)
	}
	_, _ = io.Copy(io.Discard, answer) // so that the connection is reused
	return nil
}

// json makes a JSON request, and decodes the answer into out unless that is nil. A request that only reads is sent to each node at most
// once, until one answers.
func (e *Engine) json(ctx context.Context, method, path string, in, out any) error {
	var text []byte
	if in != nil {
		var err error
		if text, err = json.Marshal(in); err != nil {
			return err
		}
	}
	tries := 1
	if method == http.MethodGet || strings.Contains(path, "/_search") || strings.HasSuffix(path, "/_refresh") {
		tries = len(e.opts.Addresses)
	}
	for {
		err := e.jsonOnce(ctx, method, path, text, out)
		if tries--; tries == 0 || !ofNode(err) || ctx.Err() != nil {
			return err
		}
	}
}

func (e *Engine) jsonOnce(ctx context.Context, method, path string, text []byte, out any) error {
	var body io.ReadCloser
	if text != nil {
		body = io.NopCloser(bytes.NewReader(text))
	}
	return e.do(ctx, method, path, typeJSON, body, len(text), func(r io.Reader) error {
		if out == nil {
			return nil
		}
		d := json.NewDecoder(r)
		d.UseNumber()
		return d.Decode(out)
	})
}

// faultOf returns the kind and reason in an error's answer; by default the reason is the beginning of the answer.
func faultOf(text []byte, user, password, key string) (kind, reason string) {
	var answer struct {
		Error struct {
			Type   string `json:"type"`
			Reason string `json:"reason"`
		} `json:"error"`
	}
	if json.Unmarshal(text, &answer) == nil && answer.Error.Reason != "" {
		return answer.Error.Type, without(answer.Error.Reason, user, password, key)
	}
	shown := without(string(text), user, password, key)
	return "", strings.TrimSpace(shown[:min(len(shown), 300)])
}

// without masks secrets that a text of the engine repeats.
func without(text, user, password, key string) string {
	basic := ""
	if user != "" {
		basic = base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	}
	for _, secret := range []string{basic, key, password} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}

// bounded is an answer's body that returns an error beyond the limit. It counts what is read; nothing is allocated on the basis of a
// declared length.
type bounded struct {
	body        io.Reader
	limit, left int64
}

func (b *bounded) tooLong(n int64) error {
	return fmt.Errorf("it has %d bytes or more, limit %d, which grows with memory", n, b.limit)
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.body.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		return 0, b.tooLong(b.limit + 1)
	}
	return n, err
}

// readAll returns a function that reads r into b.
func readAll(b *bytes.Buffer) func(io.Reader) error {
	return func(r io.Reader) error {
		_, err := b.ReadFrom(r)
		return err
	}
}
