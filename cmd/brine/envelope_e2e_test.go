package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var debeziumExample = example{"orders-debezium.yaml", "log", "shop.log", "shop:log", "log", "id"}

// tableRow is a row of a shop's table of orders.
type tableRow struct{ id, user, items, status, price string }

// tableChange is a database log's entry for one row: before is nil in an insert, after in a delete.
type tableChange struct {
	before, after *tableRow
	snapshot      bool
	at            int64 // ms
}

// tableChanges returns what a snapshot finds in a table, and the changes after it: inserts, updates, some of which move a row to another
// user, updates of the primary key, and deletes. It also returns the final result of SELECT.
func tableChanges(orders int) (changes []tableChange, left map[string]tableRow) {
	r := rand.New(rand.NewPCG(18, 3))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	left = map[string]tableRow{}
	at := int64(1357000000000)
	change := func(before, after *tableRow) {
		at += 1000
		changes = append(changes, tableChange{before: before, after: after, at: at})
		if before != nil {
			delete(left, before.id)
		}
		if after != nil {
			left[after.id] = *after
		}
	}
	for i := range orders {
		row := tableRow{fmt.Sprintf("o%04d", i), pick("ann", "bob", "cat"), pick("red shoe", "hat"), "new", fmt.Sprintf("%d.%02d", r.IntN(100), r.IntN(100))}
		change(nil, &row)
		changes[len(changes)-1].snapshot = i < orders/2
		for range r.IntN(5) {
			was, is := row, row
			switch r.IntN(5) {
			case 0: // an update of the primary key is a delete and an insert
				is.id += "x"
				change(&was, nil)
				change(nil, &is)
			case 1:
				change(&was, nil)
				change(nil, &is)
			case 2:
				is.user = pick("ann", "bob", "cat")
				change(&was, &is)
			default:
				is.status = pick("paid", "sent")
				change(&was, &is)
			}
			row = is
		}
		if was := row; r.IntN(4) == 0 {
			change(&was, nil)
		}
	}
	return changes, left
}

const tableCreated = 1356000000000

// json returns the row as a publisher writes it; price is the form of its decimal.
func (r *tableRow) json(price func(string) string) string {
	if r == nil {
		return "null"
	}
	return fmt.Sprintf(`{"id":%q,"user":%q,"created":%d,"items":%q,"status":%q,"price":%s}`, r.id, r.user, tableCreated, r.items, r.status, price(r.price))
}

// unscaled returns a decimal(10,2) as Kafka Connect writes it.
func unscaled(price string) string {
	var whole, hundredths int
	if _, err := fmt.Sscanf(price, "%d.%02d", &whole, &hundredths); err != nil {
		panic(err)
	}
	n := whole*100 + hundredths
	return `"` + base64.StdEncoding.EncodeToString([]byte{byte(n >> 8), byte(n)}) + `"`
}

// debeziumRecords returns the changes as Debezium publishes them, and rows of an incremental snapshot in the midst of them: their times, when
// they are written, are later than those of changes that Debezium has not yet read; nil is a tombstone.
func debeziumRecords(changes []tableChange) (records [][]byte) {
	const record = `{"before":%s,"after":%s,"source":{"connector":"mysql","name":"s1","ts_ms":%d,"snapshot":%q,` +
		`"db":"shop","table":"orders","file":"bin.%06d","pos":%d,"row":0},"op":%q,"ts_ms":%d}`
	for i, c := range changes {
		op := "u"
		switch {
		case c.snapshot:
			op = "r"
		case c.before == nil:
			op = "c"
		case c.after == nil:
			op = "d"
		}
		file, pos := 99998+i/50, 4+200*(i%50)
		records = append(records, fmt.Appendf(nil, record, c.before.json(unscaled), c.after.json(unscaled), c.at, fmt.Sprint(c.snapshot), file, pos,
			op, time.Now().UnixMilli()))
		if i%5 == 0 && c.after != nil {
			records = append(records, fmt.Appendf(nil, record, "null", c.after.json(unscaled), c.at+1000000, "incremental", file, pos+100,
				"r", time.Now().UnixMilli()))
		}
		if op == "d" {
			records = append(records, nil)
		}
	}
	return append(records, []byte(`{"ts_ms":1357000000000}`),
		[]byte(`{"source":{},"ts_ms":1357000000000,"databaseName":"shop","ddl":"ALTER TABLE orders …","tableChanges":[]}`),
		[]byte(`{"status":"END","id":"7","ts_ms":1357000000000,"event_count":1,"data_collections":[]}`))
}

