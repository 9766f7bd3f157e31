package kafkaauth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
)

// jwt returns an unsigned token with the claims.
func jwt(claims string) string {
	b64 := base64.RawURLEncoding
	return b64.EncodeToString([]byte(`{"alg":"none"}`)) + "." + b64.EncodeToString([]byte(claims)) + "."
}

// endpoint issues tokens to the client brine with the secret hunter2. It returns its answers in order, and the last one repeatedly.
type endpoint struct {
	*httptest.Server
	asked atomic.Int64
	form  atomic.Value
}

func serveTokens(t *testing.T, answers ...string) *endpoint {
	var asked atomic.Int64
	return serveTokensWith(t, func() string { return answers[min(int(asked.Add(1)), len(answers))-1] })
}

// serveTokensWith is serveTokens with answers made on demand.
func serveTokensWith(t *testing.T, next func() string) *endpoint {
	e := &endpoint{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.asked.Add(1)
		_ = r.ParseForm() // missing values are empty
		e.form.Store(r.Form.Encode())
		user, password, basic := r.BasicAuth()
		if !basic { // the second method, tried after the first is refused
			user, password = r.Form.Get("client_id"), r.Form.Get("client_secret")
		}
		answer := next()
		status := http.StatusOK
		if user != "brine" || password != "hunter2" {
			status, answer = http.StatusUnauthorized, `{"error":"invalid_client","error_description":"not `+password+`"}`
		}
		if code, rest, ok := strings.Cut(answer, "|"); ok {
			fmt.Sscan(code, &status)
			answer = rest
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(e.Close)
	return e
}

func issued(token string, seconds int) string {
	return fmt.Sprintf(`{"access_token":%q,"token_type":"bearer","expires_in":%d}`, token, seconds)
}

func (e *endpoint) client(secret string) OAuth {
	return OAuth{TokenURL: e.URL, ClientID: "brine", Secret: func() string { return secret }}
}

// start begins an exchange and returns the first message.
func start(t *testing.T, m sasl.Mechanism) (sasl.StateMachine, string, error) {
	t.Helper()
	s, first, err := m.Start(sasl.WithMetadata(t.Context(), &sasl.Metadata{Host: "localhost", Port: 9092}))
	return s, string(first), err
}

// A token of the endpoint is sent as in RFC 7628, with the extensions in order, and used until a sixth of its life is left.
func TestTokensAreUsedWhileTheyAreFresh(t *testing.T) {
	e := serveTokens(t, issued("one", 600), issued("two", 600))
	o := e.client("hunter2")
	o.Scopes, o.Audience, o.Extensions = []string{"kafka", "read"}, "brokers", map[string]string{"pool": "p", "logicalCluster": "lkc"}
	b := o.Mechanism().(*bearer)
	now := time.Now()
	b.now = func() time.Time { return now }
	for _, step := range []struct {
		later time.Duration
		want  string
	}{{0, "one"}, {8 * time.Minute, "one"}, {30 * time.Second, "two"}} {
		now = now.Add(step.later)
		s, first, err := start(t, b)
		if want := "n,,\x01auth=Bearer " + step.want + "\x01logicalCluster=lkc\x01pool=p\x01\x01"; err != nil || first != want {
			t.Fatalf("after %v: %q, %v, want %q", step.later, first, err, want)
		}
		if done, more, err := s.Next(t.Context(), nil); !done || more != nil || err != nil {
			t.Errorf("accepted: %v, %q, %v", done, more, err)
		}
	}
	if want := "audience=brokers&grant_type=client_credentials&scope=kafka+read"; e.form.Load() != want || e.asked.Load() != 2 {
		t.Errorf("%d questions, the last with %v, want %s", e.asked.Load(), e.form.Load(), want)
	}
}

// While the endpoint is out of service, an unexpired token stays in use, but not one that a broker refused.
func TestRefusedTokensAreNotShownAgain(t *testing.T) {
	e := serveTokens(t, issued("one", 600), `503|{"error":"temporarily_unavailable"}`)
	b := e.client("hunter2").Mechanism().(*bearer)
	s, _, err := start(t, b)
	if err != nil {
		t.Fatal(err)
	}
	b.now = func() time.Time { return time.Now().Add(9 * time.Minute) }
	if _, first, err := start(t, b); err != nil || !strings.Contains(first, "one") {
		t.Errorf("the endpoint is away: %q, %v", first, err)
	}
	_, _, err = s.Next(t.Context(), []byte(`{"status":"invalid_token"}`))
	if !errors.Is(err, kafka.SASLAuthenticationFailed) || !strings.Contains(err.Error(), "invalid_token") || Advice(err) == "" {
		t.Errorf("refused: %v", err)
	}
	if _, first, err := start(t, b); err == nil {
		t.Errorf("shows %q again", first)
	}
}

// Each failure states the cause, the fix and whether it may pass, and never the secret, which the endpoint repeats.
func TestFailuresOfTokens(t *testing.T) {
	closed := OAuth{TokenURL: "http://127.0.0.1:1", ClientID: "brine", Secret: func() string { return "hunter2" }}
	now := time.Now()
	file := func(text string) OAuth {
		f := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return OAuth{TokenFile: f}
	}
	for name, c := range map[string]struct {
		from       OAuth
		says, fix  string
		final      bool
		brokerSays string
	}{
		"wrong secret":   {serveTokens(t, "").client("hunter2x"), "answers 401 invalid_client: not …", "client_secret", true, ""},
		"repeats it":     {serveTokens(t, `400|{"error":"invalid_scope","error_description":"hunter2"}`).client("hunter2"), "answers 400 invalid_scope: …", "scope", true, ""},
		"out of service": {serveTokens(t, "502|<html>").client("hunter2"), "answers 502 Bad Gateway", "brine retries", false, ""},
		"moved":          {serveTokens(t, "302|{}").client("hunter2"), "answers 302 Found", "token_url", true, ""},
		"no token":       {serveTokens(t, "{}").client("hunter2"), "missing access_token", "token_url", true, ""},
		"no JSON":        {serveTokens(t, "<html>").client("hunter2"), "cannot parse json", "token_url", true, ""},
		"away":           {closed, "connection refused", "check that the endpoint is up", false, ""},
		"no file":        {OAuth{TokenFile: "/nowhere/token"}, "no such file", "check that the program that writes", false, ""},
		"empty file":     {file(" \n"), "is empty", "check that the program that writes", false, ""},
		"no word":        {file("two words"), "holds no bearer token", "one word", true, ""},
		"expired": {file(jwt(fmt.Sprintf(`{"exp":%d}`, now.Add(-time.Hour).Unix()))), "it expired at", "check that a newer token is written", false,
			`{"status":"invalid_token"}`},
		"clock behind": {file(jwt(fmt.Sprintf(`{"iat":%d,"exp":%d}`, now.Add(10*time.Minute).Unix(), now.Add(time.Hour).Unix()))),
			"not valid for another", "NTP", false, `{"status":"invalid_token"}`},
		"another scope": {file(jwt(`{"scope":"other"}`)), "insufficient_scope", "scope", true, `{"status":"insufficient_scope"}`},
		"opaque":        {file("opaque"), "invalid_token", "issuer", true, `{"status":"invalid_token"}`},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, err := start(t, c.from.Mechanism())
			if c.brokerSays != "" && err == nil {
				_, _, err = s.Next(t.Context(), []byte(c.brokerSays))
			}
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(Advice(err), c.fix) || strings.Contains(err.Error(), "hunter2") {
				t.Fatalf("%v (%s), want %q (%s)", err, Advice(err), c.says, c.fix)
			}
			var network net.Error
			if errors.Is(err, kafka.SASLAuthenticationFailed) != c.final || errors.As(err, &network) == c.final {
				t.Errorf("%v: final %v, want %v", err, !c.final, c.final)
			}
		})
	}
}

// Many concurrent connections ask the endpoint once, and one that may not wait longer reports that.
func TestOneQuestionAtATime(t *testing.T) {
	e := serveTokens(t, issued("one", 600))
	b := e.client("hunter2").Mechanism().(*bearer)
	b.busy <- struct{}{}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no time"))
	if _, _, err := b.Start(ctx); err == nil || !strings.Contains(err.Error(), "no time") {
		t.Errorf("waited: %v", err)
	}
	<-b.busy
	failed := make(chan error)
	for range 20 {
		go func() {
			_, _, err := b.Start(t.Context())
			failed <- err
		}()
	}
	for range 20 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if n := e.asked.Load(); n != 1 {
		t.Errorf("%d questions", n)
	}
}

// Whatever a token contains, its claims are either read or missing.
func FuzzClaims(f *testing.F) {
	for _, s := range []string{"", "a.b.c", jwt(`{"exp":1e300,"nbf":-1}`), jwt(`{"exp":"no"}`), jwt(`{"exp":1700000000.5,"iat":1600000000}`)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		since, ends := claims(text)
		if ends.Before(time.Time{}) || since.Before(time.Time{}) {
			t.Errorf("%q: from %v until %v", text, since, ends)
		}
	})
}
