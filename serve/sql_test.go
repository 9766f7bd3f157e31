package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"brine/account"
	"brine/mask"
	"brine/rowkey"
	"brine/search"
	"brine/serve"
	"brine/serve/client"
)

func statement(s string) string {
	b, err := json.Marshal(client.SQL{Statement: s})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestSQL checks that statements are answered as JSON and as lines, and that errors have their positions.
func TestSQL(t *testing.T) {
	s := newShop(t, nil)
	ask := func(sql string, header ...string) (int, string) {
		w := s.ask("POST", "/api/v1/sql", statement(sql), append(header, "Content-Type", jsonBody)...)
		return w.Code, w.Body.String()
	}
	code, body := ask("SELECT action, at, station FROM scans WHERE waybill = 'W1' ORDER BY at DESC")
	var a client.SQLAnswer
	d := json.NewDecoder(strings.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil || code != 200 {
		t.Fatalf("%d %v: %s", code, err, body)
	}
	got := fmt.Sprint(a.Columns, a.Rows, a.Reached, a.Stats.Returned)
	if want := "[{action text} {at time} {station text}] [[DELIVER 2013-01-02T00:00:00.000Z <img onerror=alert(1)>] " +
		"[ARRIVE 2013-01-01T10:00:00.000Z MIA] [DEPART 2013-01-01T08:00:00.000Z EWR]]3"; got != want {
		t.Errorf("the answer is\n%s, not\n%s", got, want)
	}
	code, body = ask("SELECT action FROM scans WHERE waybill = 'W1' ORDER BY at DESC LIMIT 2", "Accept", "application/x-ndjson")
	lines := strings.Split(strings.TrimSpace(body), "\n")
	if code != 200 || len(lines) != 4 || lines[0] != `{"columns":[{"name":"action","type":"text"}]}` || lines[1] != `{"row":["DELIVER"]}` ||
		!strings.HasPrefix(lines[3], `{"end":{"stats":{"hbase_ms":`) {
		t.Errorf("%d %s", code, body)
	}
	for sql, want := range map[string]string{
		"SELECT *\nFROM scans\nWHERE OR":                   `"line":3,"column":7`,
		"SELECT * FROM nosuch LIMIT 1":                     `there is no table nosuch`,
		"SELECT * FROM scans":                              `ALLOW FULL SCAN`,
		"DROP TABLE scans":                                 `statements only read`,
		"SELECT LOAD_FILE('/etc/passwd') FROM scans":       `"location":"body.statement"`,
		"SELECT * FROM scans LIMIT 1; SELECT 1 FROM scans": `"line":1`,
		strings.Repeat("x", 10_001):                        `more than 10000`,
	} {
		if code, body := ask(sql); code != 400 || !strings.Contains(body, want) {
			t.Errorf("%.60s: %d %s", sql, code, body)
		}
	}
	if code, body := ask("EXPLAIN SELECT * FROM scans WHERE waybill = 'W1'"); code != 200 || !strings.Contains(body, "1 range, by waybill = 'W1'") {
		t.Errorf("the plan: %d %s", code, body)
	}
	if w := s.ask("POST", "/api/v1/sql", statement("SELECT * FROM scans LIMIT 1")); w.Code != 415 {
		t.Errorf("without a type: %d %s", w.Code, w.Body)
	}
	if w := s.ask("PUT", "/api/v1/sql", ""); w.Code != 405 {
		t.Errorf("by PUT: %d", w.Code)
	}
	names := s.ask("GET", "/api/v1/sql", "").Body.String()
	for _, want := range []string{`"words":["<`, `"SELECT"`, `{"table":"centre:scans","columns":[`, `{"name":"waybill","type":"text"}`} {
		if !strings.Contains(names, want) {
			t.Errorf("no %s among the names: %s", want, names)
		}
	}
}

// TestSQLIsOfRoles checks that a caller can name the tables that it may read completely, without what is masked for it; that customers have
// no SQL; and that the audit has each statement before its answer, without what is masked for anybody.
func TestSQLIsOfRoles(t *testing.T) {
	g := newGuarded(t, func(o *serve.Options) {
		o.Masks = &mask.Rules{}
		o.Masks.Place("centre:orders", "user")
		o.Masks.Place("centre:order_ids", "user")
		o.Masks.Key("centre:orders", "user")
		o.RoleMasks = map[account.Role]*mask.Rules{account.Customer: {}, account.Support: o.Masks, account.Operator: {}, account.Admin: o.Masks}
		o.Access["centre:scans"] = serve.Access{Roles: []account.Role{account.Operator}}
	})
	const mine = "SELECT user, items FROM orders WHERE user = 'u1' AND status IN ('paid') LIMIT 3 -- secret"
	for _, c := range []struct {
		who, sql, reason string
		status           int
		want             string
	}{
		{"", mine, "case", 401, "sign in"},
		{"u1", mine, "case", 403, "the role customer may not do this"},
		{"operator", mine, "", 400, `"location":"header.Brine-Reason"`},
		{"operator", mine, "case 1", 200, `"rows":[["u1","tea of u1"]]`},
		{"support", mine, "case 2", 400, "user is masked"},
		{"support", "SELECT user, \"order\" FROM order_ids WHERE \"order\" = 'G-u1'", "case 3", 200, `"rows":[["***","G-u1"]]`},
		{"support", "SELECT COUNT(*) FROM orders GROUP BY user ALLOW FULL SCAN", "case 4", 400, "user is masked"},
		{"support", "SELECT * FROM scans LIMIT 1", "case 5", 400, "there is no table scans"},
		{"admin", "SELECT * FROM station-scans LIMIT 1", "case 5", 400, "there is no table station-scans"},
		{"operator", "SELECT waybill FROM scans WHERE waybill = 'W1' LIMIT 1", "case 6", 200, `"rows":[["W`},
		{"operator", "EXPLAIN SELECT * FROM scans WHERE waybill = 'W1'", "case 7", 200, `1 range`},
	} {
		w := g.as(c.who, "POST", "/api/v1/sql", statement(c.sql), "Brine-Reason", c.reason)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s as %q: %d %s", c.sql, c.who, w.Code, w.Body)
		}
	}
	list, err := g.accounts.Entries(t.Context(), 0, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	var audited []string
	for i := len(list) - 1; i >= 0; i-- {
		audited = append(audited, fmt.Sprintf("%s %s %q %s", list[i].Account, list[i].Action, list[i].Object, list[i].Reason))
	}
	if got, want := strings.Join(audited, "\n"), `operator sql "SELECT user, items FROM orders WHERE user = '***' AND status IN ('paid') LIMIT 3" case 1
support sql.refused "" case 2
support sql "SELECT user, \"order\" FROM order_ids WHERE \"order\" = 'G-u1'" case 3
support sql.refused "" case 4
support sql.refused "" case 5
admin sql.refused "" case 5
operator sql "SELECT waybill FROM scans WHERE waybill = 'W1' LIMIT 1" case 6
operator sql "EXPLAIN SELECT * FROM scans WHERE waybill = 'W1'" case 7`; got != want {
		t.Errorf("the audit has\n%s\nnot\n%s", got, want)
	}
	if err := g.accounts.DB().Close(); err != nil { // without audit, no answer
		t.Fatal(err)
	}
	if w := g.as("operator", "POST", "/api/v1/sql", statement(mine), "Brine-Reason", "case"); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestSQLIsBounded checks that a statement that HBase does not answer ends within its own timeout, that statements beyond the limit are
// shed, and that other routes work.
func TestSQLIsBounded(t *testing.T) {
	gate, begun := make(chan struct{}), make(chan struct{})
	s := newShop(t, func(o *serve.Options) {
		o.SQL.InFlight = 1
	})
	s.set(func() { s.gate, s.first = gate, begun })
	body := statement("SELECT * FROM scans WHERE waybill = 'W1'")
	done := make(chan int, 1)
	go func() { done <- s.ask("POST", "/api/v1/sql", body, "Content-Type", jsonBody).Code }()
	<-begun
	if w := s.ask("POST", "/api/v1/sql", body, "Content-Type", jsonBody); w.Code != 503 || !strings.Contains(w.Body.String(), "#overloaded") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	s.set(func() { s.gate = nil })
	if w := s.ask("GET", timeline, ""); w.Code != 200 {
		t.Errorf("another route: %d %s", w.Code, w.Body)
	}
	close(gate)
	if code := <-done; code != 200 {
		t.Error(code)
	}
	away := newShop(t, func(o *serve.Options) { o.SQL.Timeout = 2 * patience })
	away.set(func() { away.away = true })
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w := away.ask("POST", "/api/v1/sql", body, "Content-Type", jsonBody)
		if w.Code != 503 || w.Header().Get("Retry-After") == "" || strings.Contains(w.Body.String(), "hunter2") {
			t.Errorf("without HBase: %d %s", w.Code, w.Body)
		}
		if took := time.Since(began); took <= patience || took > 2*patience { // not the time-out of other questions
			t.Errorf("without HBase it is answered after %v, want %v at most", took, 2*patience)
		}
	})
}

// stalled sends a statement from a client that then reads no more than the answer's header. It returns the rest of the answer.
func (s *shop) stalled(sql string) io.Reader {
	s.t.Helper()
	small := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		return errors.Join(c.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) }), err)
	}}
	transport := &http.Transport{DialContext: small.DialContext, DisableCompression: true}
	s.t.Cleanup(transport.CloseIdleConnections)
	w, err := (&http.Client{Transport: transport}).Post(s.base+"/api/v1/sql", jsonBody, strings.NewReader(statement(sql)))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { w.Body.Close() })
	if w.StatusCode != 200 {
		s.t.Fatalf("%s: %d %s", sql, w.StatusCode, text(s.t, w.Body))
	}
	return w.Body
}

