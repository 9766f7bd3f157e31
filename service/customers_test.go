package service_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	"brine/internal/testenv"
	"brine/publish"
	"brine/rowkey"
	"brine/serve/client"
	"brine/service"
	"brine/service/brokers"
	"brine/service/devstack"
)

const customers = 200

// TestCustomers lets 200 customers confirm, cancel and delete their orders over the API at the same time, while the shop changes them too.
// Afterwards it checks that each order's row and document match the topic, judged only by its records and the transitions below; that each
// command is in the topic once, on a state that accepts it; and that the audit has all of them. Where two servers share the stores, the two
// devices of a customer ask different ones. BRINE_ORDERS sets the number of orders on real servers: see make test-orders.
func TestCustomers(t *testing.T) {
	for servers, name := range map[int]string{1: "embedded", 2: "embedded, two servers"} {
		t.Run(name, func(t *testing.T) {
			each := 1
			if servers == 1 && !testing.Short() {
				each = 2
			}
			s := openCentre(t, embeddedGround(t), "embedded:"+filepath.Join(t.TempDir(), "accounts"), each, servers)
			s.trade()
			s.judge()
		})
	}
	t.Run("real", func(t *testing.T) {
		orders := 4 // per customer
		if n, err := strconv.Atoi(os.Getenv("BRINE_ORDERS")); err == nil {
			orders = n / customers
		}
		on := realGround(t)
		s := openCentre(t, on, "mysql://"+testenv.StartMariaDB(t).Addr+"/brine", orders, 2)
		s.trade()
		s.judge()
	})
}

// transitions are the commands of customers, as in docs/commands.md. The judge does not use a command.Machine.
var transitions = map[string]struct {
	from []string
	to   string
}{
	"confirm": {[]string{sample.Shipped}, sample.Received},
	"cancel":  {[]string{sample.Created, sample.Paid}, sample.Cancelled},
	"delete":  {[]string{sample.Received, sample.Cancelled}, "deleted"},
}

// plan returns the command that its customer sends for order n in a state; empty: none for now.
func plan(n int, state string) string {
	switch {
	case state == sample.Created && n%4 == 0, state == sample.Paid && n%4 == 1:
		return "cancel"
	case state == sample.Shipped:
		return "confirm"
	case state == sample.Received && n%3 == 0, state == sample.Cancelled && n%3 == 1:
		return "delete"
	}
	return ""
}

func orderOf(n int) string { return fmt.Sprintf("G%06d", n) }
func userOf(i int) string  { return fmt.Sprintf("u%03d", i) }

// centre is brine dev's pipelines at work, with the API of customers in the same process.
type centre struct {
	t        *testing.T
	each     int // orders per customer
	created  int64
	table    string
	index    string
	cfg      *config.Config
	service  *service.Service
	accounts *account.Store // the API has its own store
	box      *command.Outbox
	sender   *publish.Sender
	bases    []string // of the servers; the first one's process runs the pipelines
	tokens   []string // by customer
	rows     []string // keys of orders
	shopDone chan struct{}

	mu    sync.Mutex
	given map[string]client.Command
	asked map[string]*asked // by account and the command's name in the audit
	kinds map[string]int    // of answers other than 202
	there map[int]bool      // orders that some device has seen
}

// asked counts how often a command was sent. One that was answered with 503 may not have been audited.
type asked struct{ answered, all int }

