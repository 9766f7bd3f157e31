package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/event"
	"brine/internal/testenv"
)

// dawdling is the limit for operations of the engine that take it seconds.
const dawdling = 5 * time.Minute

// shopDatabase is a shop's database, with the parts that differ between databases.
type shopDatabase interface {
	SQL(statements string) string
	// connector returns the engine's settings for it, with files whose names begin with files.
	connector(files string) string
	// place returns the name under which the engine notes how far it has read.
	place() string
	dialect() dialect
	// selected returns the query's result: by id, the rest of the row as one text.
	selected(query string) map[string]string
}

// dialect holds statements with fmt verbs. insert (order, user, minutes, whole and fractional part of the price) and rekey (the new order,
// the old one) do nothing if the order exists. older is for a customer (name, id), customer for another one (id, letters of the biography).
// inMS is the expression for a time as brine shows it, balance that for a customer's balance as it is published. exact adds columns to
// orders whose values are null at times and otherwise kept exactly; exactly (cost, hexadecimal mark, days, microseconds, order) sets them,
// and exactText is the expression for them as brine shows them.
type dialect struct{ tables, insert, rekey, older, customer, inMS, balance, exact, exactly, exactText string }

// changeData is a shop's database with Debezium's engine, which publishes its log to the topics of jobs.
type changeData struct {
	t *testing.T
	shopDatabase
	java   testenv.Classpath
	server string              // the prefix of Debezium's topics, by which records name their source
	dir    string              // for the engine's offsets
	topics map[string][]string // FORM:TOPIC, by table
	orders *job
	also   []*job // in other forms: of orders or, without documents, of customers
	number string // the SQL for a decimal as the engine writes it, with a verb for the column; empty: as the database does

	exact    bool              // orders have the columns that the dialect calls exact
	registry *apicurioRegistry // of topics in Avro
	own      []event.LeftOut   // why the records are left out that the engine publishes besides tables'

	engine  *exec.Cmd
	printed testenv.Text
	fences  int
	signals int
}

// begin starts the engine. It continues where it was, or takes a snapshot first.
func (c *changeData) begin() {
	c.t.Helper()
	file := filepath.Join(c.t.TempDir(), "engine.properties")
	settings := fmt.Sprintf(`name=%[1]s
topic.prefix=%[1]s
offset.storage=org.apache.kafka.connect.storage.FileOffsetBackingStore
offset.storage.file.filename=%[2]s
offset.flush.interval.ms=100
poll.interval.ms=20
signal.data.collection=shop.signals
incremental.snapshot.chunk.size=7
heartbeat.interval.ms=100
provide.transaction.metadata=true
`, c.server, c.offsets()) + c.connector(c.offsets())
	if c.registry != nil {
		settings += "registry.url=" + c.registry.URL() + apicurioAPI + "\n"
	}
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		c.t.Fatal(err)
	}
	args := []string{file, strings.Join(c.orders.brokers, ",")}
	for table, topics := range c.topics {
		for _, topic := range topics { // each has what Debezium publishes for itself, too
			args = append(args, c.server+".shop."+table+"="+topic, c.server+"="+topic, c.server+".transaction="+topic,
				"__debezium-heartbeat."+c.server+"="+topic)
		}
	}
	c.engine = c.java.Command(c.t, "brine.devcluster.ChangeData", args...)
	c.engine.Env = append(os.Environ(), "JDK_JAVA_OPTIONS=-Dorg.slf4j.simpleLogger.defaultLogLevel=error")
	c.engine.Stdout, c.engine.Stderr = &c.printed, &c.printed
	if err := c.engine.Start(); err != nil {
		c.t.Fatal(err)
	}
}

// offsets returns the file in which the engine notes how far it has read.
func (c *changeData) offsets() string { return filepath.Join(c.dir, c.server) }

// kill kills the engine, so that what it has read but not noted is lost.
func (c *changeData) kill() {
	c.t.Helper()
	if err := c.engine.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	_ = c.engine.Wait() // it was killed
}

