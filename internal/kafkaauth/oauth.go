package kafkaauth

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/segmentio/kafka-go/sasl"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"brine/internal/certs"
)

// OAuth configures the source of tokens: TokenURL with what it needs, or TokenFile.
type OAuth struct {
	TokenURL  string
	ClientID  string
	Secret    func() string // of the client; called for each request
	Scopes    []string
	Audience  string             // intended audience of the token, if the endpoint requires one
	TLS       func() *tls.Config // to the endpoint, called for each connection; nil: the system's authorities
	TokenFile string             // holds the token; read for each connection

	Extensions map[string]string // sent to the brokers with the token (KIP-342)
}

// Mechanism returns the mechanism OAUTHBEARER.
func (o OAuth) Mechanism() sasl.Mechanism {
	b := &bearer{from: o, now: time.Now, busy: make(chan struct{}, 1)}
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one
	if o.TLS != nil {
		certs.Follow(transport, o.TLS)
	}
	transport.DisableKeepAlives = true // tokens are requested rarely
	b.client = &http.Client{
		Transport: transport, Timeout: askTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the secret must not go elsewhere
	}
	return b
}

// askTimeout is the maximum wait for the token endpoint.
const askTimeout = 10 * time.Second

// maxToken is the maximum size of a token file in bytes; before authentication brokers accept requests of 512 KiB.
const maxToken = 256 << 10

type bearer struct {
	from   OAuth
	client *http.Client
	now    func() time.Time
	busy   chan struct{} // holds an element while a goroutine asks the endpoint

	mu   sync.Mutex
	held token
}

// token is a bearer token with its validity, if known.
type token struct {
	text        string
	got         time.Time
	until       time.Time // zero: unknown
	origin      string    // where it came from, for errors
	since, ends time.Time // stated in the token itself; zero: not stated
}

// fresh reports whether more than a sixth of the token's life is left. A token of unknown life is used once.
func (t *token) fresh(now time.Time) bool {
	return t.text != "" && !t.until.IsZero() && t.until.Sub(now) > t.until.Sub(t.got)/6
}

func (b *bearer) Name() string { return "OAUTHBEARER" }

func (b *bearer) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	t, err := b.token(ctx)
	if err != nil {
		return nil, nil, err
	}
	if strings.ContainsAny(t.text, "\x00\x01\r\n ") {
		return nil, nil, &refused{t.origin + " holds no bearer token",
			"a token is one word, but the file or the answer holds something else", nil}
	}
	first := "n,,\x01auth=Bearer " + t.text + "\x01"
	for _, name := range slices.Sorted(maps.Keys(b.from.Extensions)) {
		first += name + "=" + b.from.Extensions[name] + "\x01"
	}
	return &shown{b, t}, []byte(first + "\x01"), nil
}

// shown is a token that a broker is checking.
type shown struct {
	bearer *bearer
	token  token
}

// Next reads the broker's answer: empty, or an object that says what is wrong with the token.
func (s *shown) Next(_ context.Context, challenge []byte) (done bool, response []byte, err error) {
	if len(challenge) == 0 {
		return true, nil, nil
	}
	s.bearer.forget(s.token.text)
	said := fmt.Sprintf("the broker refuses the token of %s: %s", s.token.origin, clip(string(challenge)))
	if why, fix := s.token.wrong(s.bearer.now()); why != "" {
		return false, nil, &passing{errors.New(said + "; " + why), fix}
	}
	return false, nil, &refused{said, "check that the brokers accept its issuer, audience and scope, and that the clocks agree", nil}
}

// wrong returns what is wrong with the token by this machine's clock, and the fix. It returns "" if nothing is.
func (t *token) wrong(now time.Time) (why, fix string) {
	const skew = 10 * time.Second
	switch {
	case !t.ends.IsZero() && now.After(t.ends):
		return fmt.Sprintf("by this machine's clock it expired at %s, %v ago", t.ends.UTC().Format(time.RFC3339),
				now.Sub(t.ends).Round(time.Second)),
			"check that a newer token is written in time; if this one is new, this machine's clock is ahead: synchronize it (NTP)"
	case t.since.Sub(now) > skew:
		return fmt.Sprintf("by this machine's clock it is not valid for another %v", t.since.Sub(now).Round(time.Second)),
			"this machine's clock, or that of the token's issuer, is off: synchronize them (NTP)"
	}
	return "", ""
}

