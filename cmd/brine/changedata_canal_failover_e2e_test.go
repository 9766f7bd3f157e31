package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"brine/internal/testenv"
)

// exported returns the shop's orders in a consistent snapshot, a line each, as the expression makes them, and the snapshot's place in the
// log.
func (c *canal) exported(line string) (lines, file string, pos int) {
	c.t.Helper()
	place, lines, _ := strings.Cut(c.SQL("flush tables with read lock; start transaction with consistent snapshot; show master status; "+
		"unlock tables; select "+line+" from shop.orders; commit"), "\n")
	if _, err := fmt.Sscan(place, &file, &pos); err != nil {
		c.t.Fatalf("the place of the snapshot is %q: %v", place, err)
	}
	return lines, file, pos
}

// exportedFrom adds a pipeline for the same table and index to the job, which reads rows of an export with this version of these fields.
func (j *job) exportedFrom(topic, version, fields string) {
	j.t.Helper()
	documents := "        set: { order: order, user: user, created: created, items: items, status: status, price: price }\n"
	j.replace(documents, documents+`
  exported:
    topic: `+topic+`
    fields:
      order: { type: text, path: id }
      user: text
      created: { type: time, format: "%Y-%m-%d %H:%M:%S", zone: Asia/Shanghai }
      items: text
      status: text
      price: text
`+fields+`    version: `+version+`
    rows:
      - table: `+j.table+`
        nulls: store
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
	onCanalDatabases(t, testCanalAfterAnExportAndAFailover)
}

func testCanalAfterAnExportAndAFailover(t *testing.T, d canalDatabase) {
	java, db := testenv.Canal(t), d.start(t)
	first, replica := shopMySQL{db}, shopMySQL{db.Replica()}
	s := embeddedStack(t)
	forms := map[string]*job{}
	for _, form := range []string{"flat", "protobuf"} {
		forms[form] = newJobOf(t, s, example{"../cmd/brine/testdata/changedata/canal-orders.yaml", "orders",
			"shop.orders_canal", "shop:orders_canal", "orders_canal", "id"})
	}
	flat, protobuf := forms["flat"], forms["protobuf"]
	flat.replace("form: canal_protobuf", "form: canal")
	protobuf.replace("      gone: bool\n",
		"      gone: bool\n      server: { type: int, path: $server }\n      file: { type: text, path: $file }\n")
	protobuf.replace(`"e:d": gone`, `"e:d": gone, "e:m": server, "e:f": file`)
	others, exports, newer := testenv.Name(t), testenv.Name(t), testenv.Name(t)
	for _, topic := range []string{others, exports, newer} {
		if err := createTopicBy(t.Context(), flat.client(), topic, 1); err != nil {
			t.Fatal(err)
		}
	}
	if d.placed {
		protobuf.replace("      file: { type: text, path: $file }\n", "") // placed declares it
		protobuf.placed()
		protobuf.exportedFrom(exports, "binlog(file, pos)", "      file: text\n      pos: int\n")
	} else {
		protobuf.exportedFrom(exports, "at", "      at: time_ms\n")
	}
	tables := map[string]string{"flat": flat.topic + `:shop\\.orders`, "protobuf": protobuf.topic + `:shop\\.orders`}
	c := &canal{changeData: &changeData{t: t, shopDatabase: first, java: java, orders: flat, number: canalNumber}}
	agree := func(when string) {
		t.Helper()
		for form, j := range forms {
			t.Logf("%s, %s", when, form)
			(&changeData{t: t, shopDatabase: c.shopDatabase, orders: j, number: canalNumber}).compareOrders(j)
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
	// A change can be committed after the export with a time before it, but here no transaction takes a day.
	const at = "(unix_timestamp() - 86400) * 1000"
	columns := []string{"id", "cast(id as char)", "user", `"user"`, "created",
		"date_format(convert_tz(created, '+00:00', '+08:00'), '%Y-%m-%d %H:%i:%s.%f')", "items", "items", "status", "status", "price",
		c.decimal("price")}
	changes, _, _ := c.exported(`concat('{"id":', id, ',"type":"INSERT","es":', ` + at + `, ',"data":[', ` + d.object(columns...) + `, ']}')`)
	if !d.placed {
		columns = append(columns, "at", at)
	}
	rows, in, pos := c.exported(d.object(columns...))
	if d.placed {
		rows = regexp.MustCompile("(?m)^{").ReplaceAllString(rows, fmt.Sprintf(`{"file":"%s","pos":%d,`, in, pos))
	}
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
	f, p := replica.logged()
	if end, pos := first.logged(); f > end || f == end && p >= pos {
		t.Fatalf("the replica's log is at %d:%d, the first server's at %d:%d: it would not show that positions start over", f, p, end, pos)
	}
	first.Stop()
	replica.SQL("stop slave;")
	c.shopDatabase = replica
	if d.placed {
		protobuf.succeededBy(newer)
		tables["protobuf"] = newer + `:shop\\.orders`
	}
	c.read(replica.Addr, again, others, tables)
	c.begin()
	c.change(r, 50)
	c.fence()
	c.kill()
	agree("after the failover")
	for form, j := range forms {
		if report, listed := j.verified(exitOK); len(listed) > 0 || d.placed && form == "protobuf" && report.Ties > 0 {
			t.Errorf("verify, %s: %+v, %v", form, report, listed)
		}
	}

	// Why $server cannot be part of a version, nor $file that of a MariaDB: server 1 made order 1001, which Canal read in the log of server 2,
	// and Canal 1.1.7 takes the file of MariaDB's checkpoint for that of the log.
	said := map[string]map[string]any{}
	for _, row := range protobuf.rowsOf("user=ann") {
		f := row["fields"].(map[string]any)
		said[f["order"].(string)] = f
	}
	if got := said["1001"]["server"]; got != 1.0 {
		t.Errorf("Canal says that a change in the replica's log is of server %v, expected that of the first, 1", got)
	}
	for order, in := range map[string]int{"1000": file, "1001": f} {
		got, want := said[order]["file"], fmt.Sprintf("binlog.%06d", in)
		t.Logf("order %s is in %s, and Canal says %v", order, want, got)
		if d.placed && got != want {
			t.Errorf("Canal says that order %s is in %v, expected %s", order, got, want)
		}
	}
}