func openCentre(t *testing.T, on ground, accounts string, each, servers int) *centre {
	s := &centre{t: t, each: each, created: time.Now().UnixMilli(), table: "shop:" + on.prefix + "orders", index: on.prefix + "orders",
		shopDone: make(chan struct{}), given: map[string]client.Command{}, asked: map[string]*asked{}, kinds: map[string]int{},
		there: map[int]bool{}}
	user := ""
	if strings.HasPrefix(accounts, "mysql:") {
		user = ", user: root"
	}
	p := on.prefix
	text := strings.NewReplacer("group: brine", "group: "+p+"brine", "logistics:scans", "logistics:"+p+"scans", "shop:orders", s.table,
		"courier.scans", p+"courier.scans", "shop.orders", p+"shop.orders", "index: orders", "index: "+s.index,
		"indexes:\n  orders:", "indexes:\n  "+s.index+":", "regions: 16", "regions: 4").Replace(string(examples.Dev)) +
		fmt.Sprintf("accounts: { connect: %q%s }\nserve: { listen: '127.0.0.1:0', timeout: 1m, in_flight: %d }\n", accounts, user, 2*customers)
	var problems config.Problems
	s.cfg, problems = config.Parse("dev.yaml", []byte(text), on.getenv)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	if err := on.prepare(t.Context(), s.cfg); err != nil {
		t.Fatal(err)
	}
	s.open(servers)
	s.customers()
	machine := s.cfg.Machines()[0]
	for n := range each * customers {
		keys, err := machine.Table.RowsOf(map[string]string{"user": userOf(n / each), "created": fmt.Sprint(s.created), "order": orderOf(n)})
		if err != nil {
			t.Fatal(err)
		}
		s.rows = append(s.rows, rowkey.Binary(keys[0]))
	}
	return s
}

// open runs the pipelines and an API in one process, as brine run --serve does, and further APIs as brine serve does, until the test ends.
func (s *centre) open(servers int) {
	t := s.t
	s.service = s.serve(service.ToRun, nil)
	var index *service.Service // an embedded index is opened once, and then HBase with it; accounts and commands are opened again
	if strings.HasPrefix(s.cfg.Search.Connect, "embedded:") {
		index = s.service
	}
	for range servers - 1 {
		s.serve(service.ToRead, index)
	}
	var err error
	s.sender = publish.NewSender(s.cfg.Kafka.Options(), s.cfg.Kafka.RequestTimeout)
	t.Cleanup(s.sender.Close)
	if s.accounts, err = account.Open(t.Context(), s.cfg.AccountOptions()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.accounts.Close() }) // it writes nothing any more
	s.box = command.NewOutbox(s.accounts.DB())
	t.Cleanup(s.box.Close)
}