// large adds rows of 8 MiB together, more than sockets hold, to the waybill W3.
func (s *shop) large() {
	for i := range 8 {
		s.scan(s.t, s.scans, "W3", fmt.Sprintf("2013-01-0%dT08:00:00Z", i+1), "DEPART", strings.Repeat("x", 1<<20))
	}
}

const largeSQL = "SELECT at, station FROM scans WHERE waybill = 'W3'"

// TestClientsThatReadNothingKeepNobodyFromSQL checks that a statement holds its place only while it reads: as many clients as there are
// places do not read their answers, and the next one is answered.
func TestClientsThatReadNothingKeepNobodyFromSQL(t *testing.T) {
	s := newShop(t, func(o *serve.Options) { o.SQL.InFlight = 2 })
	s.large()
	s.run()
	for range 2 {
		s.stalled(largeSQL)
	}
	a, err := (&client.Client{Base: s.base}).SQL(t.Context(), largeSQL, "")
	if err != nil || len(a.Rows) != 8 {
		t.Errorf("%d rows, %v", len(a.Rows), err)
	}
}

// TestAnswersThatNobodyReadsAreBounded checks that answers to clients that read nothing take bounded memory: the oldest one is cut off,
// which its client notices, and newer ones go on.
func TestAnswersThatNobodyReadsAreBounded(t *testing.T) {
	s := newShop(t, func(o *serve.Options) { o.SQL.Unsent = 20 << 20 })
	s.large()
	s.run()
	oldest, older := s.stalled(largeSQL), s.stalled(largeSQL)
	small, err := (&client.Client{Base: s.base}).SQL(t.Context(), "SELECT station FROM scans WHERE waybill = 'W1'", "") // there is room for it
	if err != nil || len(small.Rows) != 3 {
		t.Errorf("%+v, %v", small, err)
	}
	newest := s.stalled(largeSQL)
	if _, err := io.ReadAll(oldest); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the oldest answer ends with %v", err)
	}
	for _, rest := range []io.Reader{older, newest} {
		var a client.SQLAnswer
		if err := json.NewDecoder(rest).Decode(&a); err != nil || len(a.Rows) != 8 {
			t.Errorf("%d rows, %v", len(a.Rows), err)
		}
	}
}

