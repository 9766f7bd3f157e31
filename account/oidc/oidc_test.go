package oidc_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"go.uber.org/goleak"

	"brine/account"
	"brine/account/oidc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// issuer is a provider: it has a code for any request, and an ID token for the code and its verifier.
type issuer struct {
	*httptest.Server
	t *testing.T

	mu         sync.Mutex
	key        jose.JSONWebKey
	published  []jose.JSONWebKey
	codes      map[string]url.Values // the requests for which they were given
	claims     func(map[string]any)  // changes the claims of the token
	token      func(claims map[string]any) string
	away       bool
	keyless    bool // answers everything except for requests for the keys
	discovered int
}

func newKey(t *testing.T, id string) jose.JSONWebKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return jose.JSONWebKey{Key: k, KeyID: id, Algorithm: "ES256", Use: "sig"}
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{t: t, key: newKey(t, "k1"), codes: map[string]url.Values{}}
	i.published = []jose.JSONWebKey{i.key.Public()}
	i.Server = httptest.NewServer(i)
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	answer := func(v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	switch {
	case i.away:
		w.WriteHeader(http.StatusInternalServerError)
	case r.URL.Path == "/.well-known/openid-configuration":
		i.discovered++
		answer(map[string]any{"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token",
			"jwks_uri": i.URL + "/keys", "id_token_signing_alg_values_supported": []string{"ES256", "HS256", "none"}})
	case i.keyless && r.URL.Path == "/keys":
		w.WriteHeader(http.StatusInternalServerError)
	case r.URL.Path == "/keys":
		answer(jose.JSONWebKeySet{Keys: i.published})
	case r.URL.Path == "/token":
		i.give(w, r, answer)
	default:
		http.NotFound(w, r)
	}
}

func (i *issuer) give(w http.ResponseWriter, r *http.Request, answer func(any)) {
	asked, known := i.codes[r.FormValue("code")]
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if !known || base64.RawURLEncoding.EncodeToString(sum[:]) != asked.Get("code_challenge") || r.FormValue("redirect_uri") != asked.Get("redirect_uri") {
		w.WriteHeader(http.StatusBadRequest)
		answer(map[string]any{"error": "invalid_grant"})
		return
	}
	delete(i.codes, r.FormValue("code"))
	claims := map[string]any{"iss": i.URL, "aud": "brine", "sub": "s-1", "exp": time.Now().Add(time.Minute).Unix(), "iat": time.Now().Unix(),
		"nonce": asked.Get("nonce"), "preferred_username": "zoe", "number": "u00042", "groups": []string{"shoppers", "none of ours"}}
	if i.claims != nil {
		i.claims(claims)
	}
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	token := i.signed(i.key, claims)
	if i.token != nil {
		token = i.token(claims)
	}
	answer(map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": token})
}

func (i *issuer) signed(key jose.JSONWebKey, claims map[string]any) string {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(key.Algorithm), Key: key}, nil)
	if err != nil {
		i.t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		i.t.Fatal(err)
	}
	jws, err := signer.Sign(payload)
	if err != nil {
		i.t.Fatal(err)
	}
	text, err := jws.CompactSerialize()
	if err != nil {
		i.t.Fatal(err)
	}
	return text
}