// maxwellRecords returns the changes as Maxwell publishes them, and two more bootstraps, each of which reads the table in the midst of them. As
// always in bootstraps, rows have no position, and times that are later than those of changes that were queued meanwhile.
func maxwellRecords(changes []tableChange) (records [][]byte) {
	plain := func(price string) string { return price }
	mark := func(kind string) {
		records = append(records, fmt.Appendf(nil, `{"database":"shop","table":"orders","type":"bootstrap-%s","ts":1357000000,"data":{}}`, kind))
	}
	read := func(row *tableRow) {
		records = append(records, fmt.Appendf(nil, `{"database":"shop","table":"orders","type":"bootstrap-insert","ts":1367000000,"data":%s}`, row.json(plain)))
	}
	now := map[string]*tableRow{}
	mark("start")
	for i, c := range changes {
		if c.before != nil {
			delete(now, c.before.id)
		}
		if c.after != nil {
			now[c.after.id] = c.after
		}
		if i == len(changes)/2 || i == 2*len(changes)/3 {
			mark("start")
			for _, id := range slices.Sorted(maps.Keys(now)) {
				read(now[id])
			}
			mark("complete")
		}
		kind, row, old := "update", c.after, ""
		switch {
		case c.snapshot:
			read(row)
			continue
		case c.before == nil:
			kind = "insert"
		case c.after == nil:
			kind, row = "delete", c.before
		default:
			old = fmt.Sprintf(`,"old":{%s}`, strings.Join(changedColumns(c), ","))
		}
		records = append(records, fmt.Appendf(nil, `{"database":"shop","table":"orders","type":%q,"ts":%d,"xid":1,"commit":true,`+
			`"position":"bin.%06d:%d","data":%s%s}`, kind, c.at/1000, 99998+i/50, 4+200*(i%50), row.json(plain), old))
	}
	return append(records, []byte(`{"database":"shop","table":"orders","type":"table-alter","ts":1357000000000,"sql":"…"}`))
}

// changedColumns returns the old values of the columns that an update has changed.
func changedColumns(c tableChange) (old []string) {
	if c.before.user != c.after.user {
		old = append(old, fmt.Sprintf(`"user":%q`, c.before.user))
	}
	if c.before.status != c.after.status {
		old = append(old, fmt.Sprintf(`"status":%q`, c.before.status))
	}
	return old
}

// canalRecords returns the changes as Canal publishes them: consecutive changes of one kind share a message and its time.
func canalRecords(changes []tableChange) (records [][]byte) {
	text := func(price string) string { return fmt.Sprintf("%q", price) }
	for i := 0; i < len(changes); {
		var data, old []string
		ids, kind, at := map[string]bool{}, changes[i].kind(), changes[i].at
		for ; i < len(changes) && changes[i].kind() == kind && len(data) < 4; i++ {
			c, row := changes[i], changes[i].after
			if row == nil {
				row = c.before
			}
			if ids[row.id] {
				break
			}
			ids[row.id] = true
			data = append(data, strings.ReplaceAll(row.json(text), fmt.Sprint(tableCreated), fmt.Sprintf("%q", fmt.Sprint(tableCreated))))
			if kind == "update" { // later ones name columns that did not change
				old = append(old, fmt.Sprintf(`{"user":%q,"status":%q}`, c.before.user, c.before.status))
			}
		}
		olds := "null"
		if old != nil {
			olds = "[" + strings.Join(old, ",") + "]"
		}
		records = append(records, fmt.Appendf(nil, `{"id":7,"database":"shop","table":"orders","pkNames":["id"],"isDdl":false,"type":%q,"es":%d,"ts":%d,`+
			`"data":[%s],"old":%s,"gtid":""}`, strings.ToUpper(kind), at, time.Now().UnixMilli(), strings.Join(data, ","), olds))
	}
	return append(records, []byte(`{"data":null,"es":1357000000000,"isDdl":true,"type":"ALTER","sql":"…"}`))
}

