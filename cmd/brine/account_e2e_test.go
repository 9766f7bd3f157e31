package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/certs/certstest"
	"brine/serve/client"
)

// TestAccounts creates accounts at the shell, signs in over HTTP, reads the account's own orders and no others, and is disabled.
func TestAccounts(t *testing.T) {
	t.Parallel()
	j := newShop(t, embeddedStack(t))
	f, err := os.OpenFile(j.file, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(f, "accounts: { connect: %q }\nserve: { ops: { listen: \"127.0.0.1:0\" } }\n", "embedded:"+filepath.Join(t.TempDir(), "accounts"))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	const password = "harbour violin teapot quilt"
	at := func(stdin string, args ...string) string {
		t.Helper()
		cmd := j.command(append(args, "-c", j.file)...)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	var users []string
	for user, list := range j.orders {
		for _, o := range list {
			if o.Deleted == nil && len(users) < 2 {
				users = append(users, user)
				break
			}
		}
	}
	at(password+"\n", "account", "add", "admin", "--role", "admin")
	at(password+"\n", "account", "add", "mine", "--owner", users[0])
	hashes := filepath.Join(t.TempDir(), "hashes")
	line := `{"name": "theirs", "owner": "` + users[1] + `", "hash": "pbkdf2_sha256$1000$saltsalt$E196ZhRPzw+wA84EjzHwJO1cv/MFJdO6C/sxmUeTYqY="}` + "\n"
	if err := os.WriteFile(hashes, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := at("", "account", "import", hashes); !strings.Contains(out, "1 accounts created, 0 already existed, 0 lines") {
		t.Error(out)
	}
	if out := at("", "account", "list"); strings.Count(out, "\n") != 4 || !strings.Contains(out, "theirs") || strings.Contains(out, "$") {
		t.Error(out)
	}
	token := strings.TrimSpace(at("", "account", "token", "theirs", "--for", "a test"))
	s := j.serve()
	sign := func(name, password string) (*http.Cookie, int) {
		b, err := json.Marshal(client.SignIn{Name: name, Password: password})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.Post(s.Base+"/api/v1/session", "application/json", strings.NewReader(string(b)))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		for _, c := range resp.Cookies() {
			return c, resp.StatusCode
		}
		return nil, resp.StatusCode
	}
	ask := func(who any, target string, into any) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Base+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		switch who := who.(type) {
		case *http.Cookie:
			req.AddCookie(who)
		case string:
			req.Header.Set("Authorization", "Bearer "+who)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err == nil && into != nil {
			err = json.Unmarshal(body, into)
		}
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode
	}
	if _, code := sign("mine", "wrong"); code != http.StatusUnauthorized {
		t.Errorf("a wrong password: %d", code)
	}
	cookie, code := sign("mine", password)
	if code != http.StatusOK {
		t.Fatal(code)
	}
	if _, code := sign("theirs", "password"); code != http.StatusOK {
		t.Errorf("an imported hash: %d", code)
	}
	opened := map[string]string{} // one order of each
	for i, who := range []any{cookie, token} {
		var page client.Page
		if code := ask(who, "/api/v1/views/user-orders", &page); code != http.StatusOK || len(page.Rows) == 0 {
			t.Fatalf("%d %+v", code, page)
		}
		for _, r := range page.Rows {
			if opened[users[i]] = r.Row; r.Fields["user"] != users[i] {
				t.Errorf("%s sees %v", users[i], r)
			}
		}
	}
	row := func(user string) string {
		return "/api/v1/tables/centre:" + j.name + "_orders/rows/" + url.PathEscape(opened[user])
	}
	if mine, theirs, nobody := ask(cookie, row(users[0]), nil), ask(cookie, row(users[1]), nil), ask(nil, row(users[0]), nil); mine != 200 || theirs != 404 || nobody != 401 {
		t.Errorf("my order %d, theirs %d, without an account %d", mine, theirs, nobody)
	}
	if code := ask(nil, "/api/v1/views/waybill?waybill=UA-1545-20130101-EWR", nil); code != http.StatusOK {
		t.Errorf("what is public: %d", code)
	}
	at("", "account", "disable", "mine")
	if code := ask(cookie, row(users[0]), nil); code != http.StatusUnauthorized {
		t.Errorf("disabled: %d", code)
	}
	at("", "account", "enable", "mine")
	at(password+"2\n", "account", "passwd", "mine")
	if _, code := sign("mine", password+"2"); code != http.StatusOK {
		t.Errorf("another password: %d", code)
	}
	audit := at("", "account", "audit")
	for _, want := range []string{"account.add", "account.import", "token.create", "sign-in", "sign-in.refused", "account.change", "account.password"} {
		if !strings.Contains(audit, want) {
			t.Errorf("the audit lacks %s:\n%s", want, audit)
		}
	}
	if log := s.stop(); strings.Contains(log+audit, password) || strings.Contains(log+audit, token) || strings.Contains(log, "level=") {
		t.Errorf("the log is\n%s", log)
	}
}

// TestServeBeyondLoopback checks that serve refuses to start on other addresses without accounts or in plain text. With accounts and TLS
// both ports are encrypted, and the next connection sees a renewed certificate.
func TestServeBeyondLoopback(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	j.must("tables", "apply", "-c", j.file)
	refused := func(want string, env ...string) {
		t.Helper()
		cmd := j.command("serve", "-c", j.file)
		cmd.Env = append(append(cmd.Env, "BRINE_SERVE_LISTEN=0.0.0.0:0"), env...)
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != exitUsage || !strings.Contains(string(out), want) {
			t.Errorf("%v: %s", err, out)
		}
	}
	folder := "BRINE_ACCOUNTS_CONNECT=embedded:" + filepath.Join(t.TempDir(), "accounts")
	refused("requires accounts")
	refused("passwords would arrive in plain text", folder)
	authority := certstest.New(t, "a")
	cert, key := authority.Issue(t, certstest.Leaf{})
	_, connect, _ := strings.Cut(folder, "=")
	f, err := os.OpenFile(j.file, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(f, "accounts: { connect: %q }\nserve: { ops: { listen: \"127.0.0.1:0\" }, tls: { cert: %q, key: %q } }\n", connect, cert, key)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s := j.serve()
	pem, err := os.ReadFile(authority.CA)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	shown := func() string {
		t.Helper()
		one := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
		resp, err := one.Get(s.Base + "/api/v1/me")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("who asks is not known, and the answer is %s", resp.Status)
		}
		return resp.TLS.PeerCertificates[0].SerialNumber.String()
	}
	first := shown()
	authority.Issue(t, certstest.Leaf{})
	if second := shown(); first == second {
		t.Error("the renewed certificate is not shown")
	}
	if resp, err := http.Get(strings.Replace(s.Base, "https:", "http:", 1) + "/api/v1/me"); err == nil {
		if resp.Body.Close(); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("in plain text: %s", resp.Status)
		}
	}
	s.stop()
}
