package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/internal/testenv"
)

// changeData is a shop's PostgreSQL, and Debezium's engine, which publishes its log to the topics of jobs.
type changeData struct {
	t      *testing.T
	pg     *testenv.Postgres
	java   testenv.Classpath
	server string // the prefix of Debezium's topics, which is how records name their source
	dir    string // of the engine's offsets
	topics map[string]string
	orders *job

	engine  *exec.Cmd
	printed testenv.Text
	fences  int
}

const shopTables = `create schema shop;
create table shop.orders (id bigint primary key, "user" text not null, created timestamptz not null, items text, status text not null, price numeric(10,2) not null);
alter table shop.orders replica identity full;
create table shop.customers (id bigint primary key, name text not null, bio text not null, balance numeric not null, seen timestamp(6) not null, born date not null);
alter table shop.customers alter column bio set storage external;
create table shop.fences (n int primary key);
`

// begin starts the engine: it goes on where it was, or takes a snapshot first.
func (c *changeData) begin() {
	c.t.Helper()
	file := filepath.Join(c.t.TempDir(), "engine.properties")
	settings := fmt.Sprintf(`name=%[1]s
topic.prefix=%[1]s
connector.class=io.debezium.connector.postgresql.PostgresConnector
database.hostname=%[2]s
database.port=%[3]s
database.user=brine
database.password=none
database.dbname=postgres
schema.include.list=shop
plugin.name=pgoutput
publication.autocreate.mode=filtered
offset.storage=org.apache.kafka.connect.storage.FileOffsetBackingStore
offset.storage.file.filename=%[4]s
offset.flush.interval.ms=100
poll.interval.ms=20
`, c.server, c.pg.Host, c.pg.Port, filepath.Join(c.dir, c.server))
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		c.t.Fatal(err)
	}
	args := []string{file, strings.Join(c.orders.brokers, ",")}
	for table, topic := range c.topics {
		args = append(args, c.server+".shop."+table+"="+topic)
	}
	c.engine = c.java.Command(c.t, "brine.devcluster.ChangeData", args...)
	c.engine.Env = append(os.Environ(), "JDK_JAVA_OPTIONS=-Dorg.slf4j.simpleLogger.defaultLogLevel=error")
	c.engine.Stdout, c.engine.Stderr = &c.printed, &c.printed
	if err := c.engine.Start(); err != nil {
		c.t.Fatal(err)
	}
}

// kill ends the engine with whatever it has read and not noted.
func (c *changeData) kill() {
	c.t.Helper()
	if err := c.engine.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	_ = c.engine.Wait() // it was killed
}

// fence waits until all that was changed before is in Kafka.
func (c *changeData) fence() {
	c.t.Helper()
	c.fences++
	c.pg.SQL(fmt.Sprintf("insert into shop.fences values (%d);", c.fences))
	for start := time.Now(); !strings.Contains(c.printed.String(), fmt.Sprintf(`"after":{"n":%d}`, c.fences)); wait(c.t, 20*time.Millisecond) {
		if text := c.printed.String(); time.Since(start) > standstill || strings.Contains(text, "the engine has ended") {
			c.t.Fatalf("Debezium has not come to fence %d: %.3000s", c.fences, text)
		}
	}
}

// noted waits until the engine has noted that its snapshot is over: killed before, it would take another, which does not show what was deleted
// meanwhile.
func (c *changeData) noted() {
	c.t.Helper()
	for {
		c.fence()
		if offsets, err := os.ReadFile(filepath.Join(c.dir, c.server)); err == nil && strings.Contains(string(offsets), `"lsn"`) &&
			!strings.Contains(string(offsets), "snapshot") {
			return
		}
		wait(c.t, 20*time.Millisecond)
	}
}

// change makes n changes of every kind, some of them together and some in vain.
func (c *changeData) change(r *rand.Rand, n int) {
	c.t.Helper()
	users, statuses := []string{"ann", "bob", "cat"}, []string{"new", "paid", "sent"}
	var b strings.Builder
	for range n {
		id, together := r.IntN(60), r.IntN(4) == 0
		if together {
			b.WriteString("begin;\n")
		}
		for range 1 + r.IntN(3) {
			switch r.IntN(9) {
			case 0, 1:
				fmt.Fprintf(&b, "insert into shop.orders values (%d, '%s', timestamptz '2013-01-02 03:04:05.678901+01' + interval '%d minutes', 'red hat', 'new', %d.%02d) on conflict do nothing;\n",
					id, users[r.IntN(3)], r.IntN(1000), r.IntN(1e6), r.IntN(100))
			case 2:
				fmt.Fprintf(&b, "delete from shop.orders where id = %d;\n", id)
			case 3: // of a column that brine's key has, and not the primary one
				fmt.Fprintf(&b, "update shop.orders set \"user\" = '%s' where id = %d;\n", users[r.IntN(3)], id)
			case 4:
				fmt.Fprintf(&b, "update shop.orders set id = %d where id = %d and not exists (select from shop.orders where id = %[1]d);\n", r.IntN(60), id)
			case 5:
				fmt.Fprintf(&b, "update shop.orders set items = null, price = -price where id = %d;\n", id)
			case 6:
				fmt.Fprintf(&b, "update shop.customers set name = 'Ann %d', balance = balance + 0.125, seen = seen + interval '1.000001 seconds' where id = %d;\n",
					r.IntN(100), id%5)
			case 7:
				fmt.Fprintf(&b, "delete from shop.customers where id = %d;\ninsert into shop.customers values (%[1]d, 'Bob', repeat('b', %d), 1.5, '2013-02-03 04:05:06.000007', '1969-12-31');\n",
					id%5, 3000+r.IntN(100))
			default:
				fmt.Fprintf(&b, "update shop.orders set status = '%s' where id = %d;\n", statuses[r.IntN(3)], id)
			}
		}
		if together {
			b.WriteString([]string{"commit;\n", "commit;\n", "rollback;\n"}[r.IntN(3)])
		}
	}
	c.pg.SQL(b.String())
}