// fence waits until all earlier changes are in Kafka.
func (c *changeData) fence() {
	c.t.Helper()
	c.fences++
	c.SQL(fmt.Sprintf("insert into shop.fences values (%d);", c.fences))
	for start := time.Now(); !strings.Contains(c.printed.String(), fmt.Sprintf(`"after":{"n":%d}`, c.fences)); wait(c.t, 20*time.Millisecond) {
		if text := c.printed.String(); time.Since(start) > dawdling || strings.Contains(text, "the engine has ended") ||
			strings.Contains(text, "Exception in thread") {
			c.t.Fatalf("Debezium has not come to fence %d: %.3000s", c.fences, text)
		}
	}
}

// incremental has the engine read all tables again, in chunks of a few rows while it reads the log, and n changes made meanwhile.
func (c *changeData) incremental(r *rand.Rand, n int) {
	c.t.Helper()
	c.signals++
	const row = `"snapshot":"incremental"` // of the fences, which are read last
	earlier := strings.Count(c.printed.String(), row)
	c.SQL(fmt.Sprintf(`insert into shop.signals values ('%d', 'execute-snapshot', '{"data-collections": ["shop.orders", "shop.customers", "shop.fences"]}');`,
		c.signals))
	for range n {
		c.change(r, 1)
	}
	for start := time.Now(); strings.Count(c.printed.String(), row) == earlier; wait(c.t, 20*time.Millisecond) {
		if time.Since(start) > dawdling {
			c.t.Fatalf("Debezium has not read the tables again: %.3000s", c.printed.String())
		}
	}
	c.fence()
}

// forgotten makes the engine forget how far it has read, so that it takes another snapshot under the same prefix. No record would report what
// is deleted before that.
func (c *changeData) forgotten() {
	c.t.Helper()
	c.fence()
	c.kill()
	for _, file := range []string{c.offsets(), c.offsets() + ".schemas"} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			c.t.Fatal(err)
		}
	}
	c.begin()
	c.fence()
}

// noted waits until the engine has noted that its snapshot is complete, and returns its offsets. If killed earlier, it would take another
// snapshot, which does not show rows deleted in the meantime.
func (c *changeData) noted() []byte {
	c.t.Helper()
	for {
		c.fence()
		if offsets, err := os.ReadFile(c.offsets()); err == nil && whole(offsets) && bytes.Contains(offsets, []byte(c.place())) &&
			!bytes.Contains(offsets, []byte("snapshot")) {
			return offsets
		}
		wait(c.t, 20*time.Millisecond)
	}
}

// whole reports whether the engine has written its offsets to the end: the JSON, and the mark that ends a Java object.
func whole(offsets []byte) bool { return bytes.HasSuffix(offsets, []byte("}x")) }

