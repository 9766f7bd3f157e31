package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/account"
	"brine/command"
	"brine/hbase"
	"brine/rowkey"
	"brine/serve"
	"brine/serve/client"
)

// topic is one partition of the shop's topic, and how far the pipeline has settled it.
type topic struct {
	mu      sync.Mutex
	records []command.Record
	settled int64
	away    bool
}

func (p *topic) Partitions(context.Context, string) (int, error) { return 1, nil }

func (p *topic) Publish(_ context.Context, _ string, _ int, records []command.Record) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.away {
		return 0, errors.New("no answer")
	}
	p.records = append(p.records, records...)
	return int64(len(p.records) - len(records)), nil
}

func (p *topic) at(context.Context, string, string, int) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.settled, nil
}

// commandDesk runs a desk on the options' store until the test ends.
func commandDesk(t testing.TB, accounts *account.Store, o *serve.Options) (*command.Desk, *topic) {
	t.Helper()
	if err := accounts.Migrate(t.Context(), command.Migrations, command.Versions); err != nil {
		t.Fatal(err)
	}
	p, box := &topic{}, command.NewOutbox(accounts.DB())
	d := command.NewDesk(command.Options{Machines: o.Machines, Outbox: box, Rows: o.Rows, Publisher: p, Settled: p.at, Log: slog.New(slog.DiscardHandler),
		Wait: 20 * time.Millisecond, PublishWithin: patience})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		box.Close()
	})
	return d, p
}

// give sends a command for an order as an account.
func (g *guarded) give(name, order, cmd, match, key, body string, header ...string) *httptest.ResponseRecorder {
	for name, value := range map[string]string{"If-Match": match, "Idempotency-Key": key} {
		if value != "" {
			header = append(header, name, value)
		}
	}
	return g.as(name, "POST", "/api/v1/tables/centre:orders/rows/"+url.PathEscape(g.rows["centre:orders "+order])+"/commands/"+cmd, body, header...)
}

// TestCommands sends commands as every account, ordered so that each refusal is the first that applies.
func TestCommands(t *testing.T) {
	g := newGuarded(t, nil)
	for _, c := range []struct {
		who, order, cmd, match, key, body string
		status                            int
		want                              string
	}{
		{"", "u1", "cancel", `"7"`, "k", "", 401, "#unsigned"},
		{"u1", "u1", "cancel", `"7"`, "", "", 400, "header.Idempotency-Key"},
		{"u1", "u1", "cancel", "", "k", "", 428, "#version-required"},
		{"u1", "u1", "cancel", "7", "k", "", 400, "header.If-Match"},
		{"u1", "u1", "cancel", `"6"`, "k", "", 412, `"current":{"state":"paid","state_version":7,"deleted":false}`},
		{"u1", "u1", "confirm", `"7"`, "k", "", 409, `"current":{"state":"paid","state_version":7,"deleted":false}`},
		{"u1", "u1", "restore", `"7"`, "k", "", 403, "#forbidden"},
		{"u1", "u1", "cancel", `"7"`, "k", `{"fields": {"status": "paid"}}`, 400, "body.fields.status"},
		{"u1", "u1", "cancel", `"7"`, "k", `{"field": {}}`, 400, `"location":"body"`},
		{"u2", "u1", "cancel", `"7"`, "k", "", 404, "#not-found"},
		{"u1", "u1", "cancel", `"7"`, "k", `{"fields": {"reason": "too <late>"}}`, 202, `"state":"published"`},
		{"u1", "u1", "cancel", `"7"`, "k", `{"fields": {"reason": "too <late>"}}`, 202, `"state":"published"`},
		{"u1", "u1", "cancel", `"7"`, "k", "", 422, "#key-reused"},
		{"u1", "u1", "cancel", `"7"`, "l", "", 409, "#held"},
		{"u2", "u2", "cancel", `"7"`, "k", "", 202, `"to":"cancelled"`}, // keys are per account
		{"admin", "u2", "cancel", `"7"`, "k", "", 403, "#forbidden"},
	} {
		w := g.give(c.who, c.order, c.cmd, c.match, c.key, c.body, "Brine-Reason", "case 7")
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s of %s as %q, If-Match %s, key %q: %d %s, want %d with %s", c.cmd, c.order, c.who, c.match, c.key, w.Code, w.Body, c.status, c.want)
		}
	}
	if n := len(g.topic.records); n != 2 {
		t.Errorf("%d commands are in the topic", n)
	}
	if w := g.give("operator", "u2", "cancel", `"7"`, "k", ""); w.Code != 400 || !strings.Contains(w.Body.String(), "Brine-Reason") {
		t.Errorf("an operator without a reason: %d %s", w.Code, w.Body)
	}
	entries, err := g.accounts.Entries(t.Context(), 0, "u1", 100)
	if err != nil || len(entries) < 10 || entries[0].Action != "command" || !strings.Contains(entries[0].Object, "centre:orders cancel key=") {
		t.Errorf("the audit has %+v: %v", entries, err)
	}
}

