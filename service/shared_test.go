package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"brine/account"
	"brine/command"
	"brine/hbase"
	"brine/internal/sample"
	"brine/rowkey"
	"brine/serve/client"
	"brine/service/devstack"
)

// TestServersShareTheirStores checks what two processes that serve the same stores have in common: commands and their keys, sessions,
// tokens and their end, pauses after wrong passwords, and what SQL and the audit show. See TestCustomers for commands under load.
func TestServersShareTheirStores(t *testing.T) {
	s := openCentre(t, embeddedGround(t), "embedded:"+filepath.Join(t.TempDir(), "accounts"), 2, 2)
	if err := s.shop(t.Context(), sample.Paid); err != nil {
		t.Fatal(err)
	}
	s.settle()
	t.Run("commands", s.sharedCommands)
	t.Run("what a process left", s.sharedOutbox)
	t.Run("pages", s.sharedPages)
	t.Run("sessions and tokens", s.sharedSessions)
	t.Run("wrong passwords", s.sharedPauses)
	t.Run("SQL and the audit", s.sharedSQL)
}

// sharedCommands gives a command to one server, and asks the other about it.
func (s *centre) sharedCommands(t *testing.T) {
	const of = 0
	row := s.rowOf(t, 1, of)
	given := s.giveOnce(t, 0, of, "first", row.StateVersion)
	if again := s.giveOnce(t, 1, of, "first", row.StateVersion); again.ID != given.ID {
		t.Errorf("the same request of the other server made command %s, not %s", again.ID, given.ID)
	}
	_, err := s.api(1, of/s.each).Give(t.Context(), s.table, s.rows[of], "cancel", row.StateVersion, "second", nil)
	if p, ok := errors.AsType[*client.Problem](err); !ok || p.Status != http.StatusConflict && p.Status != http.StatusPreconditionFailed {
		t.Errorf("another command of the other server on the same version: %v", err)
	}
	for server := range s.bases {
		if c := s.ended(t, server, of, given.ID); c.State != string(command.Applied) || c.Version != given.Version {
			t.Errorf("server %d: %+v, want it applied at %d", server, c, given.Version)
		}
		if now := s.rowOf(t, server, of); now.Fields["status"] != sample.Cancelled || now.StateVersion != given.Version {
			t.Errorf("server %d shows %+v, want it cancelled at %d", server, now, given.Version)
		}
	}
}

// sharedOutbox has a command that was stored by a process that died before it published anything: the others publish it.
func (s *centre) sharedOutbox(t *testing.T) {
	const of = 2
	rows, err := hbase.Open(t.Context(), s.cfg.HBase())
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	dead := command.NewDesk(command.Options{Machines: s.cfg.Machines(), Outbox: s.box, Rows: rows, Publisher: deadPublisher{}, PublishWithin: 1})
	a, err := s.accounts.Get(t.Context(), userOf(of/s.each))
	if err != nil {
		t.Fatal(err)
	}
	key, err := rowkey.ParseBinary(s.rows[of])
	if err != nil {
		t.Fatal(err)
	}
	ask := command.Ask{Account: strconv.FormatInt(a.ID, 10), Role: string(account.Customer), Table: s.table, Row: key, Command: "cancel", Key: "left",
		IfMatch: fmt.Sprintf("%q", strconv.FormatInt(s.rowOf(t, 0, of).StateVersion, 10))}
	e, _, err := dead.Do(t.Context(), &ask)
	if err != nil || e.State != command.Accepted {
		t.Fatalf("%+v, %v", e, err)
	}
	for server := range s.bases {
		if c := s.ended(t, server, of, e.ID); c.State != string(command.Applied) || c.Version != e.Change.At {
			t.Errorf("server %d: %+v, want it applied at %d", server, c, e.Change.At)
		}
	}
	orders, commands := s.records() // both servers may have published it: then its records are the same
	if c, there := commands[e.ID]; !there || c.At != e.Change.At || c.Status != sample.Cancelled || len(orders[c.Order][c.At]) != 1 {
		t.Errorf("the topic has it as %+v, %v: %+v", c, there, orders[c.Order])
	}
}

type deadPublisher struct{}

func (deadPublisher) Partitions(context.Context, string) (int, error) {
	return devstack.Partitions, nil
}
func (deadPublisher) Publish(context.Context, string, int, []command.Record) (int64, error) {
	return 0, errors.New("the process is dead")
}

// sharedPages takes the first page from one server, and the next one from the other.
func (s *centre) sharedPages(t *testing.T) {
	seen, params := map[string]bool{}, url.Values{"page_size": {"1"}}
	for server := range s.bases {
		page, err := s.api(server, 5).Ask(t.Context(), "user-orders", params)
		if err != nil || len(page.Rows) != 1 {
			t.Fatalf("server %d: %+v, %v", server, page, err)
		}
		seen[fmt.Sprint(page.Rows[0].Fields["order"])] = true
		params.Set("page_token", page.Next)
	}
	if len(seen) != s.each {
		t.Errorf("the pages have %v, want the customer's %d orders", seen, s.each)
	}
}