// authorize does what the provider's page does: it returns a code for the request at an address.
func (i *issuer) authorize(to string) (code, state string) {
	u, err := url.Parse(to)
	if err != nil || !strings.HasPrefix(to, i.URL+"/authorize?") {
		i.t.Fatalf("the browser is led to %s", to)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	code = rand.Text()
	i.codes[code] = u.Query()
	return code, u.Query().Get("state")
}

func (i *issuer) provider(change func(*oidc.Options)) *oidc.Provider {
	o := oidc.Options{Issuer: i.URL, ClientID: "brine", ClientSecret: func() string { return "hush" }, Redirect: "https://orders.example.com/return", OwnerClaim: "number",
		Roles: map[string]account.Role{"shoppers": account.Customer, "desk": account.Support}}
	if change != nil {
		change(&o)
	}
	p := oidc.New(o)
	i.t.Cleanup(p.Close)
	return p
}

func (i *issuer) signIn(p *oidc.Provider) (oidc.Person, error) {
	to, started, err := p.Begin(i.t.Context())
	if err != nil {
		return oidc.Person{}, err
	}
	code, state := i.authorize(to)
	return p.Finish(i.t.Context(), started, oidc.Returned{Code: code, State: state})
}

func TestSignIn(t *testing.T) {
	i := newIssuer(t)
	got, err := i.signIn(i.provider(nil))
	if want := (oidc.Person{Issuer: i.URL, Subject: "s-1", Name: "zoe", Owner: "u00042", Role: account.Customer}); err != nil || got != want {
		t.Fatalf("%+v, %v", got, err)
	}
	i.claims = func(c map[string]any) {
		c["groups"] = nil
		c["realm"] = map[string]any{"roles": []string{"shoppers", "desk"}}
	}
	got, err = i.signIn(i.provider(func(o *oidc.Options) { o.RoleClaim = "realm.roles" }))
	if err != nil || got.Role != account.Support || got.Owner != "" {
		t.Fatalf("the greatest of several roles: %+v, %v", got, err)
	}
}

// TestTokensThatAreRefused tests what a provider, or an attacker in between, may return instead.
func TestTokensThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		claims func(map[string]any)
		token  func(*issuer, map[string]any) string
		change func(*oidc.Options)
		want   string
	}{
		"wrong nonce":     {claims: func(c map[string]any) { c["nonce"] = "another" }, want: "belongs to another sign-in"},
		"no nonce":        {claims: func(c map[string]any) { c["nonce"] = nil }, want: "belongs to another sign-in"},
		"wrong audience":  {claims: func(c map[string]any) { c["aud"] = "another" }, want: "for another client"},
		"several":         {claims: func(c map[string]any) { c["aud"] = []string{"brine", "another"} }, want: "issued to another client"},
		"another party":   {claims: func(c map[string]any) { c["azp"] = "another" }, want: "issued to another client"},
		"expired":         {claims: func(c map[string]any) { c["exp"] = time.Now().Add(-time.Second).Unix() }, want: "has expired"},
		"not yet":         {claims: func(c map[string]any) { c["nbf"] = time.Now().Add(time.Hour).Unix() }, want: "not valid yet"},
		"another issuer":  {claims: func(c map[string]any) { c["iss"] = "https://evil.example.com" }, want: "from another issuer"},
		"no subject":      {claims: func(c map[string]any) { c["sub"] = nil }, want: "no subject"},
		"no role claim":   {claims: func(c map[string]any) { c["groups"] = nil }, want: "no value of the claim groups"},
		"no role of ours": {claims: func(c map[string]any) { c["groups"] = []any{"admin", 7, map[string]any{}} }, want: "no value of the claim"},
		"no name":         {claims: func(c map[string]any) { c["preferred_username"] = 7 }, want: "no claim preferred_username"},
		"no owner":        {claims: func(c map[string]any) { c["number"] = nil }, want: "no claim number"},
		"unverified": {claims: func(c map[string]any) { c["email"] = "zoe@example.com" }, want: "has not verified the claim email",
			change: func(o *oidc.Options) { o.NameClaim = "email" }},
		"alg none": {token: func(_ *issuer, c map[string]any) string {
			payload, _ := json.Marshal(c)
			return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + base64.RawURLEncoding.EncodeToString(payload) + "."
		}, want: "not signed the way the provider signs"},
		"signed by the client's secret": {token: func(i *issuer, c map[string]any) string {
			return i.signed(jose.JSONWebKey{Key: []byte(strings.Repeat("hush", 16)), Algorithm: "HS256"}, c)
		}, want: "not signed the way the provider signs"},
		"signed by another key":      {token: func(i *issuer, c map[string]any) string { return i.signed(newKey(i.t, "k1"), c) }, want: "is not the provider's"},
		"signed by a key of no name": {token: func(i *issuer, c map[string]any) string { return i.signed(newKey(i.t, "k9"), c) }, want: "is not the provider's"},
		"none at all":                {token: func(*issuer, map[string]any) string { return "" }, want: "no ID token"},
		"no token":                   {token: func(*issuer, map[string]any) string { return "a.b.c" }, want: "not valid"},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIssuer(t)
			i.claims = c.claims
			if c.token != nil {
				i.token = func(claims map[string]any) string { return c.token(i, claims) }
			}
			got, err := i.signIn(i.provider(c.change))
			refused, ok := errors.AsType[*oidc.RefusedError](err)
			if !ok || !strings.Contains(refused.Msg, c.want) {
				t.Fatalf("%+v, %v, want %q", got, err, c.want)
			}
			if strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "zoe@") {
				t.Errorf("%v says too much", err)
			}
		})
	}
}

