package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/internal/testenv"
)

// TestChangesOfOnePositionTie has a statement that gives the key of one row to another, as UPDATE … SET id = id + 1 does: its changes are
// one event of MySQL's log, so they have one position. The key's delete and insert tie, which is counted as ties of times are, and the one
// published later wins.
func TestChangesOfOnePositionTie(t *testing.T) {
	t.Parallel()
	j := newJobOf(t, embeddedStack(t), debeziumExample)
	const before, of = 4, 204 // positions
	var records []sent
	change := func(was, is *tableRow, op string, pos int) {
		records = append(records, sent{time: time.UnixMilli(tableCreated), value: fmt.Appendf(nil, `{"before":%s,"after":%s,"source":{"connector":"mysql",`+
			`"name":"s1","ts_ms":%d,"snapshot":"false","db":"shop","table":"orders","file":"bin.000001","pos":%d},"op":%q,"ts_ms":%[3]d}`,
			was.json(unscaled), is.json(unscaled), tableCreated, pos, op)})
	}
	row := func(id, items string) *tableRow { return &tableRow{id, "ann", items, "new", "1.00"} }
	change(nil, row("o1", "hat"), "c", before)
	change(nil, row("o2", "shoe"), "c", before+100)
	change(row("o2", "shoe"), nil, "d", of)
	change(nil, row("o3", "shoe"), "c", of)
	change(row("o1", "hat"), nil, "d", of)
	change(nil, row("o2", "hat"), "c", of)
	j.sendAll(records)
	const fix = "changes share a position only within one event of the log"
	checked := strings.Join(strings.Fields(j.must("check", "--connect", j.file)), " ")
	if !strings.Contains(checked, "changes with the same version tie") || !strings.Contains(checked, fix) || strings.Contains(checked, "seq(") {
		t.Errorf("check does not say that two cells of one row tie, and what to do:\n%s", checked)
	}
	ran := j.must("run", "-c", j.file, "--until-end", "--json")
	if !strings.Contains(ran, "which wins; "+fix) || !strings.Contains(ran, `"ties":2`) {
		t.Errorf("run does not say that two cells of one row tie:\n%s", ran)
	}
	got := map[string]string{}
	for _, row := range j.rowsOf("user=ann") {
		f := row["fields"].(map[string]any)
		got[f["order"].(string)] = f["items"].(string)
	}
	if diff := cmp.Diff(map[string]string{"o2": "hat", "o3": "shoe"}, got); diff != "" {
		t.Errorf("rows (-SELECT +brine):\n%s", diff)
	}
	if r, _ := j.verified(exitOK, "--full"); r.Problems != 0 || r.Ties != 2 || r.Tables[0].Ties != 1 || r.Tables[1].Ties != 1 {
		t.Errorf("verify says %+v", r) // the row and its document
	}
}

// logEvents are events of a database's log: the changes of each have one place in the log, and one time. Each changes a row of its own in
// one of the ways in which the changes of a statement can meet in one row, or in one row key.
func logEvents() (events [][]tableChange, left map[string]tableRow) {
	row := func(id, user, items string) *tableRow { return &tableRow{id, user, items, "new", "1.00"} }
	event := func(of ...*tableRow) { // pairs of before and after
		var changes []tableChange
		for i := 0; i < len(of); i += 2 {
			changes = append(changes, tableChange{before: of[i], after: of[i+1], at: tableCreated + 1000*int64(len(events))})
		}
		events = append(events, changes)
	}
	event(nil, row("given1", "ann", "hat"), nil, row("given2", "ann", "shoe"), nil, row("twice", "ann", "hat"), nil, row("again", "ann", "hat"),
		nil, row("back", "ann", "hat"), nil, row("on", "ann", "hat"), nil, row("emptied", "ann", "hat"))
	event(row("given2", "ann", "shoe"), row("given3", "ann", "shoe"), row("given1", "ann", "hat"), row("given2", "ann", "hat"))
	event(row("twice", "ann", "hat"), row("twice", "ann", "cap"), row("twice", "ann", "cap"), row("twice", "ann", "bag"))
	event(row("again", "ann", "hat"), nil, nil, row("again", "ann", "cap"))
	event(nil, row("never", "ann", "hat"), row("never", "ann", "hat"), nil)
	event(row("back", "ann", "hat"), row("back", "bob", "hat"), row("back", "bob", "hat"), row("back", "ann", "cap"))
	event(row("on", "ann", "hat"), row("on", "bob", "hat"), row("on", "bob", "hat"), row("on", "cat", "hat"))
	event(row("emptied", "ann", "hat"), row("emptied", "ann", "cap"), row("emptied", "ann", "cap"), row("emptied", "ann", ""))
	left = map[string]tableRow{}
	for _, changes := range events {
		for _, c := range changes {
			if c.before != nil {
				delete(left, c.before.id)
			}
			if c.after != nil {
				left[c.after.id] = *c.after
			}
		}
	}
	return events, left
}

