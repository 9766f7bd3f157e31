package main

import (
	"fmt"
	"strings"
	"testing"

	"brine/event"
	"brine/internal/testenv"
)

// shopPostgres logs whole rows of orders, and only the old key of customers.
type shopPostgres struct{ *testenv.Postgres }

func (p shopPostgres) connector(string) string {
	return fmt.Sprintf(`connector.class=io.debezium.connector.postgresql.PostgresConnector
database.hostname=%s
database.port=%s
database.user=brine
database.password=none
database.dbname=postgres
schema.include.list=shop
plugin.name=pgoutput
publication.autocreate.mode=filtered
`, p.Host, p.Port)
}

func (p shopPostgres) place() string { return `"lsn"` }

func (p shopPostgres) dialect() dialect {
	return dialect{
		tables: `create schema shop;
create table shop.orders (id bigint primary key, "user" text not null, created timestamptz not null, items text, status text not null, price numeric(10,2) not null);
alter table shop.orders replica identity full;
create table shop.customers (id bigint primary key, name text, bio text not null, balance numeric not null, seen timestamp(6) not null, born date not null);
alter table shop.customers alter column bio set storage external;
create table shop.fences (n int primary key);
create table shop.signals (id varchar(64) primary key, type varchar(32) not null, data varchar(2048) not null);
` + strings.Repeat("select pg_switch_wal(); insert into shop.fences values (-1); delete from shop.fences;\n", 4),
		insert: "insert into shop.orders (id, \"user\", created, items, status, price) values (%d, '%s', timestamptz '2013-01-02 03:04:05.678901+01' + interval '%d minutes', " +
			"'red hat', 'new', %d.%02d) on conflict do nothing;\n",
		rekey: "update shop.orders set id = %d where id = %d and not exists (select from shop.orders where id = %[1]d);\n",
		older: "update shop.customers set name = 'Ann %d', balance = balance + 0.125, seen = seen + interval '1.000001 seconds' where id = %d;\n",
		customer: "delete from shop.customers where id = %d;\n" +
			"insert into shop.customers values (%[1]d, 'Bob', repeat('b', %d), 1.5, '2013-02-03 04:05:06.000007', '1969-12-31');\n",
		inMS:    `to_char(date_trunc('milliseconds', %s::timestamp), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
		balance: "trim_scale(balance)", // of a numeric without a scale, Debezium leaves out zeros at the end
		exact:   "alter table shop.orders add cost numeric(30,3), add mark bytea, add day date, add stamp timestamp(6);\n",
		exactly: "update shop.orders set items = 'blue hat', cost = %s, mark = '\\x%x', day = date '1969-12-20' + %d, " +
			"stamp = timestamp '1969-12-31 23:59:59' + interval '%d microseconds' where id = %d;\n",
		exactText: `coalesce(cost::text, '<nil>'), coalesce(encode(mark, 'base64'), 'bm9uZQ=='), coalesce(to_char(day, 'YYYY-MM-DD'), '<nil>'), ` +
			`coalesce(to_char(stamp, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '1900-01-01T00:00:00.000001Z')`,
	}
}

func (p shopPostgres) selected(query string) map[string]string {
	rows := map[string]string{}
	for line := range strings.Lines(p.SQL("set timezone = 'UTC'; " + query)) {
		id, row, _ := strings.Cut(strings.TrimSpace(line), "|")
		rows[id] = row
	}
	return rows
}

// TestChangeDataOfPostgres checks that the log of a real PostgreSQL, read by Debezium's engine, ends in the rows that SELECT shows: over
// snapshots, changes of every kind, kills of the engine and of brine, and a failover to a server whose log starts over. They come in JSON
// without schemas and with them, unwrapped, and in Avro by a registry, each among the engine's heartbeats and transactions.
func TestChangeDataOfPostgres(t *testing.T) {
	notShort(t)
	t.Parallel()
	java, first := testenv.Debezium(t), testenv.StartPostgres(t)
	s := embeddedStack(t)
	orders := newJobOf(t, s, example{"../cmd/brine/testdata/changedata/orders.yaml", "orders", "shop.orders_cdc", "shop:orders_cdc", "orders_cdc", "id"})
	customers := newJobOf(t, s, example{"../cmd/brine/testdata/changedata/customers.yaml", "customers", "shop.customers_cdc", "shop:customers_cdc", "customers_cdc", "id"})
	withSchemas, unwrapped := newJobOf(t, s, orders.example), newJobOf(t, s, customers.example)
	for old, new := range map[string]string{
		"envelope: { form: debezium, before: key, key: [id] }": "envelope: { form: debezium, unwrapped: true, key: [id] }\n    deletes: tombstone\n    key_format: json",
		"id: int\n":     "id: { type: int, path: $key.id }\n",
		"$source.lsn ":  "$header.__source_lsn ",
		"$source.name ": "$header.__source_name ",
	} {
		unwrapped.replace(old, new)
	}
	registry := newApicurioRegistry(t)
	ordersInAvro, customersInAvro := newJobOf(t, s, orders.example), newJobOf(t, s, customers.example)
	ordersInAvro.inAvro(registry.URL()+ccompatAPI, "apicurio8_global")
	customersInAvro.inAvro(registry.URL(), "confluent")
	ordersInAvro.replace("price: { type: text, from: decimal, scale: 2 }", "price: { type: text, from: number }")
	ordersInAvro.replace("cost: { type: decimal, from: decimal, scale: 3 }", "cost: decimal")
	c := &changeData{t: t, shopDatabase: shopPostgres{first}, java: java, dir: t.TempDir(), orders: orders, registry: registry,
		also: []*job{withSchemas, unwrapped, ordersInAvro, customersInAvro},
		own:  []event.LeftOut{event.Heartbeat, event.Transaction},
		topics: map[string][]string{
			"orders":    {"json:" + orders.topic, "schema:" + withSchemas.topic, "avro:" + ordersInAvro.topic},
			"customers": {"json:" + customers.topic, "unwrapped:" + unwrapped.topic, "confluent:" + customersInAvro.topic},
		}}
	c.lives(func() shopDatabase {
		second := testenv.StartPostgres(t)
		second.Copy(first)
		if behind := second.SQL("select pg_current_wal_lsn() < '" + strings.TrimSpace(first.SQL("select pg_current_wal_lsn()")) + "'"); behind != "t\n" {
			t.Fatal("the second server's log is not behind the first one's: the epochs are not needed")
		}
		first.Stop()
		return shopPostgres{second}
	})
	c.compare(customers)
}