// rowsOf returns the output of brine query without warnings about the configuration.
func (j *job) rowsOf(keys ...string) (rows []map[string]any) {
	j.t.Helper()
	out, err := j.command(append([]string{"query", "-c", j.file, j.table, "--json"}, keys...)...).Output()
	if err != nil {
		j.t.Fatal(err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var row map[string]any
		if err := d.Decode(&row); err != nil {
			j.t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// TestChangeDataEndToEnd checks that in whatever form a table's changes come, brine's rows equal the result of SELECT, and verify finds
// nothing.
func TestChangeDataEndToEnd(t *testing.T) {
	notShort(t)
	t.Parallel()
	changes, left := tableChanges(60)
	want := map[string]tableRow{}
	for id, row := range left {
		want[id] = row
	}
	const decimal, pos = "price: { type: text, from: decimal, scale: 2 }", "pos: { type: int, path: $source.pos }"
	for _, c := range []struct {
		name    string
		records [][]byte
		config  []string // pairs of old and new
		leftOut string
	}{
		{"debezium", debeziumRecords(changes), nil, "map[heartbeat:1 schema_change:1 tombstone:%d transaction:1]"},
		{"maxwell", maxwellRecords(changes), []string{"envelope: debezium", "envelope: maxwell", "{ type: text, path: $source.file }",
			"{ type: text, path: $position }", pos, "", "version: binlog(file, pos)", "version: binlog(file)", decimal, "price: { type: text, from: number }"}, "map[bootstrap:5 schema_change:1]"},
		{"canal", canalRecords(changes), []string{"envelope: debezium", "envelope: { form: canal, ties: accept }",
			"{ type: text, path: $source.file }", "{ type: time_ms, path: $es }", pos, "", "version: binlog(file, pos)", "version: file",
			decimal, "price: text"}, "map[schema_change:1]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := newJobOf(t, embeddedStack(t), debeziumExample)
			for i := 0; i < len(c.config); i += 2 {
				j.replace(c.config[i], c.config[i+1])
			}
			records, tombstones := make([]sent, len(c.records)), 0
			for i, value := range c.records {
				records[i] = sent{partition: i % devPartitions, value: value}
				if value == nil {
					tombstones++
				}
			}
			r := rand.New(rand.NewPCG(5, 5))
			r.Shuffle(len(records), func(a, b int) { records[a], records[b] = records[b], records[a] })
			j.sendAll(records)
			s, out := j.ran(exitOK)
			if strings.Contains(c.leftOut, "%d") {
				c.leftOut = fmt.Sprintf(c.leftOut, tombstones)
			}
			if fmt.Sprint(s.LeftOutBy) != c.leftOut || s.Dead > 0 {
				t.Errorf("left out %v, want %s; %d dead letters\n%s", s.LeftOutBy, c.leftOut, s.Dead, out)
			}
			got := map[string]tableRow{}
			for _, user := range []string{"ann", "bob", "cat"} {
				for _, row := range j.rowsOf("user=" + user) {
					f := row["fields"].(map[string]any)
					id := f["order"].(string)
					if other, twice := got[id]; twice {
						t.Errorf("%s is shown under %s and %s", id, other.user, user)
					}
					got[id] = tableRow{id, f["user"].(string), f["items"].(string), f["status"].(string), f["price"].(string)}
				}
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(tableRow{})); diff != "" {
				t.Errorf("rows (-SELECT +brine):\n%s", diff)
			}
			if report, listed := j.verified(exitOK); len(listed) > 0 {
				t.Errorf("verify: %+v, %v", report, listed)
			}
			t.Logf("%d records of %d changes, %d rows left", len(records), len(changes), len(want))
		})
	}
}
