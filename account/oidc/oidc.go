// Package oidc signs people in by the OpenID provider of their company: in a browser, by an authorization code with PKCE (OpenID Connect
// Core 1.0, RFC 7636). What people are here follows from the claims of the ID token that the provider hands over for the code.
//
// The invariants: the person who signs in is the issuer and subject of a token that this provider has signed for this client, for this
// sign-in and for now; who has no role by the configuration has none here; and an unverified address is nobody's name.
package oidc

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	openid "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"brine/account"
)

// Options say whose sign-ins are taken, and what people are by them.
type Options struct {
	Issuer       string
	ClientID     string
	ClientSecret string
	Redirect     string   // the whole URL of the route that the provider sends browsers back to
	Scopes       []string // beside openid; profile
	Name         string   // of the provider, for people; its host

	RoleClaim  string                  // whose values say the role: a name, or a path with dots; groups
	Roles      map[string]account.Role // by value; of several the greatest
	NameClaim  string                  // the account's name; preferred_username
	OwnerClaim string                  // whose rows a customer reads; empty: there are no customers

	TLS *tls.Config      // of the provider; nil: the system's
	Now func() time.Time // nil: time.Now
}

// EnsureDefaults sets what is not set.
func (o *Options) EnsureDefaults() {
	o.RoleClaim = cmp.Or(o.RoleClaim, "groups")
	o.NameClaim = cmp.Or(o.NameClaim, "preferred_username")
	if len(o.Scopes) == 0 {
		o.Scopes = []string{"profile"}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

// ErrAway is wrapped by errors about a provider that gave no answer.
var ErrAway = errors.New("the provider gave no answer")

// RefusedError is a sign-in that is none. It holds nothing secret.
type RefusedError struct {
	Msg  string
	Left *Person // who it was, where the provider has shown that, and who has no role any more; else nil
}

func (e *RefusedError) Error() string { return e.Msg }

func refuse(format string, args ...any) error {
	return &RefusedError{Msg: fmt.Sprintf(format, args...)}
}

const (
	patience  = 5 * time.Second // for one answer of the provider
	maxAnswer = 1 << 20         // bytes of it
	fresh     = time.Hour       // then the provider is asked again where it is asked what
	pause     = 5 * time.Second // after an answer that did not come
	maxClaim  = 1_000           // values of the claim of roles
	beside    = 16              // sign-ins that wait for the provider at a time; for one more it is away
)

// Provider is one provider. It is safe for concurrent use, and asks nothing before somebody signs in.
type Provider struct {
	opts   Options
	client *http.Client
	turns  chan struct{} // has one for each sign-in that waits for the provider: it may be slow, and holds up no more than these

	mu     sync.Mutex // held while the provider is asked who it is: others wait for the same answer
	known  *openid.Provider
	since  time.Time
	failed error
	until  time.Time // failed is the answer

	ended once // the states of sign-ins that have ended
}

// New makes a provider of whole options.
func New(opts Options) *Provider {
	opts.EnsureDefaults()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = opts.TLS
	transport.MaxIdleConns = 4
	return &Provider{opts: opts, turns: make(chan struct{}, beside), client: &http.Client{Timeout: patience, Transport: bounded{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Close closes connections to the provider.
func (p *Provider) Close() { p.client.CloseIdleConnections() }

// Name is what people call the provider.
func (p *Provider) Name() string {
	_, host, _ := strings.Cut(p.opts.Issuer, "://")
	host, _, _ = strings.Cut(host, "/")
	return cmp.Or(p.opts.Name, host)
}

// bounded bounds what answers may have.
type bounded struct{ *http.Transport }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.Transport.RoundTrip(r)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	}
	return resp, err
}

func (p *Provider) enter() (leave func(), err error) {
	select {
	case p.turns <- struct{}{}:
		return func() { <-p.turns }, nil
	default:
		return nil, fmt.Errorf("%w: %d sign-ins wait for it", ErrAway, beside)
	}
}

// provider is what the provider says of itself, an hour old at most if it answers.
func (p *Provider) provider(ctx context.Context) (*openid.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.opts.Now()
	switch {
	case p.known != nil && now.Sub(p.since) < fresh:
		return p.known, nil
	case p.failed != nil && now.Before(p.until):
		if p.known != nil {
			return p.known, nil
		}
		return nil, p.failed
	}
	found, err := p.discover(ctx)
	if err != nil {
		p.failed, p.until = fmt.Errorf("%w: %w", ErrAway, err), now.Add(pause)
		if p.known != nil {
			return p.known, nil
		}
		return nil, p.failed
	}
	p.known, p.since, p.failed = found, now, nil
	return found, nil
}

func (p *Provider) discover(ctx context.Context) (*openid.Provider, error) {
	// Who asked first may go away: the answer is for all.
	found, err := openid.NewProvider(openid.ClientContext(context.WithoutCancel(ctx), p.client), p.opts.Issuer)
	if err != nil {
		return nil, err
	}
	var urls struct {
		Keys string `json:"jwks_uri"`
	}
	if err := found.Claims(&urls); err != nil {
		return nil, err
	}
	secure := strings.HasPrefix(p.opts.Issuer, "https://")
	for _, u := range []string{found.Endpoint().AuthURL, found.Endpoint().TokenURL, urls.Keys} {
		if secure && !strings.HasPrefix(u, "https://") || !strings.HasPrefix(u, "http") {
			return nil, errors.New("it names an address that is not one of https")
		}
	}
	return found, nil
}

func (p *Provider) oauth(found *openid.Provider) *oauth2.Config {
	return &oauth2.Config{ClientID: p.opts.ClientID, ClientSecret: p.opts.ClientSecret, RedirectURL: p.opts.Redirect,
		Endpoint: found.Endpoint(), Scopes: append([]string{openid.ScopeOpenID}, p.opts.Scopes...)}
}

// Started is what has to be known again when the browser comes back: by nobody but it.
type Started struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	Until    time.Time `json:"until"`
}

// startedFor is how long somebody may take at the provider.
const startedFor = 10 * time.Minute

// Begin begins a sign-in, and returns where the browser goes.
func (p *Provider) Begin(ctx context.Context) (to string, s Started, err error) {
	leave, err := p.enter()
	if err != nil {
		return "", s, err
	}
	defer leave()
	found, err := p.provider(ctx)
	if err != nil {
		return "", s, err
	}
	s = Started{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Until: p.opts.Now().Add(startedFor)}
	return p.oauth(found).AuthCodeURL(s.State, openid.Nonce(s.Nonce), oauth2.S256ChallengeOption(s.Verifier)), s, nil
}

// Returned is what the browser brings back.
type Returned struct {
	Code, State, Error string
	Issuer             string // RFC 9207; empty: the provider does not say
}

// Person is who has signed in.
type Person struct {
	Issuer, Subject string
	Name, Owner     string
	Role            account.Role
}

// Finish ends a sign-in that was begun. Its errors are *RefusedError, or wrap ErrAway.
func (p *Provider) Finish(ctx context.Context, s Started, got Returned) (Person, error) {
	switch {
	case s.State == "" || subtle.ConstantTimeCompare([]byte(s.State), []byte(got.State)) != 1:
		return Person{}, refuse("the sign-in was not begun in this browser")
	case !p.opts.Now().Before(s.Until):
		return Person{}, refuse("the sign-in has taken too long")
	case got.Issuer != "" && got.Issuer != p.opts.Issuer:
		return Person{}, refuse("another provider has answered")
	case got.Error != "" || got.Code == "":
		return Person{}, refuse("the provider has refused")
	case !p.ended.first(s.State, s.Until, p.opts.Now()):
		return Person{}, refuse("the sign-in has ended before")
	}
	leave, err := p.enter()
	if err != nil {
		return Person{}, err
	}
	defer leave()
	found, err := p.provider(ctx)
	if err != nil {
		return Person{}, err
	}
	ctx = openid.ClientContext(ctx, p.client)
	token, err := p.oauth(found).Exchange(ctx, got.Code, oauth2.VerifierOption(s.Verifier))
	var answered *oauth2.RetrieveError
	switch {
	case errors.As(err, &answered) && answered.Response != nil && answered.Response.StatusCode < http.StatusInternalServerError:
		return Person{}, refuse("the provider takes the code for none of its own")
	case answered != nil:
		return Person{}, fmt.Errorf("%w: its token endpoint failed", ErrAway) // what it says may quote secrets
	case err != nil:
		return Person{}, fmt.Errorf("%w: %w", ErrAway, err)
	}
	text, _ := token.Extra("id_token").(string)
	if text == "" {
		return Person{}, refuse("the provider has given no ID token")
	}
	return p.verified(ctx, found, text, s.Nonce)
}

// verified is who an ID token is of.
func (p *Provider) verified(ctx context.Context, found *openid.Provider, text, nonce string) (Person, error) {
	token, err := found.Verifier(&openid.Config{ClientID: p.opts.ClientID, Now: p.opts.Now}).Verify(ctx, text)
	switch {
	case err != nil && strings.Contains(err.Error(), "fetching keys"): // as the library words it
		return Person{}, fmt.Errorf("%w: its keys did not come", ErrAway)
	case err != nil:
		return Person{}, refuse("the ID token is not valid: %s", reason(err))
	}
	claims := map[string]any{}
	if err := token.Claims(&claims); err != nil {
		return Person{}, refuse("the claims of the ID token are no object")
	}
	party, named := claims["azp"]
	switch {
	case token.Subject == "" || len(token.Subject) > 255:
		return Person{}, refuse("the ID token has no subject")
	case subtle.ConstantTimeCompare([]byte(nonce), []byte(token.Nonce)) != 1:
		return Person{}, refuse("the ID token is of another sign-in")
	case named && party != p.opts.ClientID, !named && len(token.Audience) > 1:
		return Person{}, refuse("the ID token was given to another client")
	}
	return p.person(p.opts.Issuer, token.Subject, claims) // not as the token spells it: the same issuer is one
}

// reason words why a token is not valid without quoting it.
func reason(err error) string {
	if _, over := errors.AsType[*openid.TokenExpiredError](err); over {
		return "it has expired"
	}
	text := err.Error()
	for _, known := range [][2]string{{"audience", "it is for another client"}, {"different provider", "it is of another issuer"},
		{"malformed", "it is not signed as the provider signs"}, {"signature", "its signature is none of the provider's"},
		{"not before", "it is not valid yet"}} {
		if strings.Contains(text, known[0]) {
			return known[1]
		}
	}
	return "it cannot be read"
}

// person is who has such claims.
func (p *Provider) person(issuer, subject string, claims map[string]any) (Person, error) {
	out := Person{Issuer: issuer, Subject: subject}
	var err error
	if out.Name, err = text(claims, p.opts.NameClaim); err != nil {
		return out, err
	}
	for _, value := range values(claims, p.opts.RoleClaim) {
		if role, ok := p.opts.Roles[value]; ok && (out.Role == "" || role.AtLeast(out.Role)) {
			out.Role = role
		}
	}
	if out.Role == "" {
		return out, &RefusedError{Msg: fmt.Sprintf("none of the values of the claim %s has a role here", p.opts.RoleClaim), Left: &out}
	}
	if out.Role == account.Customer { // nobody owns rows by a name that he may have chosen
		out.Owner, err = text(claims, p.opts.OwnerClaim)
	}
	return out, err
}

// text is the text of a claim. An address of e-mail counts if the provider has verified it.
func text(claims map[string]any, name string) (string, error) {
	s, _ := at(claims, name).(string)
	switch {
	case s == "":
		return "", refuse("the ID token has no claim %s", name)
	case name == "email" && claims["email_verified"] != true:
		return "", refuse("the provider has not verified the claim %s", name)
	}
	return s, nil
}

// values are the texts of a claim: it is one, or a list.
func values(claims map[string]any, name string) (out []string) {
	switch v := at(claims, name).(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v[:min(len(v), maxClaim)] {
			if s, ok := one.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// at is a claim by its name, or by a path with dots.
func at(claims map[string]any, name string) any {
	if v, ok := claims[name]; ok {
		return v
	}
	path := strings.Split(name, ".")
	var v any = claims
	for i := range path {
		object, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = object[path[i]]
	}
	return v
}