// token returns a token to send: that of the file, or one of the endpoint that has not expired.
func (b *bearer) token(ctx context.Context) (token, error) {
	if b.from.TokenFile != "" {
		return b.read()
	}
	if t := b.last(); t.fresh(b.now()) {
		return t, nil
	}
	select {
	case b.busy <- struct{}{}:
		defer func() { <-b.busy }()
	case <-ctx.Done():
		return token{}, fmt.Errorf("token endpoint %s: %w", b.from.TokenURL, context.Cause(ctx))
	}
	before := b.last()
	if before.fresh(b.now()) { // another goroutine got it meanwhile
		return before, nil
	}
	t, err := b.ask(ctx)
	if err != nil {
		if before.text != "" && before.until.After(b.now()) {
			return before, nil
		}
		return token{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = t
	return t, nil
}

func (b *bearer) last() token {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}

// forget drops a token that was refused.
func (b *bearer) forget(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held.text == text {
		b.held = token{}
	}
}

const writes = "check that the program that writes kafka.sasl.oauth.token_file is running"

// read reads the file.
func (b *bearer) read() (token, error) {
	file := b.from.TokenFile
	info, err := os.Stat(file) // before opening it, because a pipe would block
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxToken) {
		err = errors.New("it is not a regular file of at most 256 KiB")
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return token{}, &passing{fmt.Errorf("token file %s: %w", file, err), writes}
	}
	t := token{text: strings.TrimSpace(string(text)), got: b.now(), origin: file}
	if t.text == "" {
		return token{}, &passing{fmt.Errorf("token file %s is empty", file), writes}
	}
	t.since, t.ends = claims(t.text)
	return t, nil
}

// ask requests a token from the endpoint.
func (b *bearer) ask(ctx context.Context) (token, error) {
	o, secret := &b.from, b.from.Secret()
	c := clientcredentials.Config{TokenURL: o.TokenURL, ClientID: o.ClientID, ClientSecret: secret, Scopes: o.Scopes}
	if o.Audience != "" {
		c.EndpointParams = url.Values{"audience": {o.Audience}}
	}
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, oauth2.HTTPClient, b.client), askTimeout)
	defer cancel()
	got, err := c.Token(ctx)
	if err != nil {
		return token{}, b.askError(err, secret)
	}
	t := token{text: got.AccessToken, got: b.now(), until: got.Expiry, origin: o.TokenURL}
	t.since, t.ends = claims(t.text)
	if t.until.IsZero() {
		t.until = t.ends
	}
	return t, nil
}

// askError explains why the endpoint returned no token. It removes the secret from the endpoint's text, which may repeat it.
func (b *bearer) askError(err error, secret string) error {
	answer, isAnswer := errors.AsType[*oauth2.RetrieveError](err)
	if !isAnswer {
		if network, ok := errors.AsType[*url.Error](err); ok {
			return &passing{fmt.Errorf("token endpoint %s: %w", b.from.TokenURL, network.Err),
				"check that the endpoint is up, that kafka.sasl.oauth.token_url is right, and that kafka.sasl.oauth.ca signed its certificate"}
		}
		return &refused{"token endpoint " + b.from.TokenURL + ": " + b.shown(strings.TrimPrefix(err.Error(), "oauth2: "), secret),
			"check that kafka.sasl.oauth.token_url is the endpoint that issues tokens", nil}
	}
	status := answer.Response.StatusCode
	said := fmt.Sprintf("token endpoint %s answers %d", b.from.TokenURL, status)
	if text := cmp.Or(answer.ErrorCode, http.StatusText(status)); text != "" {
		said += " " + b.shown(text, secret)
	}
	if answer.ErrorDescription != "" {
		said += ": " + b.shown(answer.ErrorDescription, secret)
	}
	switch {
	case status == http.StatusTooManyRequests || status >= http.StatusInternalServerError:
		return &passing{errors.New(said), "the endpoint is out of service: brine retries"}
	case status == http.StatusUnauthorized || answer.ErrorCode == "invalid_client" || answer.ErrorCode == "unauthorized_client":
		return &refused{said, "correct kafka.sasl.oauth.client_id or kafka.sasl.oauth.client_secret", nil}
	case answer.ErrorCode == "invalid_scope":
		return &refused{said, "correct kafka.sasl.oauth.scope", nil}
	}
	return &refused{said, "correct kafka.sasl.oauth: token_url, scope and audience must be what the endpoint expects", nil}
}

// shown returns a text of the endpoint that is safe to print.
func (b *bearer) shown(text, secret string) string {
	for _, s := range []string{secret, url.QueryEscape(secret)} {
		if s != "" {
			text = strings.ReplaceAll(text, s, "…")
		}
	}
	return strings.Trim(fmt.Sprintf("%q", clip(text)), `"`)
}