// members returns a row's columns as a publisher writes them, by form. No items are null.
func (r *tableRow) members(form string) map[string]any {
	if r == nil {
		return nil
	}
	out := map[string]any{"id": r.id, "user": r.user, "created": int64(tableCreated), "items": r.items, "status": r.status, "price": r.price}
	switch form {
	case "debezium":
		out["price"] = strings.Trim(unscaled(r.price), `"`)
	case "canal":
		out["created"] = fmt.Sprint(tableCreated)
	}
	if r.items == "" {
		out["items"] = nil
	}
	return out
}

func (c tableChange) kind() string {
	switch {
	case c.before == nil:
		return "insert"
	case c.after == nil:
		return "delete"
	}
	return "update"
}

// inDebezium returns the records of events: of a change of the primary key there are two. Before changes there is the whole row, or its key.
func inDebezium(events [][]tableChange, whole bool) (records []map[string]any) {
	for i, changes := range events {
		add := func(op string, before, after *tableRow) {
			was := before.members("debezium")
			if !whole && was != nil {
				was = map[string]any{"id": before.id}
			}
			records = append(records, map[string]any{"before": was, "after": after.members("debezium"), "op": op, "ts_ms": tableCreated, "source": map[string]any{
				"connector": "mysql", "name": "s1", "ts_ms": changes[0].at, "snapshot": "false", "db": "shop", "table": "orders", "file": "bin.000001", "pos": 4 + 100*i}})
		}
		for _, c := range changes {
			if c.kind() == "update" && c.before.id != c.after.id {
				add("d", c.before, nil)
				add("c", nil, c.after)
				continue
			}
			add(map[string]string{"insert": "c", "update": "u", "delete": "d"}[c.kind()], c.before, c.after)
		}
	}
	return records
}

// former returns the columns that an update has changed, with their values before it.
func (c tableChange) former(form string) map[string]any {
	if c.kind() != "update" {
		return nil
	}
	was, is := c.before.members(form), c.after.members(form)
	maps.DeleteFunc(was, func(name string, value any) bool { return is[name] == value })
	return was
}

// row returns the row that a record of a change holds.
func (c tableChange) row(form string) map[string]any {
	if c.after == nil {
		return c.before.members(form)
	}
	return c.after.members(form)
}

func inMaxwell(events [][]tableChange) (records []map[string]any) {
	for i, changes := range events {
		for _, c := range changes {
			rec := map[string]any{"database": "shop", "table": "orders", "type": c.kind(), "ts": c.at / 1000, "xid": 1,
				"position": fmt.Sprintf("bin.000001:%d", 4+100*i), "data": c.row("maxwell")}
			if old := c.former("maxwell"); old != nil {
				rec["old"] = old
			}
			records = append(records, rec)
		}
	}
	return records
}

// inCanal returns the records of events: the changes of one kind that follow each other share one.
func inCanal(events [][]tableChange) (records []map[string]any) {
	for _, changes := range events {
		for i, c := range changes {
			kind := strings.ToUpper(c.kind())
			if i == 0 || changes[i-1].kind() != c.kind() {
				records = append(records, map[string]any{"id": 7, "database": "shop", "table": "orders", "pkNames": []string{"id"}, "isDdl": false, "type": kind,
					"es": c.at, "ts": c.at, "data": []any{}, "old": nil})
			}
			rec := records[len(records)-1]
			rec["data"] = append(rec["data"].([]any), c.row("canal"))
			if old := c.former("canal"); old != nil {
				before, _ := rec["old"].([]any)
				rec["old"] = append(before, old)
			}
		}
	}
	return records
}

