package main

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/event"
)

var (
	logExample    = example{"orders-log.yaml", "log", "shop.log", "shop:log", "log", "id"}
	statesExample = example{"orders-by-id.yaml", "states", "shop.states", "shop:states", "", "order"}
)

// logOf is a database's log of orders. They move to other users and back, gain and lose words, and are deleted and recreated; several
// changes fall in one millisecond. It also holds what a reader must find under each user, by order.
func logOf(orders int) (changes [][]byte, left map[string]string) {
	r := rand.New(rand.NewPCG(7, 7))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	left = map[string]string{}
	for i := range orders {
		before, id := "null", fmt.Sprintf("o%04d", i)
		at, n := int64(1357000000000)+r.Int64N(1e9), 0
		created := at
		for range 1 + r.IntN(7) {
			after := "null"
			user, items, status := pick("ann", "bob", "cat", "dan"), pick("red shoe", "Shoe", "hat", "red hat"), pick("new", "paid", "sent")
			delete(left, id)
			if before == "null" || r.IntN(5) > 0 {
				after = fmt.Sprintf(`{"order":%q,"user":%q,"created":%d,"items":%q,"status":%q}`, id, user, created, items, status)
				left[id] = user + " " + items + " " + status
			}
			changes = append(changes, fmt.Appendf(nil, `{"id":%q,"before":%s,"after":%s,"source":{"ts_ms":%d,"n":%d}}`, id, before, after, at, n))
			before = after
			if n++; r.IntN(2) == 0 {
				at, n = at+r.Int64N(1e6)+1, 0
			}
		}
	}
	return changes, left
}

// second removes the job's second table from servers that go on.
func (j *job) second(table string) string {
	j.t.Cleanup(func() {
		if j.lasting {
			dropTable(j.t, j.hbase, table)
		}
	})
	return table
}

// shownLog returns what queries find of the log: by order, its user, items and status, if its words and its document agree.
func (j *job) shownLog(words string) map[string]string {
	j.t.Helper()
	out := map[string]string{}
	for _, user := range []string{"ann", "bob", "cat", "dan"} {
		hits := map[string]string{}
		for _, row := range j.answered("user=" + user) {
			f := row["fields"].(map[string]any)
			if id := f["order"].(string); out[id] == "" {
				out[id] = fmt.Sprint(f["user"], " ", f["items"], " ", f["status"])
			} else {
				j.t.Errorf("%s is shown twice: %s and %s", id, out[id], user)
			}
			hits[f["order"].(string)] = strings.ToLower(f["items"].(string))
		}
		for _, word := range []string{"red", "shoe", "hat"} {
			var want, got []string
			for id, items := range hits {
				if slices.Contains(strings.Fields(items), word) {
					want = append(want, id)
				}
			}
			own := *j
			own.table = words
			for _, row := range own.answered("user="+user, "word="+word) {
				got = append(got, row["fields"].(map[string]any)["order"].(string))
			}
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				j.t.Errorf("orders of %s by word %s (-want +got):\n%s", user, word, diff)
			}
		}
	}
	return out
}