// TestReadsWaitForCommands follows a command from its answer to a read that shows it.
func TestReadsWaitForCommands(t *testing.T) {
	g := newGuarded(t, nil)
	w := g.give("u1", "u1", "cancel", `"7"`, "k", "")
	var given client.Command
	if err := json.Unmarshal(w.Body.Bytes(), &given); err != nil || w.Code != http.StatusAccepted {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	at, row := w.Header().Get("Location"), "/api/v1/tables/centre:orders/rows/"+url.PathEscape(g.rows["centre:orders u1"])
	state := func(want string) {
		t.Helper()
		if w := g.as("u1", "GET", at, ""); w.Code != 200 || !strings.Contains(w.Body.String(), `"state":"`+want+`"`) {
			t.Errorf("%s: %d %s, want %s", at, w.Code, w.Body, want)
		}
		if w := g.as("u2", "GET", at, ""); w.Code != 404 {
			t.Errorf("%s is shown to another: %d %s", at, w.Code, w.Body)
		}
	}
	read := func(target, token string, status int, stale string) *httptest.ResponseRecorder {
		t.Helper()
		w := g.as("u1", "GET", target, "", "Brine-After", token)
		if w.Code != status || w.Header().Get("Brine-Stale") != stale {
			t.Errorf("%s: %d %q %s", target, w.Code, w.Header().Get("Brine-Stale"), w.Body)
		}
		return w
	}
	state("published")
	read(row, given.Token, 200, "true")
	read("/api/v1/views/order?order=G-u1", given.Token, 200, "true")
	read(row, "x", 400, "")
	read(row, command.Token{Topic: "other", Offset: 1}.String(), 400, "")

	g.put(t, g.rows["centre:orders u1"], "brief", "status", given.Version, "cancelled") // before it is settled, as a pipeline does
	g.topic.mu.Lock()
	g.topic.settled = 1
	g.topic.mu.Unlock()
	if w := read(row, given.Token, 200, ""); !strings.Contains(w.Body.String(), `"status":"cancelled"`) || w.Header().Get("ETag") != etag(given.Version) {
		t.Errorf("the row is %s with %s", w.Body, w.Header().Get("ETag"))
	}
	state("applied")

	g.put(t, g.rows["centre:orders u1"], "detail", "note", given.Version+5, "x") // not a column that is read
	g.put(t, g.rows["centre:orders u1"], "detail", "payment", given.Version+9, "cash")
	tag := read(row, given.Token, 200, "").Header().Get("ETag")
	if want := strings.TrimSuffix(etag(given.Version), `"`) + "." + strings.Trim(etag(given.Version+9), `"`) + `"`; tag != want {
		t.Errorf("the ETag is %s, not %s", tag, want)
	}
	if w := g.give("u1", "u1", "delete", tag, "d", ""); w.Code != http.StatusAccepted {
		t.Errorf("a command upon the ETag: %d %s", w.Code, w.Body)
	}
}

// TestCommandsWithoutAccounts checks that the API is read-only, and says what is missing.
func TestCommandsWithoutAccounts(t *testing.T) {
	s := newShop(t, nil)
	w := s.ask("POST", "/api/v1/tables/centre:orders/rows/k/commands/cancel", "", "If-Match", `"7"`, "Idempotency-Key", "k")
	if w.Code != 403 || !strings.Contains(w.Body.String(), "add the section accounts") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func etag(version int64) string {
	b, _ := json.Marshal(version)
	return `"` + string(b) + `"`
}

// put writes a cell of a row to the store.
func (s *store) put(t testing.TB, row, family, qualifier string, at int64, value string) {
	t.Helper()
	key, err := rowkey.ParseBinary(row)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.rows {
		r := &s.rows[i]
		if string(r.Row) != string(key) {
			continue
		}
		cells := []hbase.Cell{}
		for _, c := range r.Cells {
			if string(c.Family) != family || string(c.Qualifier) != qualifier {
				cells = append(cells, c)
			}
		}
		r.Cells = append(cells, hbase.Cell{Row: key, Family: []byte(family), Qualifier: []byte(qualifier), Timestamp: at, Value: []byte(value)})
	}
}
