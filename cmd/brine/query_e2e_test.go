package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// answered runs brine query and returns the rows that it prints.
func (j *job) answered(args ...string) (rows []map[string]any) {
	j.t.Helper()
	out := j.must(append([]string{"query", "-c", j.file, j.table, "--json"}, args...)...)
	for d := json.NewDecoder(strings.NewReader(out)); d.More(); {
		var row map[string]any
		if err := d.Decode(&row); err != nil {
			j.t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// TestQueryFindsOrders asks for orders as users do: by a word and a status, page by page, and by key.
func TestQueryFindsOrders(t *testing.T) {
	t.Parallel()
	j := newJobOf(t, mixedStack(t), ordersExample)
	j.publish(slices.Values(orderChanges()))
	j.must("run", "-q", "-c", j.file, "--until-end")
	docs := j.documents()
	deleted := func(doc map[string]any) bool { return doc["deleted"] == true }
	green := func(doc map[string]any) bool {
		return strings.Contains(doc["items"].(string), "绿茶") && slices.Contains([]string{"shipped", "paid"}, doc["status"].(string))
	}
	name := "" // of a user with a deleted order
	for _, doc := range docs {
		if deleted(doc) {
			name = doc["user"].(string)
		}
	}
	user := func(doc map[string]any) bool { return doc["user"] == name }
	count := func(is ...func(map[string]any) bool) (n int) {
		for _, doc := range docs {
			if !slices.ContainsFunc(is, func(is func(map[string]any) bool) bool { return !is(doc) }) {
				n++
			}
		}
		return n
	}
	alive := func(doc map[string]any) bool { return !deleted(doc) }
	for _, tt := range []struct {
		args string
		want int
	}{
		{"text=绿茶 status=shipped,paid --limit 0", count(green, alive)},
		{"status=deleted", 0},
		{"status=deleted --deleted", count(deleted)},
		{"user=" + name, count(user, alive)},
		{"user=" + name + " --deleted", count(user)},
	} {
		if rows := j.answered(strings.Fields(tt.args)...); len(rows) != tt.want {
			t.Errorf("%s: %d rows, want %d", tt.args, len(rows), tt.want)
		}
	}
	all := j.answered("text=绿茶", "status=shipped,paid", "--limit", "0")
	var paged []map[string]any
	for after := []string(nil); ; {
		page := j.answered(append([]string{"text=绿茶", "status=shipped,paid", "--limit", "40"}, after...)...)
		paged = append(paged, page...)
		if len(page) < 40 {
			break
		}
		after = []string{"--after", page[39]["after"].(string)}
	}
	created := func(row map[string]any) string { return row["fields"].(map[string]any)["created"].(string) }
	for i, row := range all {
		if i >= len(paged) || row["row"] != paged[i]["row"] || i > 0 && created(row) > created(all[i-1]) {
			t.Fatalf("row %d of %d, in pages %d: %v", i, len(all), len(paged), row)
		}
		if row["state"] != nil {
			t.Fatalf("both stores are up to date, yet %v", row)
		}
	}
	t.Logf("%d orders with 绿茶, shipped or paid, the newest first, whole and in pages", len(all))
}