// sharedSessions signs in at one server, uses the session at the other, and ends it and a token there.
func (s *centre) sharedSessions(t *testing.T) {
	const password = "a password of some length"
	if _, err := s.accounts.Add(t.Context(), "zoe", "zoe", account.Customer, password); err != nil {
		t.Fatal(err)
	}
	signIn := func(server int) string {
		status, header, body := s.send(t, server, "POST", "/api/v1/session", client.SignIn{Name: "zoe", Password: password})
		cookie, _, _ := strings.Cut(header.Get("Set-Cookie"), ";")
		if status != http.StatusOK || cookie == "" {
			t.Fatalf("server %d: %d %s", server, status, body)
		}
		return cookie
	}
	both := func(what string, want int, header ...string) {
		t.Helper()
		for server := range s.bases {
			if status, _, body := s.send(t, server, "GET", "/api/v1/me", nil, header...); status != want {
				t.Errorf("%s, at server %d: %d %s, want %d", what, server, status, body, want)
			}
		}
	}
	first, second := signIn(0), signIn(1)
	both("a session", http.StatusOK, "Cookie", first)
	both("another session", http.StatusOK, "Cookie", second)
	want := client.NewToken{Name: "ci", Role: string(account.Customer), Expires: time.Now().Add(time.Hour).Format(time.RFC3339)}
	_, _, body := s.send(t, 0, "POST", "/api/v1/me/tokens", want, "Cookie", first)
	var made client.MadeToken
	if err := json.Unmarshal(body, &made); err != nil || made.Token == "" {
		t.Fatalf("%s, %v", body, err)
	}
	both("a token", http.StatusOK, "Authorization", "Bearer "+made.Token)
	s.send(t, 1, "DELETE", "/api/v1/session", nil, "Cookie", first)
	both("a session that ended at server 1", http.StatusUnauthorized, "Cookie", first)
	s.send(t, 1, "DELETE", fmt.Sprint("/api/v1/me/tokens/", made.About.ID), nil, "Cookie", second)
	both("a token that was revoked at server 1", http.StatusUnauthorized, "Authorization", "Bearer "+made.Token)
	disabled := false
	if _, err := s.accounts.Change(t.Context(), "zoe", account.Change{Enabled: &disabled}); err != nil {
		t.Fatal(err)
	}
	both("an account that another process disabled", http.StatusUnauthorized, "Cookie", second)
}

// sharedPauses sends wrong passwords to both servers in turn. They count together: five are free.
func (s *centre) sharedPauses(t *testing.T) {
	wrong, paused := 0, map[int]bool{}
	for try := 0; len(paused) < len(s.bases); try++ {
		server := try % len(s.bases)
		switch status, _, body := s.send(t, server, "POST", "/api/v1/session", client.SignIn{Name: userOf(2), Password: "a wrong password"}); status {
		case http.StatusUnauthorized:
			wrong++
		case http.StatusTooManyRequests:
			paused[server] = true
		case http.StatusServiceUnavailable: // other tests compute hashes at the moment
		default:
			t.Fatalf("server %d: %d %s", server, status, body)
		}
	}
	if wrong > 10 { // six, and those that came after a pause: of 1, 2, 4, 8 s
		t.Errorf("%d wrong passwords were checked before both servers refused further ones", wrong)
	}
}

// sharedSQL asks both servers for what sharedCommands has changed.
func (s *centre) sharedSQL(t *testing.T) {
	a, err := s.accounts.Import(t.Context(), "desk", "", account.Support, true, importedHash(t))
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := s.accounts.NewToken(t.Context(), a, "test", account.Support, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	statement := fmt.Sprintf(`SELECT "order", status FROM "%s" WHERE user = '%s' AND "order" = '%s'`, s.table, userOf(0), orderOf(0))
	for _, base := range s.bases {
		c := &client.Client{Base: base, HTTP: &http.Client{Transport: bearer(token)}}
		answer, err := c.SQL(t.Context(), statement, "case 7")
		if err != nil || len(answer.Rows) != 1 || fmt.Sprint(answer.Rows[0]) != fmt.Sprint([]any{orderOf(0), sample.Cancelled}) {
			t.Errorf("%s: %+v, %v", base, answer, err)
		}
	}
	entries, err := s.accounts.Entries(t.Context(), 0, "desk", 100)
	statements := slices.DeleteFunc(entries, func(e account.Entry) bool { return e.Action != "sql" })
	if err != nil || len(statements) != len(s.bases) {
		t.Errorf("the audit has %+v, %v", statements, err)
	}
}

// rowOf returns the row of order n, as a server shows it to its customer.
func (s *centre) rowOf(t *testing.T, server, n int) client.Row {
	t.Helper()
	row, err := s.api(server, n/s.each).Row(t.Context(), s.table, s.rows[n])
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// giveOnce cancels order n, however often it takes until the request is not in progress any more.
func (s *centre) giveOnce(t *testing.T, server, n int, key string, upon int64) client.Command {
	t.Helper()
	for {
		given, err := s.api(server, n/s.each).Give(t.Context(), s.table, s.rows[n], "cancel", upon, key, nil)
		if err == nil {
			return given
		}
		if !s.again(err) {
			t.Fatal(err)
		}
		wait(t.Context(), 50*time.Millisecond)
	}
}

// ended returns a command of order n, as a server shows it, once it has ended.
func (s *centre) ended(t *testing.T, server, n int, id string) client.Command {
	t.Helper()
	for {
		c, err := s.api(server, n/s.each).Given(t.Context(), s.table, id)
		if err != nil {
			t.Fatal(err)
		}
		if c.State != string(command.Accepted) && c.State != string(command.Published) {
			return c
		}
		wait(t.Context(), 50*time.Millisecond)
	}
}

// send sends a request to a server. header has names and values.
func (s *centre) send(t *testing.T, server int, method, path string, body any, header ...string) (status int, answer http.Header, text []byte) {
	t.Helper()
	var content io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		content = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, s.bases[server]+path, content)
	if err != nil {
		t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	a, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	if text, err = io.ReadAll(a.Body); err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, a.Header, text
}