// TestAClientThatReadsNothingLosesItsPlace: clients that asked for large answers and read none of them kept all places until their
// deadlines, and everybody else was refused.
func TestAClientThatReadsNothingLosesItsPlace(t *testing.T) {
	s := newShop(t, func(o *serve.Options) { o.InFlight, o.Unread, o.Timeout = 2, time.Nanosecond, patience })
	s.large()
	s.run()
	oldest, newer := s.stalled(largeSQL), s.stalled(largeSQL)
	code := 0
	for end := time.Now().Add(patience); code != 200 && time.Now().Before(end); { // they may be between two writes
		code = s.ask("GET", timeline, "").Code
	}
	if code != 200 {
		t.Fatalf("one more request: %d", code)
	}
	lost := 0
	for _, answer := range []io.Reader{oldest, newer} {
		if _, err := io.ReadAll(answer); errors.Is(err, io.ErrUnexpectedEOF) {
			lost++
		}
	}
	if lost == 0 || !strings.Contains(s.log.String(), "an answer was cut off") {
		t.Errorf("%d answers were cut off, and the log has %s", lost, s.log)
	}
}

// TestSQLByTheClient checks that package client sends statements, and returns the position of errors.
func TestSQLByTheClient(t *testing.T) {
	s := newShop(t, nil)
	s.run()
	c := client.Client{Base: s.base}
	a, err := c.SQL(t.Context(), "SELECT COUNT(*) FROM scans ALLOW FULL SCAN", "case 7")
	if err != nil || len(a.Rows) != 1 || fmt.Sprint(a.Rows[0]) != "[4]" {
		t.Errorf("%+v, %v", a, err)
	}
	_, err = c.SQL(t.Context(), "SELECT", "")
	if p, ok := errors.AsType[*client.Problem](err); !ok || p.Status != 400 || len(p.Errors) != 1 || p.Errors[0].Line != 1 || p.Errors[0].Column != 7 {
		t.Errorf("%+v", err)
	}
}

