// Package oidc signs people in through their company's OpenID provider: in a browser, by an authorization code with PKCE (OpenID Connect
// Core 1.0, RFC 7636). Their account follows from the claims of the ID token that the provider returns for the code.
//
// The invariants: the person who signs in is the issuer and subject of a token that this provider signed for this client, for this sign-in,
// and that is valid now. Nobody has a role here unless the configuration gives it. An unverified address is nobody's name.
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
	"brine/internal/certs"
)

// Options configure the provider, and how its claims become accounts.
type Options struct {
	Issuer       string
	ClientID     string
	ClientSecret func() string // called for each request; nil: none
	Redirect     string        // full URL of the route to which the provider sends browsers back
	Scopes       []string      // besides openid; profile
	Name         string        // of the provider, as shown to people; its host

	RoleClaim  string                  // claim whose values determine the role: a name, or a path with dots; groups
	Roles      map[string]account.Role // by value; the greatest counts if there are several
	NameClaim  string                  // claim of the account's name; preferred_username
	OwnerClaim string                  // claim of the owner whose rows a customer reads; empty: there are no customers

	TLS func() *tls.Config // for the provider, called for each connection; nil: the system's authorities
	Now func() time.Time   // nil: time.Now
}

// EnsureDefaults sets unset options to their defaults.
func (o *Options) EnsureDefaults() {
	o.RoleClaim = cmp.Or(o.RoleClaim, "groups")
	o.NameClaim = cmp.Or(o.NameClaim, "preferred_username")
	if len(o.Scopes) == 0 {
		o.Scopes = []string{"profile"}
	}
	if o.ClientSecret == nil {
		o.ClientSecret = func() string { return "" }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

// ErrAway is wrapped by errors about a provider that did not answer.
var ErrAway = errors.New("the provider did not answer")

// RefusedError is a refused sign-in. It holds nothing secret.
type RefusedError struct {
	Msg  string
	Left *Person // the person, if the provider identified somebody who no longer has a role; else nil
}

func (e *RefusedError) Error() string { return e.Msg }

func refuse(format string, args ...any) error {
	return &RefusedError{Msg: fmt.Sprintf(format, args...)}
}

const (
	patience  = 5 * time.Second // for one answer of the provider
	maxAnswer = 1 << 20         // bytes per answer
	fresh     = time.Hour       // lifetime of the provider's metadata
	pause     = 5 * time.Second // after a missing answer
	maxClaim  = 1_000           // values of the claim of roles
	beside    = 16              // sign-ins that may wait for the provider at a time; any more get ErrAway
)

// Provider is one provider. It is safe for concurrent use, and sends no request before somebody signs in.
type Provider struct {
	opts   Options
	client *http.Client
	turns  chan struct{} // one for each sign-in that waits for the provider: a slow provider holds up only these

	mu     sync.Mutex // held while the provider's metadata is fetched: others wait for the same answer
	known  *openid.Provider
	since  time.Time
	failed error
	until  time.Time // until then, failed is the answer

	ended once // the states of completed sign-ins
}

// New returns a provider with opts, which must be complete.
func New(opts Options) *Provider {
	opts.EnsureDefaults()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if opts.TLS != nil {
		certs.Follow(transport, opts.TLS)
	}
	transport.MaxIdleConns = 4
	return &Provider{opts: opts, turns: make(chan struct{}, beside), client: &http.Client{Timeout: patience, Transport: bounded{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Close closes the connections to the provider.
func (p *Provider) Close() { p.client.CloseIdleConnections() }

// Redirect returns the URL of the route to which the provider sends browsers back.
func (p *Provider) Redirect() string { return p.opts.Redirect }

// Name returns the provider's name as people know it.
func (p *Provider) Name() string {
	_, host, _ := strings.Cut(p.opts.Issuer, "://")
	host, _, _ = strings.Cut(host, "/")
	return cmp.Or(p.opts.Name, host)
}

// bounded bounds the size of answers.
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
		return nil, fmt.Errorf("%w: %d sign-ins are waiting for it", ErrAway, beside)
	}
}

// provider returns the provider's metadata, at most an hour old if it answers.
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
	// The first caller may go away, but the answer is for all.
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
			return nil, errors.New("it names an address that is not https")
		}
	}
	return found, nil
}

func (p *Provider) oauth(found *openid.Provider) *oauth2.Config {
	return &oauth2.Config{ClientID: p.opts.ClientID, ClientSecret: p.opts.ClientSecret(), RedirectURL: p.opts.Redirect,
		Endpoint: found.Endpoint(), Scopes: append([]string{openid.ScopeOpenID}, p.opts.Scopes...)}
}

// Started is what the browser, and nobody else, must bring back to finish the sign-in.
type Started struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	Until    time.Time `json:"until"`
}

