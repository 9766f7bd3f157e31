package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
	"golang.org/x/sync/errgroup"

	"brine/account"
	"brine/command"
	"brine/config"
	"brine/examples"
	"brine/ingest"
	"brine/internal/sample"
	"brine/publish"
	"brine/query"
	"brine/rowkey"
	"brine/serve"
	"brine/serve/client"
	"brine/service"
	"brine/service/brokers"
	"brine/service/devstack"
)

const (
	customers   = 200
	ordersTable = "shop:orders"
)

// TestCustomers lets 200 customers confirm, cancel and delete their orders over the API at the same time, while the shop changes them too:
// afterwards each row is what the topic says, by nothing but its records, and each command is there once, from a state that takes it.
func TestCustomers(t *testing.T) {
	s := openCentre(t)
	created := time.Now().UnixMilli()
	shopDone := make(chan struct{})
	g, ctx := errgroup.WithContext(t.Context())
	g.Go(func() error {
		defer close(shopDone)
		for _, status := range []string{sample.Created, sample.Paid, sample.Shipped} {
			for i := range customers {
				c := sample.Change{Order: orderOf(i), User: userOf(i), Created: created, At: time.Now().UnixMilli(), Status: status}
				if err := s.shop(ctx, &c); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for i := range customers {
		g.Go(func() error { return s.customer(ctx, i, "a", created, shopDone) })
		if i%4 == 0 { // two devices, which get in each other's way
			g.Go(func() error { return s.customer(ctx, i, "b", created, shopDone) })
		}
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	s.judge(created)
}

func orderOf(i int) string { return fmt.Sprintf("G%06d", i) }
func userOf(i int) string  { return fmt.Sprintf("u%03d", i) }

// centre is the pipelines of brine dev at work on embedded servers, with the API of customers.
type centre struct {
	t       *testing.T
	cfg     *config.Config
	service *service.Service
	sender  *publish.Sender
	box     *command.Outbox
	base    string
	tokens  []string // of customers

	mu    sync.Mutex
	given map[string]client.Command
	kinds map[string]int // of answers that are not 202
	there map[int]bool   // orders that some device has seen
}

func openCentre(t *testing.T) *centre {
	log := slog.New(slog.DiscardHandler)
	stack, err := devstack.Start(devstack.Options{Dir: t.TempDir(), HBaseNodes: 1, ScannerLease: time.Minute, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stack.Close)
	cfg, problems := config.Parse("dev.yaml", examples.Dev, stack.Getenv)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	if err := stack.Prepare(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	s := &centre{t: t, cfg: cfg, given: map[string]client.Command{}, kinds: map[string]int{}, there: map[int]bool{}}
	if s.service, err = service.Open(t.Context(), cfg, service.Options{For: service.ToRun, Halves: []string{"orders.rows"}, Log: log}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.service.Close)
	s.sender = publish.NewSender(cfg.Kafka.Options(), cfg.Kafka.RequestTimeout)
	t.Cleanup(s.sender.Close)
	accounts := s.accounts()
	s.box = command.NewOutbox(accounts.DB())
	t.Cleanup(s.box.Close)
	desk, closeDesk := s.service.Desk(s.box)
	t.Cleanup(closeDesk)
	api := s.api(accounts, desk)
	ctx, cancel := context.WithCancel(context.Background())
	var g errgroup.Group
	for _, run := range []func(context.Context) error{s.service.Run, desk.Run, api.Run} {
		g.Go(func() error { return run(ctx) })
	}
	t.Cleanup(func() {
		cancel()
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
		transport.CloseIdleConnections()
	})
	s.base = "http://" + api.Addr()
	return s
}

// accounts opens a database with an account and an API token of each customer.
func (s *centre) accounts() *account.Store {
	t := s.t
	store, err := account.Open(t.Context(), account.Options{Connect: "embedded:" + filepath.Join(t.TempDir(), "accounts")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	if err := store.Migrate(t.Context(), command.Migrations, command.Versions); err != nil {
		t.Fatal(err)
	}
	hash, err := bcrypt.GenerateFromPassword([]byte("nobody signs in by it"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	for i := range customers {
		a, err := store.Import(t.Context(), userOf(i), userOf(i), account.Customer, true, string(hash))
		if err != nil {
			t.Fatal(err)
		}
		token, _, err := store.NewToken(t.Context(), a, "test", account.Customer, time.Now().Add(24*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		s.tokens = append(s.tokens, token)
	}
	return store
}

func (s *centre) api(accounts *account.Store, desk *command.Desk) *serve.Server {
	o, err := s.cfg.API()
	if err != nil {
		s.t.Fatal(err)
	}
	o.Listen, o.Rows, o.Accounts, o.Commands, o.Timeout = "127.0.0.1:0", s.service.Client(), accounts, desk, time.Minute
	o.Access, o.Log = map[string]serve.Access{ordersTable: {Owner: "user"}}, slog.New(slog.DiscardHandler)
	o.InFlight = 2 * customers
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	api, err := serve.New(l, o)
	if err != nil {
		s.t.Fatal(err)
	}
	return api
}

// shop publishes a change of the shop's own.
func (s *centre) shop(ctx context.Context, c *sample.Change) error {
	value, err := json.Marshal(c)
	if err != nil {
		return err
	}
	part := command.Murmur2.Partition([]byte(c.Order), devstack.Partitions)
	_, err = s.sender.Send(ctx, s.cfg.Pipelines[1].Topic, part, []publish.Record{{Key: []byte(c.Order), Value: value}}, "", nil)
	return err
}

var transport = &http.Transport{MaxIdleConnsPerHost: 2 * customers}

// bearer signs requests with a token.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return transport.RoundTrip(r)
}

// plan is what customer i does with an order in a state; empty: nothing, for now.
func plan(i int, state string) string {
	switch {
	case state == sample.Created && i%4 == 0, state == sample.Paid && i%4 == 1:
		return "cancel"
	case state == sample.Shipped:
		return "confirm"
	case state == sample.Received && i%3 == 0, state == sample.Cancelled && i%3 == 1:
		return "delete"
	}
	return ""
}

// customer gives commands on the order of customer i until the shop has done its part and nothing is left to do.
func (s *centre) customer(ctx context.Context, i int, device string, created int64, shopDone chan struct{}) error {
	api := &client.Client{Base: s.base, HTTP: &http.Client{Transport: bearer(s.tokens[i])}}
	key := url.Values{"user": {userOf(i)}, "created": {fmt.Sprint(created)}, "order": {orderOf(i)}}
	for n := 0; ctx.Err() == nil; n++ {
		last := false
		select {
		case <-shopDone:
			last = true
		default:
		}
		row, err := api.Find(ctx, ordersTable, key)
		if p, ok := errors.AsType[*client.Problem](err); ok && p.Status == http.StatusNotFound {
			if last && s.known(i, false) {
				return nil // it is deleted
			}
			pause(ctx)
			continue
		} else if s.busy(err) {
			pause(ctx)
			continue
		} else if err != nil {
			return err
		}
		s.known(i, true)
		state := fmt.Sprint(row.Fields["status"])
		cmd := plan(i, state)
		if cmd == "" {
			if last && state != sample.Created && state != sample.Paid {
				return nil
			}
			pause(ctx)
			continue
		}
		given, err := api.Give(ctx, ordersTable, row.Row, cmd, row.StateVersion, fmt.Sprint(device, n), nil)
		for s.busy(err) { // whether it was accepted is not known: the same again
			pause(ctx)
			given, err = api.Give(ctx, ordersTable, row.Row, cmd, row.StateVersion, fmt.Sprint(device, n), nil)
		}
		if p, ok := errors.AsType[*client.Problem](err); ok && slices.Contains([]int{404, 409, 412}, p.Status) {
			s.count(p.Title)
			pause(ctx)
			continue
		} else if err != nil {
			return fmt.Errorf("%s of %s: %w", cmd, orderOf(i), err)
		}
		s.mu.Lock()
		s.given[given.ID] = given
		s.mu.Unlock()
		if given.Token != "" {
			api.After = given.Token
		}
	}
	return ctx.Err()
}

// busy reports whether an answer says to ask again.
func (s *centre) busy(err error) bool {
	p, ok := errors.AsType[*client.Problem](err)
	again := ok && (p.Status == http.StatusServiceUnavailable || strings.HasSuffix(p.Type, "#running"))
	if again {
		s.count(p.Title)
	}
	return again
}

// known reports whether some device has seen an order: then one that is not there was deleted.
func (s *centre) known(i int, now bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.there[i] = s.there[i] || now
	return s.there[i]
}

func (s *centre) count(kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kinds[kind]++
}

// pause lets others work: a caller that waits for the shop asks again.
func pause(ctx context.Context) {
	timer := time.NewTimer(50 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// said is one version of an order as the topic has it.
type said struct {
	status  string
	command string // its id; empty: the shop's own
}

// judge holds rows and commands to the topic, which it reads by itself.
func (s *centre) judge(created int64) {
	t := s.t
	topic := s.cfg.Pipelines[1].Topic
	orders, commands := map[string]map[int64]said{}, map[string]string{}
	reader := ingest.NewTopicReader(ingest.Options{Kafka: s.cfg.Kafka.Options(), Topic: topic})
	defer reader.Close()
	for part, end := range s.ends(topic) {
		for r, err := range reader.Records(t.Context(), part, 0, end) {
			if err != nil {
				t.Fatal(err)
			}
			var c sample.Change
			if err := json.Unmarshal(r.Value, &c); err != nil {
				t.Fatal(err)
			}
			id := ""
			for _, h := range r.Headers {
				if h.Key == command.Header {
					id = string(h.Value)
					if has, ok := commands[id]; ok && has != string(r.Value) {
						t.Errorf("command %s says %s and %s", id, has, r.Value)
					}
					commands[id] = string(r.Value)
				}
			}
			if orders[c.Order] == nil {
				orders[c.Order] = map[int64]said{}
			}
			if was, ok := orders[c.Order][c.At]; ok && was.command != id {
				t.Logf("%s: two changes of one version: %+v and %s", c.Order, was, c.Status)
			}
			orders[c.Order][c.At] = said{c.Status, id}
		}
	}
	s.applied()
	for id := range s.given {
		if _, there := commands[id]; !there {
			t.Errorf("command %s was answered, and is not in the topic", id)
		}
	}
	if len(commands) != len(s.given) {
		t.Errorf("%d commands are in the topic, %d were answered", len(commands), len(s.given))
	}
	machine := s.cfg.Machines()[0]
	became := map[command.State]int{}
	for i := range customers {
		versions := slices.Sorted(maps.Keys(orders[orderOf(i)]))
		newest := orders[orderOf(i)][versions[len(versions)-1]]
		keys, err := machine.Table.RowsOf(map[string]string{"user": userOf(i), "created": fmt.Sprint(created), "order": orderOf(i)})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := query.ByRow(t.Context(), s.service.Client(), machine.Table, keys)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range rows[0].Fields {
			if f.Name == machine.State && (string(f.Value.Text()) != newest.status || rows[0].StateVersion != versions[len(versions)-1]) {
				t.Errorf("%s is %s at %d, the topic says %s at %d", rowkey.Binary(keys[0]), f.Value.Text(), rows[0].StateVersion, newest.status,
					versions[len(versions)-1])
			}
		}
	}
	for id, c := range s.given {
		e, ok, err := s.box.Get(t.Context(), id)
		if err != nil || !ok {
			t.Fatalf("command %s is not in the outbox: %v", id, err)
		}
		became[e.State]++
		var change sample.Change
		if err := json.Unmarshal(e.Change.Value, &change); err != nil {
			t.Fatal(err)
		}
		from, of := orders[change.Order][e.Expected], machine.Find(c.Command)
		if !slices.Contains(of.From, from.status) || change.Status != of.To {
			t.Errorf("%s of %s leads from %q to %s", of.Name, change.Order, from.status, change.Status)
		}
	}
	if len(s.given) < customers {
		t.Errorf("only %d commands were accepted", len(s.given))
	}
	t.Logf("%d commands: %v; refused: %v", len(s.given), became, s.kinds)
}

func (s *centre) ends(topic string) []int64 {
	lookUps := brokers.Open(&s.cfg.Kafka)
	defer lookUps.Close()
	ends, err := lookUps.Ends(s.t.Context(), topic)
	if err != nil {
		s.t.Fatal(err)
	}
	return ends
}

// applied waits until the pipeline has settled all that the topic holds, and the desk knows what has become of all commands.
func (s *centre) applied() {
	lookUps := brokers.Offsets{Client: brokers.Open(&s.cfg.Kafka)}
	defer lookUps.Close()
	if err := s.service.UntilEnd(s.t.Context(), lookUps); err != nil {
		s.t.Fatal(err)
	}
	for {
		left, err := s.box.In(s.t.Context(), command.Published, 1)
		if err != nil {
			s.t.Fatal(err)
		}
		if len(left) == 0 {
			return
		}
		pause(s.t.Context())
	}
}