// TestARowThatCannotBeReadIsNoOutage checks that an unreadable row is not reported as an outage: a retry does not help.
func TestARowThatCannotBeReadIsNoOutage(t *testing.T) {
	s := newShop(t, nil)
	s.set(func() {
		for i := range s.rows {
			if bytes.Contains(s.store.rows[i].Row, []byte("W2")) {
				s.store.rows[i].Row = s.store.rows[i].Row[:9] // shorter than any key
			}
		}
	})
	for _, w := range []*http.Response{s.ask("GET", "/api/v1/views/waybill?waybill=W2", "", "X-Request-Id", "r7").Result(),
		s.ask("POST", "/api/v1/sql", statement("SELECT * FROM scans WHERE waybill = 'W2'"), "Content-Type", jsonBody, "X-Request-Id", "r7").Result()} {
		body, err := io.ReadAll(w.Body)
		if err != nil || w.StatusCode != 500 || w.Header.Get("Retry-After") != "" || !strings.Contains(string(body), "#unreadable") || strings.Contains(string(body), "W2") {
			t.Errorf("%d %s %v", w.StatusCode, body, err)
		}
	}
	if !strings.Contains(s.log.String(), "a row cannot be read") {
		t.Errorf("the log has %s", s.log)
	}
}

// TestAnUnreadableRowWithAMaskedKeyIsNamedNowhere checks that neither answers nor the log nor traces have the masked key of a row that cannot
// be read.
func TestAnUnreadableRowWithAMaskedKeyIsNamedNowhere(t *testing.T) {
	const secret = "W2"
	var traced strings.Builder
	s := newShop(t, func(o *serve.Options) {
		o.Masks = &mask.Rules{}
		o.Masks.Place("centre:scans", "waybill")
		o.Masks.Key("centre:scans", "waybill")
		o.Question = func(ctx context.Context, _, _ string) (context.Context, func(error)) {
			return ctx, func(err error) { fmt.Fprintln(&traced, err) }
		}
	})
	var key string
	s.set(func() {
		for i := range s.rows {
			if r := &s.rows[i]; bytes.Contains(r.Row, []byte(secret)) {
				r.Row = r.Row[:9]
				key = rowkey.Binary(r.Row)
			}
		}
	})
	var answers strings.Builder
	for _, w := range []*httptest.ResponseRecorder{s.ask("GET", "/api/v1/views/waybill?waybill=W2", "", "X-Request-Id", "r7"),
		s.ask("GET", "/api/v1/views/waybill?waybill=W2", "", "Accept", "application/x-ndjson", "X-Request-Id", "r7"),
		s.ask("GET", "/api/v1/tables/centre:scans/rows/"+url.PathEscape(key), "", "X-Request-Id", "r7"),
		s.ask("POST", "/api/v1/sql", statement("SELECT * FROM scans LIMIT 100"), "Content-Type", jsonBody, "X-Request-Id", "r7")} {
		fmt.Fprintln(&answers, w.Code, w.Body)
	}
	for place, text := range map[string]string{"answers": answers.String(), "the log": s.log.String(), "traces": traced.String()} {
		if strings.Contains(text, secret) {
			t.Errorf("%s: the row is named: %s", place, text)
		}
	}
	if n := strings.Count(answers.String(), "#unreadable"); n != 4 || !strings.Contains(s.log.String(), "table centre:scans: row ") {
		t.Errorf("%s; the log has %s", &answers, s.log)
	}
}

// TestSQLFindsRowsByWords checks that rows are found through the index, with their current content, but not by words of what is masked for
// the caller.
func TestSQLFindsRowsByWords(t *testing.T) {
	rules := &mask.Rules{}
	rules.Field("orders", "items")
	rules.Place("centre-orders", "items")
	for _, masked := range []bool{false, true} {
		g := newGuarded(t, func(o *serve.Options) {
			if masked {
				o.Masks, o.RoleMasks = rules, nil
			}
		})
		row, err := rowkey.ParseBinary(g.rows["centre:orders u1"])
		if err != nil {
			t.Fatal(err)
		}
		g.found = search.Page{Hits: []search.Hit{{Row: row, Version: 7, Fields: map[string]any{"items": "tea"}}}}
		const statement = `{"statement": "SELECT \"order\", items FROM orders WHERE MATCH(items, 'tea')"}`
		w := g.as("support", "POST", "/api/v1/sql", statement, "Brine-Reason", "case 1")
		switch {
		case masked && (w.Code != 400 || !strings.Contains(w.Body.String(), "masked") || len(g.searched) > 0):
			t.Errorf("%d %s", w.Code, w.Body)
		case !masked && (w.Code != 200 || !strings.Contains(w.Body.String(), `["G-u1","tea of u1"]`)):
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if words := strings.Contains(g.audited(t), "MATCH(items, 'tea')"); words == masked {
			t.Errorf("the audit has %s", g.audited(t))
		}
		if w := g.as("u1", "POST", "/api/v1/sql", statement, "Brine-Reason", "case 1"); w.Code != 403 {
			t.Errorf("as a customer: %d %s", w.Code, w.Body)
		}
	}
}
