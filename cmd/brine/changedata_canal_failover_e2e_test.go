package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"brine/internal/testenv"
)

// exported returns the shop's orders in a consistent snapshot, a line each, as the expression makes them.
func (c *canal) exported(line string) string {
	return c.SQL("start transaction with consistent snapshot; select " + line + " from shop.orders; commit")
}

// exportedFrom adds a pipeline for the same table and index to the job, which reads rows of an export.
func (j *job) exportedFrom(topic string) {
	j.t.Helper()
	documents := "        set: { order: order, user: user, created: created, items: items, status: status, price: price }\n"
	j.replace(documents, documents+`
  exported:
    topic: `+topic+`
    fields:
      order: { type: text, path: id }
      user: text
      created: { type: time, format: "%Y-%m-%d %H:%M:%S", zone: Asia/Shanghai }
      items: { type: text, default: none }
      status: text
      price: text
      at: time_ms
    version: at
    rows:
      - table: `+j.table+`
        set: { "e:i": items, "e:s": status, "e:p": price }
    documents:
      - index: `+j.name+"\n"+documents)
}

// publishLines publishes JSON lines with the command.
func (j *job) publishLines(topic, lines string) {
	j.t.Helper()
	file := filepath.Join(j.t.TempDir(), "export.jsonl")
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		j.t.Fatal(err)
	}
	j.must("publish", "-c", j.file, "--topic", topic, "--key", "id", file)
}

// TestCanalAfterAnExportAndAFailover checks what docs/formats.md says of Canal: rows that are older than the log come from an export, which
// arrives after newer changes, and a replica takes over whose log has other positions, and some of whose changes have been published before.
func TestCanalAfterAnExportAndAFailover(t *testing.T) {
	notShort(t)
	t.Parallel()
	java, db := testenv.Canal(t), testenv.StartMariaDBWithLog(t)
	first, replica := shopMariaDB{db}, shopMariaDB{db.Replica()}
	s := embeddedStack(t)
	forms := map[string]*job{}
	for _, form := range []string{"flat", "protobuf"} {
		forms[form] = newJobOf(t, s, example{"../cmd/brine/testdata/changedata/canal-orders.yaml", "orders",
			"shop.orders_canal", "shop:orders_canal", "orders_canal", "id"})
	}
	flat, protobuf := forms["flat"], forms["protobuf"]
	flat.replace("form: canal_protobuf", "form: canal")
	protobuf.replace("      gone: bool\n", "      gone: bool\n      server: { type: int, path: $server }\n      file: { type: text, path: $file }\n")
	protobuf.replace(`"e:d": gone`, `"e:d": gone, "e:m": server, "e:f": file`)
	others, exports := testenv.Name(t), testenv.Name(t)
	for _, topic := range []string{others, exports} {
		if err := createTopicBy(t.Context(), flat.client(), topic, 1); err != nil {
			t.Fatal(err)
		}
	}
	protobuf.exportedFrom(exports)
	tables := map[string]string{"flat": flat.topic + `:shop\\.orders`, "protobuf": protobuf.topic + `:shop\\.orders`}
	c := &canal{changeData: &changeData{t: t, shopDatabase: first, java: java, orders: flat}}
	agree := func(when string) {
		t.Helper()
		for form, j := range forms {
			t.Logf("%s, %s", when, form)
			(&changeData{t: t, shopDatabase: c.shopDatabase, orders: j}).compareOrders()
		}
	}

	r := rand.New(rand.NewPCG(18, 3))
	c.SQL(c.dialect().tables)
	c.change(r, 60)
	c.SQL("flush binary logs;")
	replica.Follow(db)
	file, _ := first.logged()
	c.read(db.Addr, file, others, tables)
	c.begin()
	c.change(r, 40)
	columns := `'user', "user", 'created', date_format(convert_tz(created, '+00:00', '+08:00'), '%Y-%m-%d %H:%i:%s.%f'), ` +
		`'items', items, 'status', status, 'price', cast(price as char)`
	// A change can be committed after the export with a time before it, but here no transaction takes a day.
	const at = "(unix_timestamp() - 86400) * 1000"
	rows := c.exported(`json_object('id', cast(id as char), 'at', ` + at + `, ` + columns + `)`)
	changes := c.exported(`json_object('id', id, 'type', 'INSERT', 'es', ` + at + `, 'data', json_array(json_object('id', cast(id as char), ` +
		columns + `)))`)
	c.change(r, 60)
	c.SQL("insert into shop.orders values (1000, 'ann', timestamp '2013-01-02 02:04:05', null, 'new', 1.25);")
	c.fence()
	for _, j := range forms {
		j.ran(exitOK)
	}
	protobuf.publishLines(exports, rows)
	flat.publishLines(flat.topic, changes)
	agree("after the export")

	replica.Follow(db)
	replica.SQL("flush binary logs;")
	again, _ := replica.logged()
	c.change(r, 30)
	c.fence()
	c.kill()
	c.change(r, 30)
	c.SQL("insert into shop.orders values (1001, 'ann', timestamp '2013-01-02 02:04:05', null, 'new', 1.25);")
	replica.Follow(db)
	end, pos := first.logged()
	if f, p := replica.logged(); f > end || f == end && p >= pos {
		t.Fatalf("the replica's log is at %d:%d, the first server's at %d:%d: it would not show that positions start over", f, p, end, pos)
	}
	first.Stop()
	replica.SQL("stop slave;")
	c.shopDatabase = replica
	c.read(replica.Addr, again, others, tables)
	c.begin()
	c.change(r, 50)
	c.fence()
	c.kill()
	agree("after the failover")
	for form, j := range forms {
		if report, listed := j.verified(exitOK); len(listed) > 0 {
			t.Errorf("verify, %s: %+v, %v", form, report, listed)
		}
	}

	// Why neither $server nor $file can be part of a version here: server 1 made order 1001, which Canal read in the log of server 2, and
	// Canal 1.1.7 takes the file of MariaDB's checkpoint for that of the log.
	said := map[string]map[string]any{}
	for _, row := range protobuf.rowsOf("user=ann") {
		f := row["fields"].(map[string]any)
		said[f["order"].(string)] = f
	}
	t.Logf("order 1000 is in binlog.%06d, and Canal says %v", file, said["1000"]["file"])
	if got := said["1001"]["server"]; got != 1.0 {
		t.Errorf("Canal says that a change in the replica's log is of server %v, expected that of the first, 1", got)
	}
}
