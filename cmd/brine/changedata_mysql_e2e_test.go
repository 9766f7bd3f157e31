package main

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"

	"brine/event"
	"brine/internal/testenv"
)

// shopMySQL is a MySQL or a MariaDB, which logs the whole rows of all changes.
type shopMySQL struct{ *testenv.MySQL }

func (m shopMySQL) connector(files string) string {
	host, port, _ := net.SplitHostPort(m.Addr)
	adapter := ""
	if strings.Contains(m.SQL("select version()"), "MariaDB") {
		adapter = `connector.adapter=mariadb
database.protocol=jdbc:mariadb
database.jdbc.driver=org.mariadb.jdbc.Driver
`
	}
	return adapter + fmt.Sprintf(`connector.class=io.debezium.connector.mysql.MySqlConnector
database.ssl.mode=disabled
database.hostname=%s
database.port=%s
database.user=debezium
database.password=none
database.server.id=18
database.include.list=shop
schema.history.internal=io.debezium.storage.file.history.FileSchemaHistory
schema.history.internal.file.filename=%s.schemas
`, host, port, files)
}

func (m shopMySQL) place() string { return `"file"` }

func (m shopMySQL) dialect() dialect {
	return dialect{
		tables: "create user debezium identified by 'none'; grant all on *.* to debezium;\n" + `create database shop;
create table shop.orders (id bigint primary key, user varchar(20) not null, created timestamp(6) not null, items text, status varchar(20) not null, price decimal(10,2) not null);
create table shop.customers (id bigint primary key, name varchar(20), bio longtext not null, balance decimal(20,3) not null, seen datetime(6) not null, born date not null);
create table shop.fences (n int primary key);
create table shop.signals (id varchar(64) primary key, type varchar(32) not null, data varchar(2048) not null);
` + strings.Repeat("insert into shop.fences values (-1); delete from shop.fences; flush binary logs;\n", 4),
		insert: "insert ignore into shop.orders (id, \"user\", created, items, status, price) values (%d, '%s', timestamp '2013-01-02 02:04:05.678901' + interval %d minute, " +
			"'red hat', 'new', %d.%02d);\n",
		rekey: "update ignore shop.orders set id = %d where id = %d;\n",
		older: "update shop.customers set name = 'Ann %d', balance = balance + 0.125, seen = seen + interval 1000001 microsecond " +
			"where id = %d;\n",
		customer: "delete from shop.customers where id = %d;\n" +
			"insert into shop.customers values (%[1]d, 'Bob', repeat('b', %d), 1.5, '2013-02-03 04:05:06.000007', '1969-12-31');\n",
		inMS:    `concat(left(date_format(%s, '%%Y-%%m-%%dT%%H:%%i:%%s.%%f'), 23), 'Z')`,
		balance: "balance",
		exact:   "alter table shop.orders add cost decimal(30,3), add mark varbinary(20), add day date, add stamp datetime(6);\n",
		exactly: "update shop.orders set items = 'blue hat', cost = %s, mark = x'%x', day = date '1969-12-20' + interval %d day, " +
			"stamp = timestamp '1969-12-31 23:59:59' + interval %d microsecond where id = %d;\n",
		exactText: `coalesce(cost, '<nil>'), coalesce(to_base64(mark), 'bm9uZQ=='), coalesce(day, '<nil>'), ` +
			`coalesce(date_format(stamp, '%Y-%m-%dT%H:%i:%s.%fZ'), '1900-01-01T00:00:00.000001Z')`,
	}
}

// SQL runs statements with times in UTC and the quotes of Postgres.
func (m shopMySQL) SQL(statements string) string {
	return m.MySQL.SQL("set time_zone = '+00:00', sql_mode = 'ANSI_QUOTES';\n" + statements)
}

func (m shopMySQL) selected(query string) map[string]string {
	rows := map[string]string{}
	for line := range strings.Lines(m.SQL(query)) {
		id, row, _ := strings.Cut(strings.TrimSpace(line), "\t")
		rows[id] = row
	}
	return rows
}

// logged returns the end of its log.
func (m shopMySQL) logged() (file, pos int) {
	f := strings.Fields(m.SQL("show master status"))
	file, _ = strconv.Atoi(strings.TrimPrefix(f[0], "binlog."))
	pos, _ = strconv.Atoi(f[1])
	return file, pos
}

// TestChangeDataOfMySQL checks that the log of a real MySQL or MariaDB, read by Debezium's engine, ends in the rows that SELECT shows: over
// snapshots, changes of every kind, kills of the engine and of brine, and a failover to a server whose log starts over. They come in JSON
// without schemas and with them, each among the engine's heartbeats, transactions and changes of schemas.
func TestChangeDataOfMySQL(t *testing.T) {
	notShort(t)
	t.Parallel()
	for name, start := range map[string]func(testing.TB) *testenv.MySQL{
		"MariaDB": testenv.StartMariaDBWithLog, "MySQL": testenv.StartMySQLWithLog,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testChangeDataOfMySQL(t, shopMySQL{start(t)})
		})
	}
}

func testChangeDataOfMySQL(t *testing.T, first shopMySQL) {
	java := testenv.DebeziumMySQL(t)
	s := embeddedStack(t)
	orders := newJobOf(t, s, example{"../cmd/brine/testdata/changedata/orders.yaml", "orders", "shop.orders_cdc", "shop:orders_cdc", "orders_cdc", "id"})
	customers := newJobOf(t, s, example{"../cmd/brine/testdata/changedata/customers.yaml", "customers", "shop.customers_cdc", "shop:customers_cdc", "customers_cdc", "id"})
	withSchemas := newJobOf(t, s, orders.example)
	for _, j := range []*job{orders, customers, withSchemas} {
		j.replace("      lsn: { type: int, path: $source.lsn }\n", "      file: { type: text, path: $source.file }\n      pos: { type: int, path: $source.pos }\n")
		j.replace("version: lsn(lsn)", "version: binlog(file, pos)")
	}
	customers.replace("envelope: { form: debezium, before: key, key: [id] }", "envelope: debezium")
	customers.replace("    changes: partial\n", "")
	customers.replace("balance: { type: text, from: number }", "balance: { type: text, from: decimal, scale: 3 }")
	c := &changeData{t: t, shopDatabase: first, java: java, dir: t.TempDir(), orders: orders, also: []*job{withSchemas},
		own: []event.LeftOut{event.Heartbeat, event.Transaction, event.SchemaChange},
		topics: map[string][]string{
			"orders":    {"json:" + orders.topic, "schema:" + withSchemas.topic},
			"customers": {"json:" + customers.topic},
		}}
	c.lives(func() shopDatabase {
		file, pos := first.logged()
		second := shopMySQL{first.Successor()}
		if f, p := second.logged(); f > file || f == file && p >= pos {
			t.Fatalf("the second server's log is at %d:%d, the first one's at %d:%d: the epochs are not needed", f, p, file, pos)
		}
		return second
	})
	c.compare(customers)
}