// selected is what the database says, as lines of JSON.
func (c *changeData) selected(query string) map[string]string {
	c.t.Helper()
	rows := map[string]string{}
	for line := range strings.Lines(c.pg.SQL("set timezone = 'UTC'; " + query)) {
		id, row, _ := strings.Cut(strings.TrimSpace(line), "|")
		rows[id] = row
	}
	return rows
}

// TestChangeDataOfPostgres: what a real PostgreSQL's log says, read by Debezium's engine, ends in the rows that SELECT shows: over a snapshot,
// changes of every kind, deaths of the engine and of brine, and a fail-over to a server whose log begins again.
func TestChangeDataOfPostgres(t *testing.T) {
	notShort(t)
	t.Parallel()
	java, first := testenv.Debezium(t), testenv.StartPostgres(t)
	s := embeddedStack(t)
	orders := newJobOf(t, s, example{"../cmd/brine/testdata/changedata/orders.yaml", "orders", "shop.orders_cdc", "shop:orders_cdc", "orders_cdc", "id"})
	customers := newJobOf(t, s, example{"../cmd/brine/testdata/changedata/customers.yaml", "customers", "shop.customers_cdc", "shop:customers_cdc", "", "id"})
	c := &changeData{t: t, pg: first, java: java, server: "shop1", dir: t.TempDir(), orders: orders,
		topics: map[string]string{"orders": orders.topic, "customers": customers.topic}}
	r := rand.New(rand.NewPCG(18, 1))

	first.SQL(shopTables + strings.Repeat("select pg_switch_wal(); insert into shop.fences values (-1); delete from shop.fences;\n", 4))
	c.change(r, 60)
	c.begin()
	c.fence() // the snapshot is behind it
	c.change(r, 100)
	p := orders.begin()
	c.noted()
	p.until("orders.rows", 50)
	c.kill() // what it has not noted comes again
	c.change(r, 100)
	c.begin()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait() // it was killed
	c.change(r, 100)
	c.fence()
	c.kill()

	second := testenv.StartPostgres(t)
	second.Copy(first)
	if behind := second.SQL("select pg_current_wal_lsn() < '" + strings.TrimSpace(first.SQL("select pg_current_wal_lsn()")) + "'"); behind != "t\n" {
		t.Fatal("the second server's log is not behind the first one's: the epochs are not needed")
	}
	first.Stop()
	c.pg, c.server = second, "shop2"
	c.begin()
	c.fence() // what would be deleted before its snapshot, no record would say
	c.change(r, 100)
	c.fence()
	c.kill()

	c.compareOrders()
	c.compareCustomers(customers)
	for _, j := range []*job{orders, customers} {
		if report, listed := j.verified(exitOK); len(listed) > 0 {
			t.Errorf("verify: %+v, %v", report, listed)
		}
	}
}

// compareOrders has brine read what is left of the log, and holds its rows against the database.
func (c *changeData) compareOrders() {
	c.t.Helper()
	j := c.orders
	if s, out := j.ran(exitOK); s.Dead > 0 {
		c.t.Errorf("%d dead letters\n%s", s.Dead, out)
	}
	want := c.selected(`select id, concat_ws(' ', "user", ` + inMS("created") + `, coalesce(items, 'none'), status, price) from shop.orders`)
	got := map[string]string{}
	for _, user := range []string{"ann", "bob", "cat"} {
		for _, row := range j.rowsOf("user=" + user) {
			f := row["fields"].(map[string]any)
			id := f["order"].(string)
			if got[id] != "" {
				c.t.Errorf("order %s is shown twice: %s, and %s", id, got[id], user)
			}
			got[id] = textOf(f, "user", "created", "items", "status", "price")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		c.t.Errorf("orders (-SELECT +brine):\n%s", diff)
	}
	c.t.Logf("%d orders", len(got))
}

// compareCustomers does so with the customers.
func (c *changeData) compareCustomers(j *job) {
	c.t.Helper()
	if s, out := j.ran(exitOK); s.Dead > 0 {
		c.t.Errorf("%d dead letters\n%s", s.Dead, out)
	}
	want := c.selected(`select id, concat_ws(' ', name, bio, balance, ` + inMS("seen") + `, ` + inMS("born::timestamp") + `) from shop.customers`)
	got := map[string]string{}
	for id := range 5 {
		for _, row := range j.rowsOf(fmt.Sprintf("id=%d", id)) {
			got[fmt.Sprint(id)] = textOf(row["fields"].(map[string]any), "name", "bio", "balance", "seen", "born")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		c.t.Errorf("customers (-SELECT +brine):\n%s", diff)
	}
	c.t.Logf("%d customers", len(got))
}

// inMS is the SQL of a time as brine shows it.
func inMS(column string) string {
	return `to_char(date_trunc('milliseconds', ` + column + `), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

// textOf is fields of a row, one after another.
func textOf(fields map[string]any, names ...string) string {
	var texts []string
	for _, name := range names {
		texts = append(texts, fmt.Sprint(fields[name]))
	}
	return strings.Join(texts, " ")
}
