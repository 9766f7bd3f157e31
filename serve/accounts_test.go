package serve_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/account"
	"brine/event"
	"brine/hbase"
	"brine/mask"
	"brine/query"
	"brine/rowkey"
	"brine/serve"
	"brine/serve/client"
)

const password = "harbour violin teapot quilt"

// guarded is the shop's API with accounts: customers u1 and u2, and one account for each other role, each with an API token.
type guarded struct {
	*shop
	accounts *account.Store
	ops      *serve.Server
	topic    *topic
	tokens   map[string]string // by name
	rows     map[string]string // keys, by what they are of
	tables   []query.Table
}

func newGuarded(t testing.TB, change func(*serve.Options)) *guarded {
	t.Helper()
	g := &guarded{tokens: map[string]string{}, rows: map[string]string{}}
	var err error
	g.accounts, err = account.Open(t.Context(), account.Options{Connect: "embedded:" + filepath.Join(t.TempDir(), "accounts")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.accounts.Close() })
	var opts serve.Options
	g.shop = newShop(t, func(o *serve.Options) {
		o.Accounts = g.accounts
		o.Access = map[string]serve.Access{"centre:orders": {Owner: "user"}, "centre:order_ids": {Owner: "user"}, "centre:scans": {Public: true}}
		if change != nil {
			change(o)
		}
		o.Commands, g.topic = commandDesk(t, g.accounts, o)
		opts = *o
	})
	g.tables = opts.Tables
	for _, name := range []string{"u1", "u2"} {
		g.order(t, name, "G-"+name)
	}
	g.rows["scan"] = g.row
	for _, a := range []struct {
		name, owner string
		role        account.Role
	}{{"u1", "u1", account.Customer}, {"u2", "u2", account.Customer}, {"support", "", account.Support}, {"operator", "", account.Operator}, {"admin", "", account.Admin}} {
		made, err := g.accounts.Add(t.Context(), a.name, a.owner, a.role, password)
		if err != nil {
			t.Fatal(err)
		}
		if g.tokens[a.name], _, err = g.accounts.NewToken(t.Context(), made, "test", a.role, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if opts.Hooks = (serve.Hooks{}); opts.Operations == nil {
		opts.Operations = operations{}
	}
	if g.ops, err = serve.NewOps(listener(t), opts); err != nil {
		t.Fatal(err)
	}
	return g
}

// order stores an order of a user, with its id.
func (g *guarded) order(t testing.TB, user, order string) {
	t.Helper()
	for _, table := range g.tables {
		fields := map[string]string{"user": user, "created": "2013-01-01T08:00:00Z", "order": order}
		cells := [][3]string{{"brief", "status", "paid"}, {"detail", "items", "tea of " + user}, {"detail", "payment", "card of " + user}}
		switch table.Name {
		case "centre:order_ids":
			fields = map[string]string{"order": order}
			at := time.Date(2013, 1, 1, 8, 0, 0, 0, time.UTC)
			cells = [][3]string{{"i", "u", user}, {"i", "c", string(event.AppendValue(nil, event.TimeValue(at.UnixMilli())))}}
		case "centre:orders":
		default:
			continue
		}
		keys, err := table.RowsOf(fields)
		if err != nil {
			t.Fatal(err)
		}
		g.rows[table.Name+" "+user] = rowkey.Binary(keys[0])
		r := hbase.Result{Row: keys[0]}
		for _, c := range cells {
			r.Cells = append(r.Cells, hbase.Cell{Row: keys[0], Family: []byte(c[0]), Qualifier: []byte(c[1]), Timestamp: 7, Value: []byte(c[2])})
		}
		g.mu.Lock()
		g.store.rows = append(g.store.rows, r)
		g.mu.Unlock()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	slices.SortFunc(g.store.rows, func(a, b hbase.Result) int { return bytes.Compare(a.Row, b.Row) })
}

// as sends a request with an account's token; empty: without one.
func (g *guarded) as(name, method, target, body string, header ...string) *httptest.ResponseRecorder {
	if name != "" {
		header = append(header, "Authorization", "Bearer "+g.tokens[name])
	}
	if body != "" {
		header = append(header, "Content-Type", jsonBody)
	}
	return g.ask(method, target, body, header...)
}

// TestMatrix requests every route of the document as every account, for the rows of every account.
func TestMatrix(t *testing.T) {
	g := newGuarded(t, nil)
	row := func(of string) string { return url.PathEscape(g.rows[of]) }
	const pays, scans, orders, ids = "card of ", "/api/v1/tables/centre:scans", "/api/v1/tables/centre:orders", "/api/v1/tables/centre:order_ids"
	type asked struct{ method, target, body string }
	// Each route with a question about u1's rows, and the expected status for nobody, u1, u2, and the others without and with a reason.
	routes := map[string]struct {
		asked
		want [5]int
	}{
		"GET /api/v1/openapi.json":      {asked{"GET", "/api/v1/openapi.json", ""}, [5]int{401, 200, 200, 200, 200}},
		"GET /api/v1/views":             {asked{"GET", "/api/v1/views", ""}, [5]int{200, 200, 200, 200, 200}},
		"GET /api/v1/tables":            {asked{"GET", "/api/v1/tables", ""}, [5]int{200, 200, 200, 200, 200}},
		"GET /api/v1/me":                {asked{"GET", "/api/v1/me", ""}, [5]int{401, 200, 200, 200, 200}},
		"GET /api/v1/me/tokens":         {asked{"GET", "/api/v1/me/tokens", ""}, [5]int{401, 200, 200, 200, 200}},
		"POST /api/v1/me/tokens":        {asked{"POST", "/api/v1/me/tokens", `{"name": "n", "role": "customer", "expires": "2027-01-01T00:00:00Z"}`}, [5]int{401, 403, 403, 403, 403}},
		"DELETE /api/v1/me/tokens/{id}": {asked{"DELETE", "/api/v1/me/tokens/1", ""}, [5]int{401, 403, 403, 403, 403}},
		"POST /api/v1/me/password":      {asked{"POST", "/api/v1/me/password", `{"old": "x", "password": "y"}`}, [5]int{401, 403, 403, 403, 403}},
		"POST /api/v1/session":          {asked{"POST", "/api/v1/session", `{"name": "WHO", "password": "wrong"}`}, [5]int{401, 401, 401, 401, 401}},
		"GET /api/v1/session":           {asked{"GET", "/api/v1/session", ""}, [5]int{200, 200, 200, 200, 200}},
		"DELETE /api/v1/session":        {asked{"DELETE", "/api/v1/session", ""}, [5]int{401, 403, 403, 403, 403}},
		"GET /api/v1/views/user-orders": {asked{"GET", "/api/v1/views/user-orders?user=u1", ""}, [5]int{401, 400, 400, 400, 200}},
		"POST /api/v1/views/user-orders:batch": {asked{"POST", "/api/v1/views/user-orders:batch", `{"questions": [{"user": "u1"}]}`},
			[5]int{401, 400, 400, 400, 200}},
		"GET /api/v1/views/user-orders/facets":      {asked{"GET", facets + "?user=u1", ""}, [5]int{401, 400, 400, 400, 200}},
		"GET /api/v1/views/orders-by-status/facets": {asked{"GET", "/api/v1/views/orders-by-status/facets?status=paid", ""}, [5]int{401, 403, 403, 400, 200}},
		"GET /api/v1/views/station-scans/facets":    {asked{"GET", "/api/v1/views/station-scans/facets?station=EWR", ""}, [5]int{401, 403, 403, 400, 200}},
		"POST /api/v1/sql": {asked{"POST", "/api/v1/sql", `{"statement": "SELECT * FROM orders WHERE user = 'u1'"}`},
			[5]int{401, 403, 403, 400, 200}},
		"GET /api/v1/sql":                           {asked{"GET", "/api/v1/sql", ""}, [5]int{401, 403, 403, 200, 200}},
		"GET /api/v1/views/orders-by-status":        {asked{"GET", "/api/v1/views/orders-by-status?status=paid", ""}, [5]int{401, 403, 403, 400, 200}},
		"POST /api/v1/views/orders-by-status:batch": {asked{"POST", "/api/v1/views/orders-by-status:batch", `{"questions": [{"status": "paid"}]}`}, [5]int{401, 403, 403, 400, 200}},
		"GET /api/v1/views/order":                   {asked{"GET", "/api/v1/views/order?order=G-u1", ""}, [5]int{401, 200, 200, 400, 200}},
		"POST /api/v1/views/order:batch":            {asked{"POST", "/api/v1/views/order:batch", `{"questions": [{"order": "G-u1"}]}`}, [5]int{401, 200, 200, 400, 200}},
		"GET /api/v1/views/waybill":                 {asked{"GET", timeline, ""}, [5]int{200, 200, 200, 400, 200}},
		"POST /api/v1/views/waybill:batch":          {asked{"POST", "/api/v1/views/waybill:batch", `{"questions": [{"waybill": "W1"}]}`}, [5]int{401, 403, 403, 400, 200}},
		"GET /api/v1/views/waybill-latest":          {asked{"GET", "/api/v1/views/waybill-latest?waybill=W1", ""}, [5]int{200, 200, 200, 400, 200}},
		"POST /api/v1/views/waybill-latest:batch":   {asked{"POST", latest, `{"questions": [{"waybill": "W1"}]}`}, [5]int{401, 403, 403, 400, 200}},
		"GET /api/v1/views/station-scans":           {asked{"GET", "/api/v1/views/station-scans?station=EWR", ""}, [5]int{401, 403, 403, 400, 200}},
		"POST /api/v1/views/station-scans:batch":    {asked{"POST", "/api/v1/views/station-scans:batch", `{"questions": [{"station": "EWR"}]}`}, [5]int{401, 403, 403, 400, 200}},
		"GET " + orders + "/rows/{key}":             {asked{"GET", orders + "/rows/" + row("centre:orders u1"), ""}, [5]int{401, 200, 404, 400, 200}},
		"GET " + orders + "/rows":                   {asked{"GET", orders + "/rows?user=u1&created=2013-01-01T08:00:00Z&order=G-u1", ""}, [5]int{401, 200, 404, 400, 200}},
		"POST " + orders + "/rows:batch":            {asked{"POST", orders + "/rows:batch", keysBody(g.rows["centre:orders u1"])}, [5]int{401, 200, 200, 400, 200}},
		"GET " + ids + "/rows/{key}":                {asked{"GET", ids + "/rows/" + row("centre:order_ids u1"), ""}, [5]int{401, 200, 404, 400, 200}},
		"GET " + ids + "/rows":                      {asked{"GET", ids + "/rows?order=G-u1", ""}, [5]int{401, 200, 404, 400, 200}},
		"POST " + ids + "/rows:batch":               {asked{"POST", ids + "/rows:batch", keysBody(g.rows["centre:order_ids u1"])}, [5]int{401, 200, 200, 400, 200}},
		"GET " + scans + "/rows/{key}":              {asked{"GET", scans + "/rows/" + row("scan"), ""}, [5]int{200, 200, 200, 400, 200}},
		"GET " + scans + "/rows":                    {asked{"GET", scans + "/rows?waybill=W1&at=2013-01-02T00:00:00Z&action=DELIVER", ""}, [5]int{200, 200, 200, 400, 200}},
		"GET " + orders + "/commands/{id}":          {asked{"GET", orders + "/commands/none", ""}, [5]int{401, 404, 404, 404, 404}},
		"POST " + scans + "/rows:batch":             {asked{"POST", batch, keysBody(g.rows["scan"])}, [5]int{401, 403, 403, 400, 200}},
	}
	for _, name := range []string{"cancel", "confirm", "delete", "restore"} { // without their required headers
		routes["POST "+orders+"/rows/{key}/commands/"+name] = struct {
			asked
			want [5]int
		}{asked{"POST", orders + "/rows/" + row("centre:orders u1") + "/commands/" + name, ""}, [5]int{401, 400, 400, 400, 400}}
	}
	for route, r := range maps.Clone(routes) {
		// Watching a view needs the same permissions as using it.
		if path, ok := strings.CutPrefix(route, "GET /api/v1/views/"); ok && !strings.HasSuffix(route, "/facets") {
			r.target = strings.Replace(r.target, path, path+"/events", 1)
			routes[route+"/events"] = r
		}
	}
	for _, route := range documented(t, g.Server) {
		r, known := routes[route]
		if !known {
			t.Errorf("%s: the matrix does not have it", route)
			continue
		}
		delete(routes, route)
		mine, theirs := map[string]bool{}, map[string]bool{}
		for i, who := range []string{"", "u1", "u2", "support", "operator", "admin"} {
			asked := strings.ReplaceAll(r.body, "WHO", fmt.Sprint("who", i))
			w := g.as(who, r.method, r.target, asked)
			if w.Code != r.want[min(i, 3)] {
				t.Errorf("%s as %q: %d %s", route, who, w.Code, w.Body)
			}
			if i >= 3 {
				if w := g.as(who, r.method, r.target, asked, "Brine-Reason", "case 7"); w.Code != r.want[4] {
					t.Errorf("%s as %q with a reason: %d %s", route, who, w.Code, w.Body)
				}
			}
			body := w.Body.String()
			mine[who], theirs[who] = strings.Contains(body, pays+"u1") || strings.Contains(body, "tea of u1"), strings.Contains(body, "of u2")
			if who != "u1" && mine[who] {
				t.Errorf("%s as %q shows u1's order: %s", route, who, body)
			}
			if theirs[who] {
				t.Errorf("%s as %q shows u2's: %s", route, who, body)
			}
		}
	}
	for route := range routes {
		t.Errorf("%s is not in the document", route)
	}
}

func keysBody(keys ...string) string {
	b, err := json.Marshal(client.Keys{Keys: keys})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// documented returns the routes of the server's document.
func documented(t *testing.T, s *serve.Server) (out []string) {
	t.Helper()
	doc, err := s.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var d struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(doc, &d); err != nil {
		t.Fatal(err)
	}
	for path, methods := range d.Paths {
		for method := range methods {
			out = append(out, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(out)
	if paths := s.Paths(); !slices.Equal(out, paths) {
		t.Fatalf("the document has %v, the server %v", out, paths)
	}
	return out
}

// TestOpsMatrix checks that the operators' routes require the operator role, those of accounts and the audit the admin role, and that users
// have none of them.
func TestOpsMatrix(t *testing.T) {
	g := newGuarded(t, nil)
	n := 0
	for _, route := range documented(t, g.ops) {
		method, path, _ := strings.Cut(route, " ")
		if !strings.HasPrefix(path, "/api/v1/ops/") {
			continue
		}
		n++
		path = strings.ReplaceAll(path, "{name}", "u2")
		least := account.Operator
		if strings.HasSuffix(path, "/events") && strings.Contains(path, "/jobs/") {
			path = strings.ReplaceAll(path, "{id}", "missing") // a stream would not end
		}
		if strings.HasPrefix(path, "/api/v1/ops/accounts") || strings.HasPrefix(path, "/api/v1/ops/audit") || path == "/api/v1/ops/jobs/dead-letter-purge" {
			least = account.Admin
		}
		for _, who := range []string{"", "u1", "u2", "support", "operator", "admin"} {
			if w := g.as(who, method, path, "{}"); w.Code != 404 {
				t.Errorf("%s as %q is there for users: %d", route, who, w.Code)
			}
			w := g.asOps(who, method, path, `{}`)
			may := who == "admin" || who == "operator" && least == account.Operator
			if who == "" && w.Code != 401 || who != "" && !may && w.Code != 403 || may && (w.Code == 401 || w.Code == 403 || w.Code >= 500) {
				t.Errorf("%s as %q: %d %s", route, who, w.Code, w.Body)
			}
		}
	}
	if n < 6 {
		t.Errorf("only %d routes", n)
	}
}

func (g *guarded) asOps(who, method, path, body string, header ...string) *httptest.ResponseRecorder {
	users := g.Server
	g.Server = g.ops
	defer func() { g.Server = users }()
	return g.as(who, method, path, body, header...)
}

// TestOwnRowsOnly checks that a customer gets only its own rows, page by page, whatever it sends.
func TestOwnRowsOnly(t *testing.T) {
	g := newGuarded(t, nil)
	for i := range 5 {
		g.order(t, "u1", fmt.Sprint("H-", i))
	}
	ask := func(who, target string, want int) client.Page {
		t.Helper()
		w := g.as(who, "GET", target, "")
		var page client.Page
		if w.Code != want {
			t.Fatalf("%s as %s: %d %s", target, who, w.Code, w.Body)
		}
		if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil {
			t.Fatal(err)
		}
		return page
	}
	const view = "/api/v1/views/user-orders?page_size=2"
	first := ask("u1", view, 200)
	if len(first.Rows) != 2 || first.Next == "" {
		t.Fatalf("%+v", first)
	}
	seen := len(first.Rows)
	for next := first.Next; next != ""; {
		page := ask("u1", view+"&page_token="+next, 200)
		for _, r := range page.Rows {
			if r.Fields["user"] != "u1" {
				t.Errorf("%v", r)
			}
		}
		seen, next = seen+len(page.Rows), page.Next
	}
	if seen != 6 {
		t.Errorf("%d of 6 orders", seen)
	}
	ask("u2", view+"&page_token="+first.Next, 400)
	ask("u1", view+"&page_token="+first.Next[:len(first.Next)-2]+"AA", 400)
	for _, other := range []string{"user=u2", "user=u1&user=u2", "owner=u2", "user.from=a", "doAs=u2", "account=u2"} {
		ask("u1", "/api/v1/views/user-orders?"+other, 400)
	}
	for _, name := range []string{"X-Remote-User", "Remote-User", "X-Brine-User", "doAs", "User", "X-Account"} {
		if w := g.as("u1", "GET", "/api/v1/views/user-orders", "", name, "u2"); strings.Contains(withoutTokens(w.Body), "u2") || w.Code != 200 {
			t.Errorf("%s: u2 changes the answer: %s", name, w.Body)
		}
	}
	if w := g.as("u2", "GET", "/api/v1/views/order?order=G-u1", ""); strings.Contains(withoutTokens(w.Body), "u1") {
		t.Errorf("another's order: %s", w.Body)
	}
	missing := g.as("u2", "GET", "/api/v1/tables/centre:order_ids/rows?order=G-none", "", "X-Request-Id", "same")
	theirs := g.as("u2", "GET", "/api/v1/tables/centre:order_ids/rows?order=G-u1", "", "X-Request-Id", "same", "If-None-Match", "*")
	if missing.Body.String() != theirs.Body.String() || missing.Code != theirs.Code || theirs.Header().Get("ETag") != "" {
		t.Errorf("another's order is not as a missing one: %s, %s", missing.Body, theirs.Body)
	}
	lines := withoutTokens(g.as("u2", "GET", "/api/v1/views/user-orders", "", "Accept", "application/x-ndjson").Body)
	if strings.Contains(lines, "u1") || !strings.Contains(lines, "G-u2") {
		t.Errorf("%s", lines)
	}
}

// withoutTokens returns an answer without its tokens of pages, which are random and may contain any two letters.
func withoutTokens(body *bytes.Buffer) string {
	return regexp.MustCompile(`"next_page_token":"[^"]*"`).ReplaceAllString(body.String(), "")
}

// TestSessions signs in and out as a browser does.
func TestSessions(t *testing.T) {
	g := newGuarded(t, nil)
	sign := func(name, password string, header ...string) *httptest.ResponseRecorder {
		b, _ := json.Marshal(client.SignIn{Name: name, Password: password})
		return g.ask("POST", "/api/v1/session", string(b), append(header, "Content-Type", jsonBody)...)
	}
	w := sign("U1", password)
	set := w.Header().Get("Set-Cookie")
	cookie, _, _ := strings.Cut(set, ";")
	if w.Code != 200 || !strings.HasPrefix(cookie, "__Host-brine=") || !strings.Contains(w.Body.String(), `"name":"u1"`) {
		t.Fatal(w.Code, set, w.Body)
	}
	for _, attribute := range []string{"; Path=/", "; HttpOnly", "; Secure", "; SameSite=Lax"} {
		if !strings.Contains(set, attribute) {
			t.Errorf("the cookie lacks %s: %s", attribute, set)
		}
	}
	if strings.Contains(set, "Domain") {
		t.Error(set)
	}
	me := func(cookie string, header ...string) int {
		return g.ask("GET", "/api/v1/me", "", append(header, "Cookie", cookie)...).Code
	}
	if me(cookie) != 200 || me(cookie+"x") != 401 || me("__Host-brine=") != 401 || me(cookie+"; "+cookie) != 401 || me("brine="+cookie[13:]) != 401 {
		t.Error("sessions are not told apart")
	}
	if code := me(cookie, "Authorization", "Bearer brine_x"); code != 401 {
		t.Errorf("a token that is none beside a session: %d", code)
	}
	// A sign-in does not take over a fixed session.
	again := sign("u1", password, "Cookie", cookie)
	if other, _, _ := strings.Cut(again.Header().Get("Set-Cookie"), ";"); again.Code != 200 || other == cookie || me(cookie) != 401 || me(other) != 200 {
		t.Error("the session is not renewed at the sign-in")
	} else {
		cookie = other
	}
	for _, c := range []struct {
		header []string
		want   int
	}{
		{[]string{"Sec-Fetch-Site", "cross-site"}, 403}, {[]string{"Sec-Fetch-Site", "same-site"}, 403}, {[]string{"Origin", "https://evil.example"}, 403},
		{[]string{"Origin", "null"}, 403}, {[]string{"Sec-Fetch-Site", "same-origin"}, 200},
	} {
		w := g.ask("POST", "/api/v1/me/tokens", `{"name": "n", "role": "customer", "expires": "`+time.Now().Add(time.Hour).Format(time.RFC3339)+`"}`,
			append(c.header, "Cookie", cookie, "Content-Type", jsonBody)...)
		if w.Code != c.want {
			t.Errorf("%v: %d %s", c.header, w.Code, w.Body)
		}
	}
	if w := g.ask("POST", "/api/v1/me/tokens", `{"name": "n", "role": "admin", "expires": "2027-01-01T00:00:00Z"}`, "Cookie", cookie, "Content-Type", jsonBody); w.Code != 400 {
		t.Errorf("a customer's token for administrators: %d %s", w.Code, w.Body)
	}
	if w := g.ask("DELETE", "/api/v1/session", "", "Cookie", cookie); w.Code != 200 || me(cookie) != 401 || !strings.Contains(w.Header().Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("signed out: %d %v", w.Code, w.Header())
	}
	// The caller's own password.
	w = sign("u2", password)
	cookie, _, _ = strings.Cut(w.Header().Get("Set-Cookie"), ";")
	change := func(old, other string) *httptest.ResponseRecorder {
		b, _ := json.Marshal(client.NewPassword{Old: old, Password: other})
		return g.ask("POST", "/api/v1/me/password", string(b), "Cookie", cookie, "Content-Type", jsonBody)
	}
	if w := change("wrong", password+"2"); w.Code != 400 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := change(password, "short"); w.Code != 400 || !strings.Contains(w.Body.String(), "body.password") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w = change(password, password+"2")
	other, _, _ := strings.Cut(w.Header().Get("Set-Cookie"), ";")
	if w.Code != 200 || me(cookie) != 401 || me(other) != 200 || sign("u2", password).Code != 401 || sign("u2", password+"2").Code != 200 {
		t.Errorf("the password is not changed: %d %s", w.Code, w.Body)
	}
	// Disabling the account takes effect at once.
	if w := g.asOps("admin", "PATCH", "/api/v1/ops/accounts/u2", `{"enabled": false}`); w.Code != 200 || me(other) != 401 || g.as("u2", "GET", "/api/v1/me", "").Code != 401 {
		t.Errorf("disabled: %d %s", w.Code, w.Body)
	}
}

// TestSupportReadsAreAudited checks that each read is in the audit before it is answered, without what is masked.
func TestSupportReadsAreAudited(t *testing.T) {
	g := newGuarded(t, func(o *serve.Options) {
		o.Masks = &mask.Rules{}
		o.Masks.Place("centre:orders", "user")
		o.Masks.Key("centre:orders", "user")
		o.RoleMasks = map[account.Role]*mask.Rules{account.Customer: {}, account.Support: {}, account.Operator: o.Masks, account.Admin: o.Masks}
	})
	for _, r := range [][3]string{{"GET", "/api/v1/views/user-orders?user=u1", ""}, {"POST", "/api/v1/views/user-orders:batch", `{"questions": [{"user": "u1"}]}`},
		{"GET", "/api/v1/tables/centre:orders/rows/" + url.PathEscape(g.rows["centre:orders u1"]), ""},
		{"POST", "/api/v1/tables/centre:order_ids/rows:batch", keysBody(g.rows["centre:order_ids u1"])}} {
		if w := g.as("support", r[0], r[1], r[2], "Brine-Reason", "case 7", "X-Request-Id", "r7"); w.Code != 200 {
			t.Fatalf("%s: %d %s", r[1], w.Code, w.Body)
		}
		if w := g.as("u1", "GET", "/api/v1/views/user-orders", ""); w.Code != 200 {
			t.Fatal(w.Body)
		}
	}
	list, err := g.accounts.Entries(t.Context(), 0, "", 100)
	if err != nil || len(list) != 4 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, e := range list {
		if e.Account != "support" || e.Reason != "case 7" || e.Action != "read" || e.Request != "r7" || e.Role != account.Support || strings.Contains(e.Object, "u1|") {
			t.Errorf("%+v", e)
		}
	}
	if list[3].Object != "GET /api/v1/views/user-orders user=***" || !strings.Contains(list[0].Object, "keys=") || !strings.Contains(list[0].Object, "G-u1") {
		t.Errorf("%q, %q", list[3].Object, list[0].Object)
	}
	// A role may not ask by what is masked for it.
	for _, target := range []string{"/api/v1/views/user-orders?user=u1", "/api/v1/tables/centre:orders/rows/" + url.PathEscape(g.rows["centre:orders u1"]),
		"/api/v1/tables/centre:orders/rows?user=u1&created=2013-01-01T08:00:00Z&order=G-u1"} {
		if w := g.as("operator", "GET", target, "", "Brine-Reason", "case 8"); w.Code != 403 {
			t.Errorf("%s as operator: %d %s", target, w.Code, w.Body)
		}
	}
	if w := g.as("operator", "GET", "/api/v1/views/order?order=G-u1", "", "Brine-Reason", "case 8"); w.Code != 200 || strings.Contains(w.Body.String(), "|") || strings.Contains(w.Body.String(), `"user":"u1"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if err := g.accounts.DB().Close(); err != nil { // without audit, no answer
		t.Fatal(err)
	}
	if w := g.as("support", "GET", "/api/v1/views/user-orders?user=u1", "", "Brine-Reason", "case 7"); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestAccountsAway checks that without the database only customers who had signed in can still read, and that nobody else gets anything.
func TestAccountsAway(t *testing.T) {
	g := newGuarded(t, nil)
	cookies := map[string]string{}
	for _, name := range []string{"u1", "support"} {
		b, _ := json.Marshal(client.SignIn{Name: name, Password: password})
		w := g.ask("POST", "/api/v1/session", string(b), "Content-Type", jsonBody)
		cookies[name], _, _ = strings.Cut(w.Header().Get("Set-Cookie"), ";")
		if w := g.ask("GET", "/api/v1/me", "", "Cookie", cookies[name]); w.Code != 200 {
			t.Fatal(w.Body)
		}
	}
	if err := g.accounts.DB().Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		who, method, target, body string
		want                      int
	}{
		{"u1", "GET", "/api/v1/views/user-orders", "", 200}, {"u1", "POST", "/api/v1/views/order:batch", `{"questions": [{"order": "G-u1"}]}`, 200},
		{"u1", "GET", "/api/v1/me", "", 503}, {"u1", "DELETE", "/api/v1/session", "", 503},
		{"u1", "POST", "/api/v1/session", `{"name": "u1", "password": "` + password + `"}`, 503},
		{"support", "GET", "/api/v1/views/user-orders?user=u1", "", 503},
	} {
		w := g.ask(c.method, c.target, c.body, "Cookie", cookies[c.who], "Content-Type", jsonBody, "Brine-Reason", "case")
		if w.Code != c.want || c.want == 503 && w.Header().Get("Retry-After") == "" {
			t.Errorf("%s %s as %s: %d %s", c.method, c.target, c.who, w.Code, w.Body)
		}
	}
	if w := g.as("u1", "GET", "/api/v1/views/user-orders", ""); w.Code != 503 {
		t.Errorf("a token: %d %s", w.Code, w.Body)
	}
	if w := g.ask("GET", timeline, ""); w.Code != 200 {
		t.Errorf("what is public: %d %s", w.Code, w.Body)
	}
}

// TestLoginStorm checks that 200 concurrent sign-ins use bounded memory, and that other routes still answer.
func TestLoginStorm(t *testing.T) {
	g := newGuarded(t, nil)
	if w := g.as("u1", "GET", "/api/v1/views/user-orders", ""); w.Code != 200 { // writes the use of the token, now rather than in the storm
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	var wait sync.WaitGroup
	var mu sync.Mutex
	codes := map[int]int{}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range 200 {
		wait.Go(func() {
			w := g.ask("POST", "/api/v1/session", fmt.Sprintf(`{"name": "name%d", "password": "wrong"}`, i), "Content-Type", jsonBody)
			mu.Lock()
			codes[w.Code]++
			mu.Unlock()
		})
	}
	for range 20 {
		if w := g.as("u1", "GET", "/api/v1/views/user-orders", ""); w.Code != 200 {
			t.Errorf("another route: %d %s", w.Code, w.Body)
		}
	}
	wait.Wait()
	if codes[401]+codes[429]+codes[503] != 200 || codes[503] == 0 {
		t.Errorf("%v", codes)
	}
	runtime.ReadMemStats(&after)
	const hash = 19 << 20 // 200 at once would use 3.8 GB
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > int64(4*(runtime.GOMAXPROCS(0)+1)*hash+64<<20) {
		t.Errorf("the heap has grown by %d MiB", grown>>20)
	}
}

// TestPublicRate checks that public rows can be read only by key, at a limited rate.
func TestPublicRate(t *testing.T) {
	g := newGuarded(t, func(o *serve.Options) { o.PerSecond = 0.001 })
	codes := map[int]int{}
	for range 40 {
		codes[g.ask("GET", timeline, "").Code]++
	}
	if codes[200] != 20 || codes[429] != 20 {
		t.Errorf("%v", codes)
	}
	if w := g.as("u1", "GET", timeline, ""); w.Code != 200 {
		t.Errorf("another asker: %d", w.Code)
	}
}

// TestSecretsAreNowhere sends secrets wherever they are accepted, and looks for them in answers, logs and files.
func TestSecretsAreNowhere(t *testing.T) {
	g := newGuarded(t, nil)
	const secret = "hunter2-hunter2-hunter2"
	var said strings.Builder
	bodies := []string{`{"name": "u1", "password": "` + secret + `", "old": "` + secret + `"}`, `{"password": "` + secret, `{"password": {"` + secret + `": 1}}`,
		`"` + secret + `"`, `{"name": "u1", "password": "` + secret + `"}`, `{"password": "` + secret + `"}`, `{"old": "` + secret + `", "password": "` + secret + `"}`,
		`{"name": "u9", "role": "customer", "owner": "u9", "password": "` + secret + `"}`, `{"password": 12345678901234567}`}
	for _, path := range g.ops.Paths() {
		method, path, _ := strings.Cut(path, " ")
		path = strings.NewReplacer("{name}", "u1", "{id}", "1").Replace(path)
		for _, body := range bodies {
			for _, who := range []string{"", "u1", "admin"} {
				w := g.asOps(who, method, path, body)
				fmt.Fprint(&said, w.Body, w.Header())
				w = g.asOps(who, method, path+"?password="+secret, body)
				fmt.Fprint(&said, w.Body, w.Header())
			}
		}
	}
	w := g.asOps("", "GET", "/api/v1/ops/accounts", "", "Authorization", "Bearer "+secret, "Cookie", "__Host-brine="+secret)
	fmt.Fprint(&said, w.Body, w.Header())
	g.as("", "GET", "/api/v1/me", "", "Authorization", "Basic "+secret)
	list, err := g.accounts.Entries(t.Context(), 0, "", 10_000)
	if err != nil || len(list) == 0 {
		t.Fatal(err)
	}
	doc, err := g.ops.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	for place, text := range map[string]string{"answers": said.String(), "the log": g.log.String(), "the audit": fmt.Sprint(list), "the document": string(doc)} {
		for _, s := range append([]string{secret, password, "12345678901234567"}, mapValues(g.tokens)...) {
			if strings.Contains(text, s) {
				i := strings.Index(text, s)
				t.Errorf("%s holds %q: %s", place, s, text[max(0, i-200):i+len(s)])
			}
		}
	}
}

func mapValues(m map[string]string) (out []string) {
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

// TestProxies checks that only trusted proxies can name the address that a request comes from.
func TestProxies(t *testing.T) {
	g := newGuarded(t, func(o *serve.Options) { o.Proxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} })
	from := func(addr string, header ...string) int {
		r := httptest.NewRequest(http.MethodGet, "/api/v1/me", nil)
		r.Host, r.RemoteAddr = "localhost", addr
		r.Header.Set("Authorization", "Bearer "+g.tokens["u1"])
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		return w.Code
	}
	for _, c := range []struct {
		addr   string
		header []string
		want   int
	}{
		{"192.0.2.1:1", []string{"X-Forwarded-For", "203.0.113.9", "X-Forwarded-Proto", "https"}, 200}, {"192.0.2.1:1", []string{"X-Forwarded-Proto", "http"}, 403},
		{"203.0.113.9:1", nil, 403}, {"203.0.113.9:1", []string{"X-Forwarded-For", "192.0.2.1"}, 403}, {"127.0.0.1:1", nil, 200},
		{"127.0.0.1:1", []string{"X-Forwarded-For", "192.0.2.1"}, 403},
	} {
		if code := from(c.addr, c.header...); code != c.want {
			t.Errorf("%s %v: %d, want %d", c.addr, c.header, code, c.want)
		}
	}
}

// TestTablesOfRoles checks that only the roles of a table may read all of it, and that what all customers may read needs no reason.
func TestTablesOfRoles(t *testing.T) {
	g := newGuarded(t, func(o *serve.Options) {
		o.Access["centre:scans"] = serve.Access{Roles: []account.Role{account.Customer, account.Admin}}
		o.Access["centre:orders"] = serve.Access{Owner: "user", Roles: []account.Role{account.Operator}}
	})
	for _, c := range []struct {
		who, target, reason string
		want                int
	}{
		{"", timeline, "", 401}, {"u1", timeline, "", 200}, {"admin", timeline, "", 200}, {"support", timeline, "case", 403}, {"operator", timeline, "case", 403},
		{"u1", "/api/v1/views/station-scans?station=EWR", "", 200},
		{"u1", "/api/v1/views/user-orders", "", 200}, {"support", "/api/v1/views/user-orders?user=u1", "case", 403}, {"admin", "/api/v1/views/user-orders?user=u1", "case", 403},
		{"operator", "/api/v1/views/user-orders?user=u1", "", 400}, {"operator", "/api/v1/views/user-orders?user=u1", "case", 200},
		{"operator", "/api/v1/views/user-orders?user=u1", strings.Repeat("r", 1001), 400}, {"operator", "/api/v1/views/user-orders?user=u1", "  ", 400},
		{"", "/api/v1/docs", "", 401}, {"u1", "/api/v1/docs", "", 200}, {"", "/api/v1/views/none", "", 404},
	} {
		if w := g.as(c.who, "GET", c.target, "", "Brine-Reason", c.reason); w.Code != c.want {
			t.Errorf("%s as %q because of %.10q: %d %s", c.target, c.who, c.reason, w.Code, w.Body)
		}
	}
	// The list of views has those that the caller may use, with the parameters that the caller may use.
	names := func(who string) (out []string) {
		var list client.Views
		if err := json.Unmarshal(g.as(who, "GET", "/api/v1/views", "").Body.Bytes(), &list); err != nil {
			t.Fatal(err)
		}
		for _, v := range list.Views {
			out = append(out, v.Name)
			for _, p := range v.Parameters {
				if who == "u1" && p.Name == "user" {
					t.Errorf("%s takes %s of a customer", v.Name, p.Name)
				}
			}
		}
		return out
	}
	if mine := names("u1"); slices.Contains(mine, "orders-by-status") || !slices.Contains(mine, "user-orders") {
		t.Errorf("%v", mine)
	}
	if theirs := names("support"); slices.Contains(theirs, "user-orders") {
		t.Errorf("%v", theirs)
	}
}

// TestMeantForAnotherAccount checks that a request that names another account than the caller's does nothing, whichever way the caller is known.
func TestMeantForAnotherAccount(t *testing.T) {
	g := newGuarded(t, nil)
	signIn := func(header ...string) *httptest.ResponseRecorder {
		return g.ask("POST", "/api/v1/session", `{"name": "support", "password": "`+password+`"}`, append(header, "Content-Type", jsonBody)...)
	}
	w := signIn("Brine-Account", "u1") // who signs in is not the caller yet
	cookie, _, _ := strings.Cut(w.Header().Get("Set-Cookie"), ";")
	if w.Code != 200 || cookie == "" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	entries := func() int {
		list, err := g.accounts.Entries(t.Context(), 0, "", 100)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	const read = "/api/v1/views/user-orders?user=u1"
	before := entries()
	for _, name := range []string{"u1", "Support", "support2", "support,u1", "\xff", "nobody"} {
		for _, by := range [][2]string{{"Cookie", cookie}, {"Authorization", "Bearer " + g.tokens["support"]}} {
			for _, r := range [][2]string{{"GET", read}, {"GET", "/api/v1/me"}, {"GET", timeline}, {"DELETE", "/api/v1/session"}} {
				w := g.ask(r[0], r[1], "", by[0], by[1], "Brine-Account", name, "Brine-Reason", "case of another")
				if w.Code != 409 || !strings.Contains(w.Body.String(), "#other-account") || strings.Contains(w.Body.String(), "support") || w.Header().Get("Set-Cookie") != "" {
					t.Errorf("%s %s for %q by %s: %d %s", r[0], r[1], name, by[0], w.Code, w.Body)
				}
			}
		}
		if w := g.ask("GET", timeline, "", "Brine-Account", name); w.Code != 401 {
			t.Errorf("nobody, for %q: %d %s", name, w.Code, w.Body)
		}
	}
	if n := entries(); n != before {
		t.Errorf("the audit has %d entries, not %d: a refused request was carried out", n, before)
	}
	for _, header := range [][]string{{"Brine-Account", "support"}, {"Brine-Account", ""}, nil} {
		if w := g.ask("GET", read, "", append(header, "Cookie", cookie, "Brine-Reason", "case 7")...); w.Code != 200 {
			t.Errorf("%q: %d %s", header, w.Code, w.Body)
		}
	}
	if w := signIn("Cookie", cookie, "Brine-Account", "u1"); w.Code != 200 {
		t.Errorf("a sign-in over a session: %d %s", w.Code, w.Body)
	}
}