// killed kills the engine, which empties its file of offsets each time before it writes it. If killed then, it gets the earlier offsets, as
// from a store that is atomic.
func (c *changeData) killed(earlier []byte) {
	c.t.Helper()
	c.kill()
	offsets, err := os.ReadFile(c.offsets())
	if err == nil && !whole(offsets) {
		err = os.WriteFile(c.offsets(), earlier, 0o600)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// change makes n changes of every kind, some of them together and some without effect.
func (c *changeData) change(r *rand.Rand, n int) {
	c.t.Helper()
	d := c.dialect()
	users, statuses := []string{"ann", "bob", "cat"}, []string{"new", "paid", "sent"}
	var b strings.Builder
	for range n {
		id, together := r.IntN(60), r.IntN(4) == 0
		if together {
			b.WriteString("begin;\n")
		}
		for range 1 + r.IntN(3) {
			switch r.IntN(10) {
			case 0, 1:
				fmt.Fprintf(&b, d.insert, id, users[r.IntN(3)], r.IntN(1000), r.IntN(1e6), r.IntN(100))
			case 2:
				fmt.Fprintf(&b, "delete from shop.orders where id = %d;\n", id)
			case 3: // of a column that is in brine's key but not in the primary key
				fmt.Fprintf(&b, "update shop.orders set \"user\" = '%s' where id = %d;\n", users[r.IntN(3)], id)
			case 4:
				fmt.Fprintf(&b, d.rekey, r.IntN(60), id)
			case 5:
				fmt.Fprintf(&b, "update shop.orders set items = null, price = -price where id = %d;\n", id)
			case 6:
				fmt.Fprintf(&b, d.older, r.IntN(100), id%5)
			case 7:
				fmt.Fprintf(&b, d.customer, id%5, 3000+r.IntN(100))
			case 8: // beside a long bio, which Postgres does not send
				fmt.Fprintf(&b, "update shop.customers set name = case when name is null then '' end where id = %d;\n", id%5)
			default:
				fmt.Fprintf(&b, "update shop.orders set status = '%s' where id = %d;\n", statuses[r.IntN(3)], id)
			}
		}
		if c.exact {
			c.exactly(r, &b)
		}
		if together {
			b.WriteString([]string{"commit;\n", "commit;\n", "rollback;\n"}[r.IntN(3)])
		}
	}
	c.SQL(b.String())
}

// exactly sets the exact columns of an order, or makes them null, and the items with them.
func (c *changeData) exactly(r *rand.Rand, b *strings.Builder) {
	id := r.IntN(60)
	if r.IntN(3) == 0 {
		fmt.Fprintf(b, "update shop.orders set items = null, cost = null, mark = null, day = null, stamp = null where id = %d;\n", id)
		return
	}
	mark := make([]byte, r.IntN(5))
	for i := range mark {
		mark[i] = byte(r.IntN(256))
	}
	cost := fmt.Sprintf("%d.%03d", r.Int64()>>r.IntN(64), r.IntN(1000))
	if r.IntN(2) == 0 {
		cost = "-" + cost
	}
	fmt.Fprintf(b, c.dialect().exactly, cost, mark, r.IntN(20), r.IntN(2_000_000), id)
}

// lives runs the first of two servers and its successor through snapshots, of which some come again or are incremental, changes of every
// kind, kills of the engine and of brine, and a failover, by succeed, to a server whose log starts over.
func (c *changeData) lives(succeed func() shopDatabase) {
	c.t.Helper()
	c.server = "shop1"
	c.orders.shortSessions()
	r := rand.New(rand.NewPCG(18, 1))
	c.SQL(c.dialect().tables + c.dialect().exact)
	c.exact = true
	c.change(r, 60)
	c.begin()
	c.fence() // the snapshot is complete
	c.change(r, 100)
	p := c.orders.begin()
	noted := c.noted()
	p.until("orders.rows", 50)
	c.killed(noted) // what it has not noted comes again
	c.change(r, 100)
	c.begin()
	if err := p.cmd.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	_ = p.cmd.Wait() // it was killed
	c.incremental(r, 50)
	c.forgotten()
	c.incremental(r, 50)
	c.change(r, 100)
	c.fence()
	c.kill()

	c.shopDatabase, c.server = succeed(), "shop2"
	c.begin()
	c.fence() // no record would report what is deleted before the snapshot
	c.change(r, 100)
	c.fence()
	c.kill()
}

// compare lets brine read the rest of the log, and compares its rows with the database.
func (c *changeData) compare(customers *job) {
	c.t.Helper()
	c.compareOrders(c.orders)
	c.compareCustomers(customers)
	for _, j := range c.also {
		if j.pipeline == "orders" {
			c.compareOrders(j)
		} else {
			c.compareCustomers(j)
		}
	}
	for _, j := range append([]*job{c.orders, customers}, c.also...) {
		report, listed := j.verified(exitOK)
		if len(listed) > 0 {
			c.t.Errorf("verify: %+v, %v", report, listed)
		}
		for _, src := range report.Sources {
			c.compareLeftOut(j, "verify of "+src.Pipeline, src.LeftOut)
		}
	}
}

// compareLeftOut compares what brine left out of the whole topic with the engine's own records there.
func (c *changeData) compareLeftOut(j *job, who string, got map[event.LeftOut]int64) {
	c.t.Helper()
	if c.own == nil {
		return
	}
	want := map[event.LeftOut]int64{}
	for _, m := range j.messages(j.topic) {
		if why := c.ownOf(m.Value); why != "" {
			want[why]++
		}
	}
	if j.deletesByTombstone() {
		delete(want, event.Tombstone)
	} else if want[event.Tombstone] == 0 {
		c.t.Errorf("the topic of %s has no tombstones", j.name)
	}
	for _, why := range c.own {
		if want[why] == 0 {
			c.t.Errorf("the engine has published nothing to the topic of %s that is left out as %s", j.name, why)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		c.t.Errorf("left out according to %s (-in the topic +brine):\n%s", who, diff)
	}
	c.t.Logf("%s: left out %v", who, got)
}

// deletesByTombstone reports whether a record without a value deletes a row of the job.
func (j *job) deletesByTombstone() bool {
	j.t.Helper()
	source, err := os.ReadFile(j.file)
	if err != nil {
		j.t.Fatal(err)
	}
	return bytes.Contains(source, []byte("deletes: tombstone"))
}

// ownOf returns why a value is no row's, by its members or the name of its schema; empty: it is one's.
func (c *changeData) ownOf(value []byte) event.LeftOut {
	c.t.Helper()
	switch {
	case value == nil:
		return event.Tombstone
	case value[0] == 0:
		return map[string]event.LeftOut{"Heartbeat": event.Heartbeat, "TransactionMetadataValue": event.Transaction}[c.registry.nameOf(value)]
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(value, &members); err != nil {
		c.t.Fatalf("%s: %v", value, err)
	}
	if payload, ok := members["payload"]; ok {
		return c.ownOf(payload)
	}
	has := func(name string) bool { return members[name] != nil }
	switch {
	case has("ts_ms") && len(members) == 1:
		return event.Heartbeat
	case has("event_count"):
		return event.Transaction
	case has("ddl"):
		return event.SchemaChange
	}
	return ""
}

// runs lets brine read the rest of the log. Of what it reads it leaves out the engine's own records; of the first job another process has
// read a part.
func (c *changeData) runs(j *job) {
	c.t.Helper()
	s, out := j.ran(exitOK)
	if s.Dead > 0 {
		c.t.Errorf("%d dead letters\n%s", s.Dead, out)
	}
	if j == c.orders {
		return
	}
	leftOut := map[event.LeftOut]int64{}
	for why, n := range s.LeftOutBy {
		leftOut[event.LeftOut(why)] = n
	}
	c.compareLeftOut(j, "run of "+j.name, leftOut)
}

// compareOrders compares the orders.
func (c *changeData) compareOrders(j *job) {
	c.t.Helper()
	c.runs(j)
	columns, names := c.decimal("price"), []string{"user", "created", "items", "status", "price"}
	if c.exact {
		columns, names = columns+", "+c.dialect().exactText, append(names, "cost", "mark", "day", "stamp")
	}
	want := c.selected(`select id, concat_ws(' ', "user", ` + c.inMS("created") + `, coalesce(items, '<nil>'), status, ` +
		columns + `) from shop.orders`)
	got := map[string]string{}
	for _, user := range []string{"ann", "bob", "cat"} {
		for _, row := range j.rowsOf("user=" + user) {
			f := row["fields"].(map[string]any)
			id := f["order"].(string)
			if got[id] != "" {
				c.t.Errorf("order %s is shown twice: %s, and %s", id, got[id], user)
			}
			got[id] = textOf(f, names...)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		c.t.Errorf("orders (-SELECT +brine):\n%s", diff)
	}
	c.t.Logf("%d orders, %s", len(got), j.name)
}

// compareCustomers compares the customers.
func (c *changeData) compareCustomers(j *job) {
	c.t.Helper()
	c.runs(j)
	want := c.selected(`select id, concat_ws(' ', coalesce(name, '<nil>'), bio, ` + c.decimal(c.dialect().balance) + `, ` + c.inMS("seen") + `, ` + c.inMS("born") +
		`) from shop.customers`)
	got := map[string]string{}
	for id := range 5 {
		for _, row := range j.rowsOf(fmt.Sprintf("id=%d", id)) {
			got[fmt.Sprint(id)] = textOf(row["fields"].(map[string]any), "name", "bio", "balance", "seen", "born")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		c.t.Errorf("customers (-SELECT +brine):\n%s", diff)
	}
	c.t.Logf("%d customers, %s", len(got), j.name)
}

// inMS is the SQL for a time as brine shows it.
func (c *changeData) inMS(column string) string { return fmt.Sprintf(c.dialect().inMS, column) }

// decimal is the SQL for a decimal as brine shows it.
func (c *changeData) decimal(column string) string {
	if c.number == "" {
		return column
	}
	return fmt.Sprintf(c.number, column)
}

// textOf joins fields of a row.
func textOf(fields map[string]any, names ...string) string {
	var texts []string
	for _, name := range names {
		texts = append(texts, fmt.Sprint(fields[name]))
	}
	return strings.Join(texts, " ")
}