// startedFor is how long somebody may spend at the provider.
const startedFor = 10 * time.Minute

// Begin begins a sign-in, and returns the URL to which to send the browser.
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
	Issuer             string // RFC 9207; empty: the provider does not send it
}

// Person is somebody who has signed in.
type Person struct {
	Issuer, Subject string
	Name, Owner     string
	Role            account.Role
}

// Finish completes a sign-in. Its errors are *RefusedError, or wrap ErrAway.
func (p *Provider) Finish(ctx context.Context, s Started, got Returned) (Person, error) {
	switch {
	case s.State == "" || subtle.ConstantTimeCompare([]byte(s.State), []byte(got.State)) != 1:
		return Person{}, refuse("the sign-in was not started in this browser")
	case !p.opts.Now().Before(s.Until):
		return Person{}, refuse("the sign-in took too long")
	case got.Issuer != "" && got.Issuer != p.opts.Issuer:
		return Person{}, refuse("another provider answered")
	case got.Error != "" || got.Code == "":
		return Person{}, refuse("the provider refused")
	case !p.ended.first(s.State, s.Until, p.opts.Now()):
		return Person{}, refuse("the sign-in has already ended")
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
		return Person{}, refuse("the provider rejects the code")
	case answered != nil:
		return Person{}, fmt.Errorf("%w: its token endpoint failed", ErrAway) // the provider's text may quote secrets
	case err != nil:
		return Person{}, fmt.Errorf("%w: %w", ErrAway, err)
	}
	text, _ := token.Extra("id_token").(string)
	if text == "" {
		return Person{}, refuse("the provider returned no ID token")
	}
	return p.verified(ctx, found, text, s.Nonce)
}

// verified returns the person whom an ID token identifies.
func (p *Provider) verified(ctx context.Context, found *openid.Provider, text, nonce string) (Person, error) {
	token, err := found.Verifier(&openid.Config{ClientID: p.opts.ClientID, Now: p.opts.Now}).Verify(ctx, text)
	switch {
	case err != nil && strings.Contains(err.Error(), "fetching keys"): // the library's wording
		return Person{}, fmt.Errorf("%w: could not fetch its keys", ErrAway)
	case err != nil:
		return Person{}, refuse("the ID token is not valid: %s", reason(err))
	}
	claims := map[string]any{}
	if err := token.Claims(&claims); err != nil {
		return Person{}, refuse("the claims of the ID token are not an object")
	}
	party, named := claims["azp"]
	switch {
	case token.Subject == "" || len(token.Subject) > 255:
		return Person{}, refuse("the ID token has no subject")
	case subtle.ConstantTimeCompare([]byte(nonce), []byte(token.Nonce)) != 1:
		return Person{}, refuse("the ID token belongs to another sign-in")
	case named && party != p.opts.ClientID, !named && len(token.Audience) > 1:
		return Person{}, refuse("the ID token was issued to another client")
	}
	return p.person(p.opts.Issuer, token.Subject, claims) // not as the token spells it, so that one issuer has one spelling
}

// reason describes why a token is not valid, without quoting it.
func reason(err error) string {
	if _, over := errors.AsType[*openid.TokenExpiredError](err); over {
		return "it has expired"
	}
	text := err.Error()
	for _, known := range [][2]string{{"audience", "it is for another client"}, {"different provider", "it is from another issuer"},
		{"malformed", "it is not signed the way the provider signs"}, {"signature", "its signature is not the provider's"},
		{"not before", "it is not valid yet"}} {
		if strings.Contains(text, known[0]) {
			return known[1]
		}
	}
	return "it cannot be read"
}

// person returns the person with these claims.
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
		return out, &RefusedError{Msg: fmt.Sprintf("no value of the claim %s has a role here", p.opts.RoleClaim), Left: &out}
	}
	if out.Role == account.Customer { // nobody owns rows by a name that he may have chosen himself
		out.Owner, err = text(claims, p.opts.OwnerClaim)
	}
	return out, err
}

// text returns the text of a claim. An e-mail address counts only if the provider has verified it.
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

// values returns the texts of a claim, which is one text or a list.
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

// at returns a claim by its name, or by a path with dots.
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
