package serve_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"brine/account"
	"brine/account/oidc"
	"brine/serve"
)

// company is an OpenID provider that accepts everybody as the person that the test names.
type company struct {
	*httptest.Server
	subject, name, group string
	nonce                string
	away                 bool
}

func newCompany(t *testing.T) *company {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	jwk := jose.JSONWebKey{Key: key, KeyID: "k", Algorithm: "RS256", Use: "sig"}
	c := &company{subject: "s-1", name: "Zoe", group: "shoppers"}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var v any
		switch {
		case c.away:
			w.WriteHeader(http.StatusBadGateway)
			return
		case strings.HasPrefix(r.URL.Path, "/.well-known/"):
			v = map[string]any{"issuer": c.URL, "authorization_endpoint": c.URL + "/authorize", "token_endpoint": c.URL + "/token", "jwks_uri": c.URL + "/keys"}
		case r.URL.Path == "/keys":
			v = jose.JSONWebKeySet{Keys: []jose.JSONWebKey{jwk.Public()}}
		case r.URL.Path == "/token":
			signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jwk}, nil)
			if err != nil {
				panic(err)
			}
			payload, _ := json.Marshal(map[string]any{"iss": c.URL, "aud": "brine", "sub": c.subject, "exp": time.Now().Add(time.Minute).Unix(),
				"nonce": c.nonce, "preferred_username": c.name, "groups": c.group, "number": "u1"})
			jws, err := signer.Sign(payload)
			if err != nil {
				panic(err)
			}
			text, _ := jws.CompactSerialize()
			v = map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": text}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *company) guarded(t *testing.T, change ...func(*serve.Options)) *guarded {
	t.Helper()
	p := oidc.New(oidc.Options{Issuer: c.URL, ClientID: "brine", Redirect: "http://127.0.0.1:8090" + serve.CompanyReturn, OwnerClaim: "number", Name: "Example Ltd",
		Roles: map[string]account.Role{"shoppers": account.Customer, "desk": account.Support}})
	t.Cleanup(p.Close)
	return newGuarded(t, func(o *serve.Options) {
		o.Company = p
		for _, f := range change {
			f(o)
		}
	})
}

// begun starts a sign-in, and returns its cookie and state.
func (c *company) begun(t *testing.T, g *guarded) (kept, state string) {
	t.Helper()
	w := g.ask("GET", "/api/v1/session/oidc", "")
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil || w.Code != 303 || !strings.HasPrefix(to.String(), c.URL+"/authorize?") {
		t.Fatalf("%d %s %s", w.Code, w.Header(), w.Body)
	}
	q := to.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("redirect_uri") != "http://127.0.0.1:8090/api/v1/session/oidc/return" || q.Get("client_id") != "brine" {
		t.Errorf("the provider is asked %v", q)
	}
	c.nonce = q.Get("nonce")
	cookie := w.Result().Cookies()[0]
	if !cookie.Secure || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || strings.Contains(cookie.Value, q.Get("state")) {
		t.Errorf("the cookie %s", cookie)
	}
	return cookie.Name + "=" + cookie.Value, q.Get("state")
}

func (c *company) signIn(t *testing.T, g *guarded) *httptest.ResponseRecorder {
	t.Helper()
	kept, state := c.begun(t, g)
	return g.ask("GET", "/api/v1/session/oidc/return?code=x&session_state=theirs&state="+state, "", "Cookie", kept)
}

func sessionOf(w *httptest.ResponseRecorder) string {
	for _, c := range w.Result().Cookies() {
		if c.Name == "__Host-brine" {
			return c.Name + "=" + c.Value
		}
	}
	return ""
}