// inCanalPackets returns the events as entries of one packet: an entry has the changes of one kind that follow each other.
func inCanalPackets(events [][]tableChange) []byte {
	image := func(number int, row *tableRow) (columns []any) {
		for name, value := range row.members("canal") {
			column := []any{3, name, 8, value}
			if value == nil {
				column = []any{3, name, 6, 1}
			}
			columns = append(columns, number, testenv.Protobuf(column...))
		}
		return columns
	}
	var packet []any
	for i, changes := range events {
		for n := 0; n < len(changes); {
			kind, rows := changes[n].kind(), []any(nil)
			for ; n < len(changes) && changes[n].kind() == kind; n++ {
				rows = append(rows, 12, testenv.Protobuf(append(image(1, changes[n].before), image(2, changes[n].after)...)...))
			}
			of := map[string]int{"insert": 1, "update": 2, "delete": 3}[kind]
			header := testenv.Protobuf(2, "mysql-bin.000001", 3, 4+100*i, 6, changes[0].at, 8, "shop", 9, "orders", 11, of)
			packet = append(packet, 2, testenv.Protobuf(1, header, 2, 2, 3, testenv.Protobuf(append([]any{2, of}, rows...)...)))
		}
	}
	return testenv.Protobuf(3, 7, 4, 1, 5, testenv.Protobuf(packet...))
}

// TestChangesOfOneEventMeet has every way in which changes of one event of the log meet in one row or under one key, as each publisher sends
// it, with Canal in one record. The rows and documents are those of SELECT, before and after everything is read again.
func TestChangesOfOneEventMeet(t *testing.T) {
	t.Parallel()
	events, left := logEvents()
	const file, pos, decimal = "{ type: text, path: $source.file }", "pos: { type: int, path: $source.pos }", "price: { type: text, from: decimal, scale: 2 }"
	byOrder := []string{`key: md5(user, 4) + user + "|" + desc(created, ms) + order`, "key: md5(order, 4) + order"}
	for _, c := range []struct {
		name    string
		records []map[string]any // or
		packet  []byte
		config  []string // pairs of old and new
		byOrder bool
	}{
		{"debezium", inDebezium(events, true), nil, nil, false},
		{"debezium by the primary key", inDebezium(events, false), nil, append([]string{"envelope: debezium", "envelope: { form: debezium, before: key, key: [order] }"}, byOrder...), true},
		{"debezium, partial", inDebezium(events, false), nil, append([]string{"envelope: debezium",
			"changes: partial\n    envelope: { form: debezium, before: key, key: [order] }"}, byOrder...), true},
		{"maxwell", inMaxwell(events), nil, []string{"envelope: debezium", "envelope: maxwell", file, "{ type: text, path: $position }", pos, "",
			"version: binlog(file, pos)", "version: binlog(file)", decimal, "price: { type: text, from: number }"}, false},
		{"canal", inCanal(events), nil, []string{"envelope: debezium", "envelope: { form: canal, ties: accept }", file, "{ type: time_ms, path: $es }", pos, "",
			"version: binlog(file, pos)", "version: file", decimal, "price: text"}, false},
		{"canal_protobuf", nil, inCanalPackets(events), []string{"envelope: debezium", "envelope: { form: canal_protobuf, database: mysql }",
			file, "{ type: text, path: $file }", pos, "pos: { type: int, path: $pos }", decimal, "price: text"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := newJobOf(t, embeddedStack(t), debeziumExample)
			for i := 0; i < len(c.config); i += 2 {
				j.replace(c.config[i], c.config[i+1])
			}
			var records []sent
			for _, rec := range c.records {
				value, err := json.Marshal(rec)
				if err != nil {
					t.Fatal(err)
				}
				records = append(records, sent{time: time.UnixMilli(tableCreated), value: value})
			}
			if c.packet != nil {
				records = []sent{{time: time.UnixMilli(tableCreated), value: c.packet}}
			}
			j.sendAll(records)
			s, out := j.ran(exitOK)
			if s.Dead > 0 || s.Ties == 0 {
				t.Fatalf("%d dead letters, %d ties\n%s", s.Dead, s.Ties, out)
			}
			compare := func(when string) {
				t.Helper()
				asked, got := []string{"user=ann", "user=bob", "user=cat"}, map[string]tableRow{}
				if c.byOrder {
					asked = nil
					for _, id := range []string{"given1", "given2", "given3", "twice", "again", "never", "back", "on", "emptied"} {
						asked = append(asked, "order="+id)
					}
				}
				for _, key := range asked {
					for _, row := range j.rowsOf(key) {
						f := row["fields"].(map[string]any)
						of := func(name string) string { text, _ := f[name].(string); return text }
						got[of("order")] = tableRow{of("order"), of("user"), of("items"), of("status"), of("price")}
					}
				}
				want := maps.Clone(left)
				if c.byOrder { // user is no part of the key then, and of no column
					for id, row := range want {
						row.user = ""
						want[id] = row
					}
				}
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(tableRow{})); diff != "" {
					t.Errorf("%s: rows (-SELECT +brine):\n%s", when, diff)
				}
				documents := map[string]string{}
				for _, d := range j.documents() {
					if items, _ := d["items"].(string); d["deleted"] != true {
						documents[d["order"].(string)] = fmt.Sprint(d["user"], " ", items)
					}
				}
				for id, row := range left {
					if documents[id] != row.user+" "+row.items {
						t.Errorf("%s: the document of %s is %s, expected %+v", when, id, documents[id], row)
					}
				}
				if len(documents) != len(left) {
					t.Errorf("%s: documents %v", when, documents)
				}
				report, listed := j.verified(exitOK, "--full")
				if len(listed) > 0 {
					t.Errorf("%s: verify: %+v, %v", when, report, listed)
				}
				if rows, documents := report.Tables[0].Ties, report.Tables[1].Ties; (rows > 0) != (c.packet == nil) || (documents > 0) != (rows > 0) {
					t.Errorf("%s: verify counts ties of %d rows and %d documents; changes of one record have an order, others do not", when, rows, documents)
				}
			}
			compare("after the run")
			j.must("replay", "-q", "-c", j.file, "--from", "earliest")
			compare("after a replay")
		})
	}
}

