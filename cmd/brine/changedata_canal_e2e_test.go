package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"brine/internal/testenv"
)

// canal is a changeData whose engine is Canal, which publishes a database's log in flat JSON and in Protobuf.
type canal struct {
	*changeData
	settings string
}

// canalNumber is the SQL for a decimal as Canal writes it: one zero stands for a fraction of zeros.
const canalNumber = "if(%[1]s = truncate(%[1]s, 0), cast(truncate(%[1]s, 1) as char), cast(%[1]s as char))"

// read makes Canal read the log of the server at addr from one of its files on. tables says, by form, which tables go to which topics; all
// others go to others.
func (c *canal) read(addr string, file int, others string, tables map[string]string) {
	c.t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		c.t.Fatal(err)
	}
	c.settings = fmt.Sprintf(`host=%s
port=%s
user=debezium
password=none
log=binlog.%06d
directory=%s
tables=shop\\..*
topic=%s
kafka.bootstrap.servers=%s
`, host, port, file, c.t.TempDir(), others, strings.Join(c.orders.brokers, ","))
	for form, topics := range tables {
		c.settings += form + "=" + topics + "\n"
	}
}

// checkpoint waits until the database's checkpoint is in its log's last file. Until then Canal takes that file for an earlier one, and
// could not continue in it after a kill.
func (c *canal) checkpoint(m shopMySQL) {
	c.t.Helper()
	file, _ := m.logged()
	name := fmt.Sprintf("binlog.%06d", file)
	line := regexp.MustCompile(`(?m)\tBinlog_checkpoint\t.*\t` + regexp.QuoteMeta(name) + `$`)
	for start := time.Now(); !line.MatchString(m.SQL("show binlog events in '" + name + "'")); wait(c.t, 20*time.Millisecond) {
		if time.Since(start) > dawdling {
			c.t.Fatalf("the checkpoint has not come to %s: %.3000s", name, m.SQL("show binlog events in '"+name+"'"))
		}
	}
}

// begin starts Canal. It continues where it was, or begins with the log's first file.
func (c *canal) begin() {
	c.t.Helper()
	file := filepath.Join(c.t.TempDir(), "canal.properties")
	if err := os.WriteFile(file, []byte(c.settings), 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.engine = c.java.Command(c.t, "brine.devcluster.ChangeData", file)
	c.engine.Env = append(os.Environ(), "TZ=Asia/Shanghai") // Canal writes timestamps as texts in its own zone
	c.engine.Stdout, c.engine.Stderr = &c.printed, &c.printed
	if err := c.engine.Start(); err != nil {
		c.t.Fatal(err)
	}
}

// fence waits until all earlier changes are in Kafka, in both forms.
func (c *canal) fence() {
	c.t.Helper()
	c.fences++
	c.SQL(fmt.Sprintf("insert into shop.fences values (%d);", c.fences))
	for _, form := range []string{"flat", "protobuf"} {
		line := regexp.MustCompile(fmt.Sprintf("(?m)^%s %d$", form, c.fences))
		for start := time.Now(); !line.MatchString(c.printed.String()); wait(c.t, 20*time.Millisecond) {
			if time.Since(start) > dawdling {
				c.t.Fatalf("Canal has not come to fence %d in %s: %.3000s", c.fences, form, c.printed.String())
			}
		}
	}
}

// TestChangeDataOfCanal checks that the log of a real database, read by Canal's server and published by its own publisher in flat JSON and
// in Protobuf, ends in the rows that SELECT shows: over changes of every kind, and kills of Canal and of brine.
func TestChangeDataOfCanal(t *testing.T) { onCanalDatabases(t, testChangeDataOfCanal) }

func testChangeDataOfCanal(t *testing.T, d canalDatabase) {
	java, db := testenv.Canal(t), shopMySQL{d.start(t)}
	s := embeddedStack(t)
	ordersOf, customersOf := map[string]*job{}, map[string]*job{}
	for _, form := range []string{"flat", "protobuf"} {
		orders := newJobOf(t, s, example{"../cmd/brine/testdata/changedata/canal-orders.yaml", "orders",
			"shop.orders_canal", "shop:orders_canal", "orders_canal", "id"})
		customers := newJobOf(t, s, example{"../cmd/brine/testdata/changedata/canal-customers.yaml", "customers",
			"shop.customers_canal", "shop:customers_canal", "", "id"})
		for _, j := range []*job{orders, customers} {
			switch {
			case form == "flat":
				j.replace("form: canal_protobuf", "form: canal")
			case d.placed:
				j.placed()
			}
		}
		ordersOf[form], customersOf[form] = orders, customers
	}
	first := ordersOf["flat"]
	others := testenv.Name(t)
	if err := createTopicBy(t.Context(), first.client(), others, 1); err != nil {
		t.Fatal(err)
	}
	c := &canal{changeData: &changeData{t: t, shopDatabase: db, java: java, orders: first}}
	first.shortSessions()
	tables := map[string]string{}
	for form := range ordersOf {
		tables[form] = fmt.Sprintf(`%s:shop\\.orders;%s:shop\\.customers`, ordersOf[form].topic, customersOf[form].topic)
	}
	c.read(db.Addr, 1, others, tables)

	r := rand.New(rand.NewPCG(18, 2))
	c.SQL(c.dialect().tables)
	if !d.placed {
		c.checkpoint(db)
	}
	c.change(r, 60)
	c.begin()
	c.fence()
	p := first.begin() // in Protobuf, one record holds many changes
	c.change(r, 100)
	p.until("orders.rows", 50)
	c.kill() // what it has not noted comes again
	c.change(r, 100)
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait() // it was killed
	c.begin()
	c.change(r, 50)
	c.SQL("flush binary logs;")
	c.change(r, 50)
	if d.placed { // of another file, Canal's place in MariaDB's log would be wrong
		c.fence()
		c.kill()
		c.change(r, 50)
		db.Kill()
		db.Again() // with another file
		c.change(r, 50)
		c.begin()
	}
	// In one entry of the log, customers take the place of others; with long biographies each would have an entry of its own.
	c.SQL("update shop.customers set bio = 'short'; update shop.customers set id = id + 1 order by id desc; " +
		"update shop.customers set id = id - 1 order by id;")
	c.fence()
	c.kill()
	for form := range ordersOf {
		t.Run(form, func(t *testing.T) {
			(&changeData{t: t, shopDatabase: db, orders: ordersOf[form], number: canalNumber}).compare(customersOf[form])
			for _, j := range []*job{ordersOf[form], customersOf[form]} {
				if report, _ := j.verified(exitOK); d.placed && form == "protobuf" && report.Ties > 0 {
					t.Errorf("%d rows or documents of %s have changes that tie", report.Ties, j.table)
				}
			}
		})
	}
}