// TestSignInByACompany checks that a person who comes back from the provider has a session with the role and owner of the claims, and that
// the audit has both.
func TestSignInByACompany(t *testing.T) {
	c := newCompany(t)
	g := c.guarded(t)
	if w := g.ask("GET", "/api/v1/session", ""); strings.TrimSpace(w.Body.String()) !=
		`{"password":true,"companies":[{"name":"Example Ltd","path":"/api/v1/session/oidc"}]}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w := c.signIn(t, g)
	session := sessionOf(w)
	if w.Code != 303 || w.Header().Get("Location") != "/" || session == "" {
		t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	me := func(session string) string {
		return strings.TrimSpace(g.ask("GET", "/api/v1/me", "", "Cookie", session).Body.String())
	}
	if got := me(session); got != `{"name":"zoe","role":"customer","owner":"u1"}` {
		t.Errorf("%s", got)
	}
	if w := g.ask("GET", "/api/v1/views/user-orders", "", "Cookie", session); w.Code != 200 || !strings.Contains(w.Body.String(), "G-u1") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	c.group, c.name = "desk", "whoever" // the same subject
	again := sessionOf(c.signIn(t, g))
	if got := me(again); got != `{"name":"zoe","role":"support"}` {
		t.Errorf("%s", got)
	}
	if got := me(session); !strings.Contains(got, "unsigned") {
		t.Errorf("a session of the former role goes on: %s", got)
	}
	token := g.ask("POST", "/api/v1/me/tokens", `{"name": "mine", "role": "support", "expires": "`+time.Now().Add(time.Hour).UTC().Format(time.RFC3339)+`"}`, "Cookie", again, "Content-Type", jsonBody)
	var given struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal(token.Body.Bytes(), &given); err != nil || given.Token == "" {
		t.Fatalf("%d %s", token.Code, token.Body)
	}
	bearer := func() int { return g.ask("GET", "/api/v1/me", "", "Authorization", "Bearer "+given.Token).Code }
	if code := bearer(); code != 200 {
		t.Errorf("the token is answered %d", code)
	}
	c.group = "strangers" // she has left the company
	if w := c.signIn(t, g); w.Code != 401 || !strings.Contains(me(again), "unsigned") || bearer() != 401 {
		t.Errorf("who has left goes on: %d, %s, her token %d", w.Code, me(again), bearer())
	}
	audit := g.audited(t)
	if n := strings.Count(audit, "sign-in issuer="); n != 2 || !strings.Contains(audit, `subject="s-1"`) {
		t.Errorf("%s", audit)
	}
}

// TestSignInsByACompanyThatAreRefused checks sign-ins without a browser's cookie, with another's or a used state, with a name that is
// taken, without a role, and of a disabled account.
func TestSignInsByACompanyThatAreRefused(t *testing.T) {
	c := newCompany(t)
	g := c.guarded(t)
	kept, state := c.begun(t, g)
	other, _ := c.begun(t, g)
	for name, ask := range map[string][]string{
		"no cookie":        {"?code=x&state=" + state},
		"another's cookie": {"?code=x&state=" + state, "Cookie", other},
		"another state":    {"?code=x&state=y", "Cookie", kept},
		"a made cookie":    {"?code=x&state=y", "Cookie", `__Host-brine-oidc={"state":"y"}`},
		"two cookies":      {"?code=x&state=" + state, "Cookie", kept + "; " + other},
		"an error":         {"?error=access_denied&state=" + state, "Cookie", kept},
	} {
		w := g.ask("GET", "/api/v1/session/oidc/return"+ask[0], "", ask[1:]...)
		if w.Code != 401 || sessionOf(w) != "" || !strings.HasPrefix(w.Header().Get("Content-Type"), "application/problem+json") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	c.name, c.subject = "u2", "s-2"
	if w := c.signIn(t, g); w.Code != 401 || !strings.Contains(w.Body.String(), "an account of the same name") {
		t.Errorf("a company takes over another's account: %d %s", w.Code, w.Body)
	}
	c.name, c.group = "yan", "strangers"
	if w := c.signIn(t, g); w.Code != 401 || !strings.Contains(w.Body.String(), "has a role here") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	c.group = "shoppers"
	session := sessionOf(c.signIn(t, g))
	off := false
	if _, err := g.accounts.Change(t.Context(), "yan", account.Change{Enabled: &off}); err != nil {
		t.Fatal(err)
	}
	if w := c.signIn(t, g); w.Code != 401 || !strings.Contains(w.Body.String(), "disabled") || g.ask("GET", "/api/v1/me", "", "Cookie", session).Code != 401 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if audit := g.audited(t); !strings.Contains(audit, "sign-in.refused through the company's provider: its account is disabled") {
		t.Errorf("%s", audit)
	}
}

// TestSignInsByACompanyAreBounded checks that a caller without credentials can ask the provider and write to the audit no faster than
// anybody may read.
func TestSignInsByACompanyAreBounded(t *testing.T) {
	c := newCompany(t)
	g := c.guarded(t, func(o *serve.Options) { o.PerSecond = 0.001 }) // or a slow machine might ask no faster than that
	for _, path := range []string{"/api/v1/session/oidc/return?code=x&state=y", "/api/v1/session/oidc"} {
		n := 0
		for ; n < 1000 && g.ask("GET", path, "").Code != 429; n++ {
		}
		if n == 1000 {
			t.Errorf("%s: %d sign-ins in a row", path, n)
		}
	}
}

// TestAccountsOfACompanyHaveNoPassword checks that no password, not even the empty one, signs in, and that none can be set.
func TestAccountsOfACompanyHaveNoPassword(t *testing.T) {
	c := newCompany(t)
	g := c.guarded(t)
	if w := c.signIn(t, g); w.Code != 303 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	for _, given := range []string{"", password} {
		body, _ := json.Marshal(map[string]string{"name": "zoe", "password": given})
		if w := g.ask("POST", "/api/v1/session", string(body), "Content-Type", jsonBody); w.Code != 401 {
			t.Errorf("%q: %d %s", given, w.Code, w.Body)
		}
	}
	if err := g.accounts.SetPassword(t.Context(), "zoe", password); err == nil || !strings.Contains(err.Error(), "managed by the company's provider") {
		t.Error(err)
	}
}

// TestAProviderThatIsAwayHoldsUpItsOwnSignInsAlone checks that its sign-ins are answered with 503, while passwords, tokens and reads work.
func TestAProviderThatIsAwayHoldsUpItsOwnSignInsAlone(t *testing.T) {
	c := newCompany(t)
	c.away = true
	g := c.guarded(t)
	w := g.ask("GET", "/api/v1/session/oidc", "")
	if w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "no-provider") || strings.Contains(w.Body.String(), c.URL) {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	body := `{"name": "u1", "password": "` + password + `"}`
	if w := g.ask("POST", "/api/v1/session", body, "Content-Type", jsonBody); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := g.as("u1", "GET", "/api/v1/views/user-orders", ""); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestAProviderIsNotOfTheOperatorsPort checks that the operators' listener has no sign-in by a provider, because the provider knows only
// one address, and names the one of the users' listener where its session is valid for both.
func TestAProviderIsNotOfTheOperatorsPort(t *testing.T) {
	g := newCompany(t).guarded(t)
	r := httptest.NewRequest("GET", "/api/v1/session/oidc", nil)
	r.Host = "127.0.0.1:8091"
	w := httptest.NewRecorder()
	g.ops.ServeHTTP(w, r)
	if w.Code != 404 || !bytes.Contains(w.Body.Bytes(), []byte("not-found")) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for host, want := range map[string]string{
		"127.0.0.1:8091": `{"password":true,"companies":[{"name":"Example Ltd","path":"http://127.0.0.1:8090/api/v1/session/oidc"}]}`,
		"localhost:8091": `{"password":true}`, // has other cookies
	} {
		r := httptest.NewRequest("GET", "/api/v1/session", nil)
		r.Host = host
		w := httptest.NewRecorder()
		if g.ops.ServeHTTP(w, r); strings.TrimSpace(w.Body.String()) != want {
			t.Errorf("at %s: %d %s", host, w.Code, w.Body)
		}
	}
}

// audited returns the audit, one entry per line.
func (g *guarded) audited(t *testing.T) string {
	t.Helper()
	entries, err := g.accounts.Entries(t.Context(), 0, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, e := range entries {
		out.WriteString(e.Action + " " + e.Object + "\n")
	}
	return out.String()
}

// TestARefusedSignInIsShownByTheConsole checks that a browser is redirected to the page that shows the reason, once, and that a program
// gets the problem, as does everybody without a console. A forged cookie is not shown.
func TestARefusedSignInIsShownByTheConsole(t *testing.T) {
	const back = "/api/v1/session/oidc/return?code=x&state=whatever"
	c := newCompany(t)
	p := oidc.New(oidc.Options{Issuer: c.URL, ClientID: "brine", Redirect: "http://127.0.0.1:8090" + serve.CompanyReturn, Name: "Example Ltd",
		Roles: map[string]account.Role{"shoppers": account.Customer}})
	t.Cleanup(p.Close)
	g := newGuarded(t, func(o *serve.Options) { o.Company, o.Console = p, pagesFS() })
	if w := g.ask("GET", back, "", "Accept", "application/json"); w.Code != 401 || !strings.Contains(w.Body.String(), "not started in this browser") {
		t.Errorf("a program: %d %s", w.Code, w.Body)
	}
	const browser = "text/html,application/xhtml+xml,*/*;q=0.8"
	w := g.ask("GET", back, "", "Accept", browser)
	if w.Code != 303 || w.Header().Get("Location") != "/signin" || w.Body.Len() > 0 || sessionOf(w) != "" {
		t.Fatalf("a browser: %d %v %s", w.Code, w.Header(), w.Body)
	}
	var kept string
	for _, cookie := range w.Result().Cookies() {
		if cookie.Name == "__Host-brine-oidc-refused" {
			if kept = cookie.Name + "=" + cookie.Value; !cookie.HttpOnly || !cookie.Secure || cookie.MaxAge != 60 || strings.Contains(kept, "browser") {
				t.Errorf("the cookie %s", cookie)
			}
		}
	}
	shown := g.ask("GET", "/api/v1/session", "", "Cookie", kept)
	if !strings.Contains(shown.Body.String(), `"refused":{"status":401,"detail":"the sign-in was not started in this browser; start over at`) {
		t.Errorf("%d %s", shown.Code, shown.Body)
	}
	if again := shown.Result().Cookies(); len(again) != 1 || again[0].MaxAge >= 0 {
		t.Errorf("it would be shown again: %v", again)
	}
	for _, cookie := range []string{"", `__Host-brine-oidc-refused={"detail":"call 555"}`, kept + "; " + kept, strings.Replace(kept, "oidc-refused=", "oidc-refused=A", 1)} {
		if w := g.ask("GET", "/api/v1/session", "", "Cookie", cookie); w.Code != 200 || strings.Contains(w.Body.String(), "refused") {
			t.Errorf("by %q: %d %s", cookie, w.Code, w.Body)
		}
	}
	if n := strings.Count(g.audited(t), "sign-in.refused through the company's provider: the sign-in was not started in this browser"); n != 2 {
		t.Errorf("%d of 2 refused sign-ins are in the audit", n)
	}
	c.away = true
	if w := g.ask("GET", "/api/v1/session/oidc", "", "Accept", browser); w.Code != 303 || w.Header().Get("Location") != "/signin" {
		t.Errorf("a provider that is away: %d %v %s", w.Code, w.Header(), w.Body)
	}
	if w := c.guarded(t).ask("GET", back, "", "Accept", browser); w.Code != 401 {
		t.Errorf("without a console: %d", w.Code)
	}
}