// serve opens a service and its API, and runs them until the test ends. stores are the stores to use; nil: its own.
func (s *centre) serve(purpose service.Purpose, stores *service.Service) *service.Service {
	t := s.t
	t.Helper()
	opened, err := service.Open(t.Context(), s.cfg, service.Options{For: purpose, Stores: stores, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.Close)
	api, err := opened.API(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.bases = append(s.bases, api.URL())
	ctx, cancel := context.WithCancel(context.Background())
	var g errgroup.Group
	g.Go(func() error { return api.Run(ctx) })
	if purpose == service.ToRun {
		g.Go(func() error { return opened.Run(ctx) })
	}
	t.Cleanup(func() {
		cancel()
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
		transport.CloseIdleConnections()
	})
	return opened
}

// api returns a client of a server for customer i.
func (s *centre) api(server, i int) *client.Client {
	return &client.Client{Base: s.bases[server%len(s.bases)], HTTP: &http.Client{Transport: bearer(s.tokens[i])}}
}

// customers creates the accounts, with an API token each.
func (s *centre) customers() {
	hash := importedHash(s.t)
	s.tokens = make([]string, customers)
	var g errgroup.Group
	g.SetLimit(16)
	for i := range customers {
		g.Go(func() error {
			a, err := s.accounts.Import(s.t.Context(), userOf(i), userOf(i), account.Customer, true, hash)
			if err != nil {
				return err
			}
			s.tokens[i], _, err = s.accounts.NewToken(s.t.Context(), a, "test", account.Customer, time.Now().Add(24*time.Hour))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		s.t.Fatal(err)
	}
}

// importedHash returns a hash that costs little to check.
func importedHash(t *testing.T) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte("nobody signs in by it"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(hash)
}

// trade returns when all customers have done what they planned, and the pipeline has settled the results.
func (s *centre) trade() {
	began := time.Now()
	g, ctx := errgroup.WithContext(s.t.Context())
	g.Go(func() error {
		defer close(s.shopDone)
		for _, status := range []string{sample.Created, sample.Paid, sample.Shipped} {
			if err := s.shop(ctx, status); err != nil {
				return err
			}
		}
		return nil
	})
	for i := range customers {
		g.Go(func() error { return s.customer(ctx, i, "a") })
		if i%4 == 0 { // two devices that get in each other's way
			g.Go(func() error { return s.customer(ctx, i, "b") })
		}
	}
	if err := g.Wait(); err != nil {
		s.t.Fatal(err)
	}
	took := time.Since(began).Round(time.Millisecond)
	s.t.Logf("%d orders, %d commands accepted within %v; refused: %v", len(s.rows), len(s.given), took, s.kinds)
	s.settle()
}

// shop sets all orders to a status, some at a time.
func (s *centre) shop(ctx context.Context, status string) error {
	const together = 50
	for from := 0; from < len(s.rows); from += together {
		records := map[int][]publish.Record{}
		for n := from; n < min(from+together, len(s.rows)); n++ {
			c := sample.Change{Order: orderOf(n), User: userOf(n / s.each), Created: s.created, At: time.Now().UnixMilli(), Status: status}
			value, err := json.Marshal(c)
			if err != nil {
				return err
			}
			part := command.Murmur2.Partition([]byte(c.Order), devstack.Partitions)
			records[part] = append(records[part], publish.Record{Key: []byte(c.Order), Value: value})
		}
		for part, list := range records {
			if _, err := s.sender.Send(ctx, s.topic(), part, list, "", nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *centre) topic() string { return s.cfg.Pipelines[1].Topic }

var transport = &http.Transport{MaxIdleConnsPerHost: 2 * customers}

// bearer authorizes requests with a token.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return transport.RoundTrip(r)
}

// customer goes through the orders of customer i again and again, until the shop is done and there is nothing left to do.
func (s *centre) customer(ctx context.Context, i int, device string) error {
	api := s.api(i+int(device[0]), i)
	left, upon := map[string]int{}, map[int]int64{} // rows still to handle, and the version of each that a command was accepted on
	for n := i * s.each; n < (i+1)*s.each; n++ {
		left[s.rows[n]] = n
	}
	const soon, late = 100 * time.Millisecond, 3 * time.Second // 250 devices that ask too often would take all of the machine
	for pause := soon; len(left) > 0; {
		last := false
		select {
		case <-s.shopDone:
			last = true
		default:
		}
		found, err := api.Rows(ctx, s.table, slices.Collect(maps.Keys(left))...)
		if err != nil && !s.again(err) {
			return err
		}
		did := 0
		for _, key := range found.Missing {
			if last && s.known(left[key], false) {
				delete(left, key) // the other device has deleted it
			}
		}
		for _, row := range found.Rows {
			n, state := left[row.Row], fmt.Sprint(row.Fields["status"])
			s.known(n, true)
			switch cmd := plan(n, state); {
			case cmd != "" && upon[n] == row.StateVersion && n%10 > 0: // the command is under way; some devices send another
			case cmd != "":
				did++
				if err := s.give(ctx, api, i, n, cmd, row.StateVersion, device); err != nil {
					return err
				}
				upon[n] = row.StateVersion
			case last && state != sample.Created && state != sample.Paid:
				delete(left, row.Row)
			}
		}
		if pause = min(2*pause, late); did > 0 {
			pause = soon
		}
		wait(ctx, pause)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// give sends a command for order n on a version, until it is accepted or refused.
func (s *centre) give(ctx context.Context, api *client.Client, i, n int, cmd string, upon int64, device string) error {
	for {
		given, err := api.Give(ctx, s.table, s.rows[n], cmd, upon, fmt.Sprint(device, n, cmd, upon), nil)
		p, refused := errors.AsType[*client.Problem](err)
		if err != nil && !refused {
			return fmt.Errorf("%s of %s: %w", cmd, orderOf(n), err)
		}
		s.mu.Lock()
		of := userOf(i) + " " + s.table + " " + cmd + " key=" + s.rows[n]
		if s.asked[of] == nil {
			s.asked[of] = &asked{}
		}
		s.asked[of].all++
		if !refused || p.Status != http.StatusServiceUnavailable {
			s.asked[of].answered++
		}
		if !refused {
			s.given[given.ID] = given
			api.After = cmp.Or(given.Token, api.After)
		}
		s.mu.Unlock()
		switch {
		case !refused:
			return nil
		case s.again(err): // unknown whether it was accepted: repeat it
			wait(ctx, time.Second) // as Retry-After says
		case slices.Contains([]int{http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed}, p.Status):
			return nil
		default:
			return fmt.Errorf("%s of %s: %w", cmd, orderOf(n), err)
		}
	}
}

// again reports whether an answer asks for a retry, and counts it.
func (s *centre) again(err error) bool {
	p, ok := errors.AsType[*client.Problem](err)
	if !ok {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kinds[p.Title]++
	return p.Status == http.StatusServiceUnavailable || strings.HasSuffix(p.Type, "#running")
}

// known reports whether some device has seen an order. If so, an absent order was deleted.
func (s *centre) known(n int, now bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.there[n] = s.there[n] || now
	return s.there[n]
}

// wait gives others time; the caller then asks again.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// settle waits until the pipeline has settled the whole topic, the desk knows the outcome of all commands, and searches find everything.
func (s *centre) settle() {
	lookUps := brokers.Offsets{Client: brokers.Open(&s.cfg.Kafka)}
	defer lookUps.Close()
	if err := s.service.UntilEnd(s.t.Context(), lookUps); err != nil {
		s.t.Fatal(err)
	}
	for {
		left, err := s.box.Pending(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		if left == 0 {
			break
		}
		wait(s.t.Context(), 50*time.Millisecond)
	}
	if err := s.service.Engine().Refresh(s.t.Context(), s.index); err != nil {
		s.t.Fatal(err)
	}
}

// said is one change of an order in the topic.
type said struct {
	status  string
	deleted bool
	command string // its id; empty: a change by the shop
}

// judge checks rows, documents, commands and the audit against the topic, which it reads itself.
func (s *centre) judge() {
	orders, commands := s.records()
	s.judgeOrders(orders)
	s.judgeCommands(orders, commands)
	s.judgeAudit()
}

// records returns the changes of each order by version, in topic order, and the record of each command.
func (s *centre) records() (orders map[string]map[int64][]said, commands map[string]sample.Change) {
	t := s.t
	orders, commands = map[string]map[int64][]said{}, map[string]sample.Change{}
	reader := ingest.NewTopicReader(ingest.Options{Kafka: s.cfg.Kafka.Options(), Topic: s.topic()})
	defer reader.Close()
	lookUps := brokers.Open(&s.cfg.Kafka)
	defer lookUps.Close()
	ends, err := lookUps.Ends(t.Context(), s.topic())
	if err != nil {
		t.Fatal(err)
	}
	for part, end := range ends {
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
				}
			}
			if has, copied := commands[id]; copied && id != "" {
				if fmt.Sprint(has.Order, has.At, has.Status) != fmt.Sprint(c.Order, c.At, c.Status) {
					t.Errorf("command %s says %+v and %s", id, has, r.Value)
				}
				continue
			}
			if id != "" {
				commands[id] = c
			}
			if orders[c.Order] == nil {
				orders[c.Order] = map[int64][]said{}
			}
			orders[c.Order][c.At] = append(orders[c.Order][c.At], said{c.Status, c.Deleted != nil && *c.Deleted, id})
		}
	}
	return orders, commands
}

// judgeOrders checks that the row and document of each order match its newest change, and that nobody finds a deleted order.
func (s *centre) judgeOrders(orders map[string]map[int64][]said) {
	var g errgroup.Group
	g.SetLimit(8)
	for i := range customers {
		g.Go(func() error {
			want := map[string]string{}
			for n := i * s.each; n < (i+1)*s.each; n++ {
				of := orders[orderOf(n)]
				newest, deleted := of[slices.Max(slices.Collect(maps.Keys(of)))], false
				for _, changes := range of { // nobody restores an order, so later changes by the shop leave it deleted
					deleted = deleted || slices.ContainsFunc(changes, func(x said) bool { return x.deleted })
				}
				if !deleted {
					want[orderOf(n)] = newest[len(newest)-1].status
				}
			}
			api := s.api(i, i)
			states := []string{"created", "paid", "shipped", "received", "cancelled", "deleted"}
			for what, params := range map[string]url.Values{"rows": {}, "documents": {"status": states}} {
				got := map[string]string{}
				params.Set("page_size", "100")
				for {
					page, err := api.Ask(s.t.Context(), "user-orders", params)
					if err != nil {
						return err
					}
					for _, r := range page.Rows {
						got[fmt.Sprint(r.Fields["order"])] = fmt.Sprint(r.Fields["status"])
						if r.State != "" {
							s.t.Errorf("%s: its row and its document differ: %s", r.Fields["order"], r.State)
						}
					}
					if page.Next == "" {
						break
					}
					params.Set("page_token", page.Next)
				}
				if !maps.Equal(got, want) {
					s.t.Errorf("the %s of %s: %v, the topic says %v", what, userOf(i), got, want)
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		s.t.Fatal(err)
	}
}

// judgeCommands checks that exactly the accepted commands are in the topic, each alone on a state that accepts it.
func (s *centre) judgeCommands(orders map[string]map[int64][]said, commands map[string]sample.Change) {
	t, became, places := s.t, map[command.State]int{}, map[string]string{}
	for id := range commands {
		if _, answered := s.given[id]; !answered {
			t.Errorf("command %s is in the topic, and nobody was answered: %+v", id, commands[id])
		}
	}
	for id, given := range s.given {
		c, there := commands[id]
		e, kept, err := s.box.Get(t.Context(), id)
		if err != nil || !there || !kept {
			t.Errorf("command %s was answered; it is in the topic: %v, in the outbox: %v, %v", id, there, kept, err)
			continue
		}
		became[e.State]++
		of := transitions[given.Command]
		from := orders[c.Order][e.Expected]
		taken := slices.ContainsFunc(from, func(x said) bool { return slices.Contains(of.from, x.status) })
		if !taken || c.Status != of.to || c.At <= e.Expected || c.At != given.Version {
			t.Errorf("%s of %s leads from %+v at %d to %s at %d", given.Command, c.Order, from, e.Expected, c.Status, c.At)
		}
		place := fmt.Sprint(c.Order, " ", e.Expected)
		if other, taken := places[place]; taken {
			t.Errorf("commands %s and %s were accepted upon %s", other, id, place)
		}
		places[place] = id
		newer := slices.Max(slices.Collect(maps.Keys(orders[c.Order]))) > c.At || len(orders[c.Order][c.At]) > 1
		if e.State != command.Applied && (e.State != command.Overtaken || !newer) {
			t.Errorf("%s of %s is %s (%s); there is a newer change: %v", given.Command, c.Order, e.State, e.Detail, newer)
		}
	}
	if len(s.given) < len(s.rows)/2 {
		t.Errorf("only %d commands were accepted", len(s.given))
	}
	t.Logf("%d commands: %v", len(s.given), became)
}

// judgeAudit checks that the audit has each accepted command, as often as it was sent, with its account, and no other.
func (s *centre) judgeAudit() {
	found, before := map[string]int{}, int64(0)
	for {
		page, err := s.accounts.Entries(s.t.Context(), before, "", 1000)
		if err != nil {
			s.t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		before = page[len(page)-1].ID
		for _, e := range page {
			if e.Action == "command" && e.Role == account.Customer {
				found[e.Account+" "+e.Object]++
			}
		}
	}
	all := 0
	for of, n := range s.asked {
		if found[of] < n.answered || found[of] > n.all {
			s.t.Errorf("%s: %d times in the audit, given %d times and answered %d times", of, found[of], n.all, n.answered)
		}
		all += found[of]
		delete(found, of)
	}
	for of := range found {
		s.t.Errorf("the audit has what nobody asked: %s", of)
	}
	s.t.Logf("%d commands are in the audit, those that were refused among them", all)
}