// TestRowsUnderOneKeyTie: a statement changes two rows of a table under one row key, which lacks the primary key. The one published later
// wins, and everything that counts ties says so.
func TestRowsUnderOneKeyTie(t *testing.T) {
	t.Parallel()
	j := newJobOf(t, embeddedStack(t), debeziumExample)
	j.replace(`key: md5(user, 4) + user + "|" + desc(created, ms) + order`, "key: md5(user, 4) + user")
	row := func(id, items string) *tableRow { return &tableRow{id, "ann", items, "new", "1.00"} }
	for _, rec := range inDebezium([][]tableChange{{{after: row("o1", "hat")}}, {{after: row("o2", "shoe")}},
		{{before: row("o1", "hat"), after: row("o1", "cap")}, {before: row("o2", "shoe"), after: row("o2", "bag")}}}, true) {
		value, err := json.Marshal(rec)
		if err != nil {
			t.Fatal(err)
		}
		j.sendAt(0, string(value), time.UnixMilli(tableCreated))
	}
	if checked := j.must("check", "--connect", j.file); !strings.Contains(checked, "1 row of "+j.table) {
		t.Errorf("check does not say that a row has changes that tie:\n%s", checked)
	}
	if s, out := j.ran(exitOK); s.Ties != 1 {
		t.Errorf("run counts %d ties\n%s", s.Ties, out)
	}
	rows := j.rowsOf("user=ann")
	if len(rows) != 1 || rows[0]["fields"].(map[string]any)["items"] != "bag" {
		t.Errorf("rows %v", rows)
	}
	if r, _ := j.verified(exitOK, "--full"); r.Problems != 0 || r.Tables[0].Ties != 1 || r.Tables[1].Ties != 1 {
		t.Errorf("verify says %+v", r)
	}
}