// TestReturnsThatAreRefused tests returns from another browser, another sign-in or another provider, too late, or twice.
func TestReturnsThatAreRefused(t *testing.T) {
	i := newIssuer(t)
	now := time.Now()
	p := i.provider(func(o *oidc.Options) { o.Now = func() time.Time { return now } })
	begin := func() (oidc.Started, oidc.Returned) {
		to, started, err := p.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		code, state := i.authorize(to)
		return started, oidc.Returned{Code: code, State: state}
	}
	for name, c := range map[string]struct {
		change func(*oidc.Started, *oidc.Returned)
		want   string
	}{
		"another state":    {func(_ *oidc.Started, r *oidc.Returned) { r.State = "x" }, "not started in this browser"},
		"no state":         {func(s *oidc.Started, r *oidc.Returned) { s.State, r.State = "", "" }, "not started in this browser"},
		"another verifier": {func(s *oidc.Started, _ *oidc.Returned) { s.Verifier = strings.Repeat("x", 43) }, "rejects the code"},
		"another code":     {func(_ *oidc.Started, r *oidc.Returned) { r.Code = "x" }, "rejects the code"},
		"another issuer":   {func(_ *oidc.Started, r *oidc.Returned) { r.Issuer = "https://evil.example.com" }, "another provider"},
		"an error":         {func(_ *oidc.Started, r *oidc.Returned) { r.Error = "access_denied" }, "refused"},
		"too late":         {func(s *oidc.Started, _ *oidc.Returned) { s.Until = now }, "too long"},
	} {
		s, r := begin()
		c.change(&s, &r)
		_, err := p.Finish(t.Context(), s, r)
		if refused, ok := errors.AsType[*oidc.RefusedError](err); !ok || !strings.Contains(refused.Msg, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s, r := begin()
	if _, err := p.Finish(t.Context(), s, r); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Finish(t.Context(), s, r); err == nil {
		t.Error("a code counts twice")
	}
}

// TestKeysChange checks that tokens with a new key are accepted as soon as the provider publishes it.
func TestKeysChange(t *testing.T) {
	i := newIssuer(t)
	p := i.provider(nil)
	if _, err := i.signIn(p); err != nil {
		t.Fatal(err)
	}
	i.key = newKey(t, "k2")
	i.published = []jose.JSONWebKey{i.key.Public()}
	// For a moment, the library may use the answer to the first sign-in for the second.
	for {
		_, err := i.signIn(p)
		if err == nil {
			break
		}
		if _, refused := errors.AsType[*oidc.RefusedError](err); !refused {
			t.Fatal(err)
		}
	}
}

// TestASlowProviderHoldsUpFew checks that of many concurrent sign-ins some wait for the provider, and the others get ErrAway.
func TestASlowProviderHoldsUpFew(t *testing.T) {
	i := newIssuer(t)
	p := i.provider(nil)
	i.mu.Lock() // nothing is answered
	ended := make(chan error, 100)
	for range 100 {
		go func() {
			_, _, err := p.Begin(t.Context())
			ended <- err
		}()
	}
	for range 100 - 16 {
		if err := <-ended; !errors.Is(err, oidc.ErrAway) {
			t.Error(err)
		}
	}
	i.mu.Unlock()
	for range 16 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestASignInEndsOnce checks that a saved cookie does not begin a second sign-in, and sends no request to the provider.
func TestASignInEndsOnce(t *testing.T) {
	i := newIssuer(t)
	now := time.Now()
	p := i.provider(func(o *oidc.Options) { o.Now = func() time.Time { return now } })
	to, started, err := p.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	code, state := i.authorize(to)
	if _, err := p.Finish(t.Context(), started, oidc.Returned{Code: code, State: state}); err != nil {
		t.Fatal(err)
	}
	another, _ := i.authorize(to)
	if _, err := p.Finish(t.Context(), started, oidc.Returned{Code: another, State: state}); err == nil || err.Error() != "the sign-in has already ended" {
		t.Error(err)
	}
	if len(i.codes) != 1 {
		t.Error("the provider was asked for the second code")
	}
}

// TestKeysThatDoNotComeAreAnOutage checks that missing keys do not count against the token.
func TestKeysThatDoNotComeAreAnOutage(t *testing.T) {
	i := newIssuer(t)
	i.keyless = true
	if _, err := i.signIn(i.provider(nil)); !errors.Is(err, oidc.ErrAway) {
		t.Error(err)
	}
}

// TestWhoAsksFirstMayGoAway checks that the provider's metadata is there for the next caller all the same.
func TestWhoAsksFirstMayGoAway(t *testing.T) {
	i := newIssuer(t)
	p := i.provider(nil)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := p.Begin(ended); err != nil {
		t.Error(err)
	}
	if _, err := i.signIn(p); err != nil {
		t.Error(err)
	}
}

// TestWhoHasNoRoleIsNamed checks that the person is named, so that their sessions and tokens here can end.
func TestWhoHasNoRoleIsNamed(t *testing.T) {
	i := newIssuer(t)
	i.claims = func(c map[string]any) { c["groups"] = "strangers" }
	_, err := i.signIn(i.provider(nil))
	refused, ok := errors.AsType[*oidc.RefusedError](err)
	if !ok || refused.Left == nil || refused.Left.Subject != "s-1" || refused.Left.Issuer != i.URL {
		t.Errorf("%+v", err)
	}
	i.claims = func(c map[string]any) { c["nonce"] = "another" }
	if _, err = i.signIn(i.provider(nil)); !errors.As(err, &refused) || refused.Left != nil {
		t.Errorf("a token that is not for us names somebody: %+v", err)
	}
}

// TestOutages checks that a provider that does not answer is asked again after a while, but not by everybody, and that its known metadata
// stays.
func TestOutages(t *testing.T) {
	i := newIssuer(t)
	i.away = true
	now := time.Now()
	p := i.provider(func(o *oidc.Options) { o.Now = func() time.Time { return now } })
	for range 3 {
		if _, err := i.signIn(p); !errors.Is(err, oidc.ErrAway) {
			t.Fatal(err)
		}
	}
	i.away = false
	if _, err := i.signIn(p); !errors.Is(err, oidc.ErrAway) || i.discovered > 0 {
		t.Fatalf("asked %d times, %v", i.discovered, err)
	}
	now = now.Add(6 * time.Second)
	if _, err := i.signIn(p); err != nil {
		t.Fatal(err)
	}
	to, started, err := p.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	code, state := i.authorize(to)
	i.away = true
	now = now.Add(2 * time.Minute)
	if _, err := p.Finish(t.Context(), started, oidc.Returned{Code: code, State: state}); !errors.Is(err, oidc.ErrAway) {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := i.provider(nil).Finish(ended, started, oidc.Returned{Code: code, State: state}); !errors.Is(err, oidc.ErrAway) {
		t.Fatal(err)
	}
}