// TestLogOfMovesEndToEnd checks that in whatever order the changes come, both tables and the index show what exists and nothing of what was
// left behind.
func TestLogOfMovesEndToEnd(t *testing.T) {
	notShort(t)
	t.Parallel()
	changes, left := logOf(150)
	r := rand.New(rand.NewPCG(8, 8))
	another := slices.Clone(changes)
	r.Shuffle(len(another), func(i, k int) { another[i], another[k] = another[k], another[i] })
	var calm [2]contents
	var calmDocs documents
	for n, run := range []struct {
		name    string
		start   func(*testing.T) stack
		changes [][]byte
	}{
		{"calm", embeddedStack, changes}, {"shuffled and repeated", embeddedStack, repeated(another)},
		{"real", realStack, changes}, {"real, shuffled and repeated", realStack, repeated(another)},
	} {
		t.Run(run.name, func(t *testing.T) {
			j := newJobOf(t, run.start(t), logExample)
			words := j.second(j.table + "_words")
			j.publish(slices.Values(run.changes))
			j.must("run", "-q", "-c", j.file, "--until-end")
			if diff := cmp.Diff(left, j.shownLog(words)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			got, docs := [2]contents{scanTable(t, j.hbase, j.table), scanTable(t, j.hbase, words)}, j.documents()
			if n == 0 {
				calm, calmDocs = got, docs
			}
			if got != calm {
				t.Errorf("got %v, calm %v", got, calm)
			}
			compare(t, docs, calmDocs)
			if letters := j.deadLetters(); len(letters) > 0 {
				t.Errorf("dead letters: %+v", letters[0])
			}
			t.Logf("%d changes of %d orders: %v, %d documents", len(run.changes), len(left), got, len(docs))
		})
	}
}

// TestKeysLookedUpEndToEnd checks that changes that know only an order's id reach its row, even if they come before its creation. Those of
// an order that never comes are dead letters that name the field.
func TestKeysLookedUpEndToEnd(t *testing.T) {
	t.Parallel()
	const orders = 100
	var changes [][]byte
	for i := range orders {
		id, at := fmt.Sprintf("o%04d", i), 1357000000000+int64(i)*1000
		changes = append(changes, fmt.Appendf(nil, `{"order":%q,"user":"user%d","created":%d,"at":%d,"status":"new"}`, id, i%7, at, at),
			fmt.Appendf(nil, `{"order":%q,"at":%d,"status":"paid"}`, id, at+1), fmt.Appendf(nil, `{"order":%q,"at":%d,"status":"sent","carrier":"c%d"}`, id, at+2, i%3))
	}
	orphan := []byte(`{"order":"nobody's","at":1357000000000,"status":"paid"}`)
	r := rand.New(rand.NewPCG(9, 9))
	another := slices.Clone(changes)
	r.Shuffle(len(another), func(i, k int) { another[i], another[k] = another[k], another[i] })
	var calm [2]contents
	for n, run := range []struct {
		name    string
		start   func(*testing.T) stack
		changes [][]byte
	}{
		{"calm", embeddedStack, changes}, {"shuffled and repeated", embeddedStack, repeated(another)},
		{"real, shuffled and repeated", realStack, repeated(another)},
	} {
		t.Run(run.name, func(t *testing.T) {
			j := newJobOf(t, run.start(t), statesExample)
			ids := j.second(j.table + "_ids")
			j.replace("wait: 1m", "wait: 2s")
			j.publish(chain(run.changes, [][]byte{orphan}))
			j.must("run", "-q", "-c", j.file, "--until-end")
			got := [2]contents{scanTable(t, j.hbase, j.table), scanTable(t, j.hbase, ids)}
			if n == 0 {
				calm = got
			}
			if got != calm || got[0].rows != orders || got[1].rows != orders {
				t.Errorf("got %v, calm %v", got, calm)
			}
			if rows := j.fieldsOf("user=user3", "--limit", "1", "--fields", "order,status,carrier"); rows != "carrier:c0 order:o0094 status:sent" && rows != "carrier:c1 order:o0094 status:sent" {
				t.Errorf("the newest order of user3 is %s", rows)
			}
			if out := j.must("check", "--connect", j.file); strings.Contains(out, "missing_field") {
				t.Errorf("check takes what is looked up for missing:\n%s", out)
			}
			letters := j.deadLetters()
			if len(letters) != 1 || letters[0].Reason != event.MissingField || letters[0].Field != "user" || !strings.Contains(letters[0].Detail, ids+", where it is looked up, has not arrived within 2s") {
				t.Errorf("dead letters: %+v", letters)
			}
			if r, listed := j.verified(0, "--full"); len(listed) > 0 {
				t.Errorf("verify, which looks the same keys up, lists %v: %+v", listed, r)
			}
		})
	}
}

func chain(all ...[][]byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, list := range all {
			for _, v := range list {
				if !yield(v) {
					return
				}
			}
		}
	}
}
