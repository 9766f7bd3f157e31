package main

import (
	"crypto/md5"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/hbase"
	"brine/service/replays"
	"brine/verify"
)

var customersExample = example{"customers.yaml", "customers", "shop.customers", "shop:customers", "customers", "id"}

// customers are the records of a compacted topic, one per millisecond, and the final state of its keys: those whose last record has no
// value are gone.
func customers(n int) (records []sent, left map[string]string) {
	r := rand.New(rand.NewPCG(18, 1))
	left = map[string]string{}
	at := time.UnixMilli(1357034220000)
	for range 6 * n {
		id := fmt.Sprintf("c%03d", r.IntN(n))
		rec := sent{key: fmt.Appendf(nil, `{"id":%q}`, id), time: at, partition: int(id[3]) % devPartitions}
		delete(left, id)
		if r.IntN(3) > 0 {
			name, city := fmt.Sprintf("name%d", r.IntN(100)), ""
			left[id] = name + " unknown"
			if r.IntN(2) == 0 {
				city = `,"city":"Oslo"`
				left[id] = name + " Oslo"
			}
			rec.value = fmt.Appendf(nil, `{"name":%q%s}`, name, city)
		}
		records, at = append(records, rec), at.Add(time.Millisecond)
	}
	return records, left
}

// TestTombstonesEndToEnd: a record without a value ends its key's row and document, whatever comes late. One whose key lacks a field of the
// row key is a dead letter. verify, replay and explain agree.
func TestTombstonesEndToEnd(t *testing.T) {
	t.Parallel()
	records, left := customers(40)
	gone := 0
	for i := range records {
		if last := records[i]; last.value == nil && !slices.ContainsFunc(records[i+1:], func(s sent) bool { return string(s.key) == string(last.key) }) {
			gone++
		}
	}
	if gone < 5 || len(left) < 5 {
		t.Fatalf("%d are gone, %d are left", gone, len(left))
	}
	r := rand.New(rand.NewPCG(18, 2))
	shuffled := slices.Clone(records)
	r.Shuffle(len(shuffled), func(a, b int) { shuffled[a], shuffled[b] = shuffled[b], shuffled[a] })
	for name, all := range map[string][]sent{"in order": records, "shuffled": shuffled} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJobOf(t, embeddedStack(t), customersExample)
			at := time.UnixMilli(1357034300000)
			j.sendAll(append(slices.Clone(all), sent{key: []byte(`{"name":"x"}`), time: at}, sent{time: at}, sent{key: []byte(`c1`), time: at}))
			s, out := j.ran(exitOK)
			if s.LeftOut > 0 {
				t.Errorf("left out %v\n%s", s.LeftOutBy, out)
			}
			var dead []string
			for _, l := range j.deadLetters() {
				dead = append(dead, fmt.Sprint(l.Reason, " ", l.Field))
			}
			slices.Sort(dead)
			if diff := cmp.Diff([]string{"missing_field $key.id", "missing_field id", "undecodable $key"}, slices.Compact(dead)); diff != "" {
				t.Errorf("dead letters (-want +got):\n%s", diff)
			}
			got := map[string]string{}
			for n := range 40 {
				id := fmt.Sprintf("c%03d", n)
				for _, row := range j.rowsOf("id=" + id) {
					f := row["fields"].(map[string]any)
					got[id] = fmt.Sprint(f["name"], " ", f["city"])
				}
			}
			if diff := cmp.Diff(left, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			found := map[string]string{}
			for _, d := range j.documents() {
				if d["deleted"] != true {
					found[fmt.Sprint(d["id"])] = fmt.Sprint(d["name"], " ", d["city"])
				}
			}
			if diff := cmp.Diff(left, found); diff != "" {
				t.Errorf("documents (-want +got):\n%s", diff)
			}
			if report, listed := j.verified(exitOK); len(listed) > 0 {
				t.Errorf("verify: %+v, %v", report, listed)
			}
			before := scanTable(t, j.hbase, j.table)
			j.must("replay", "-c", j.file, "-q", "--from", "earliest")
			if after := scanTable(t, j.hbase, j.table); after != before {
				t.Errorf("a replay makes %v of %v", after, before)
			}
			j.explainsTombstone()
		})
	}
}

// TestAValueAndATombstoneOfOneMillisecond: of a value and a tombstone with the same version the later one decides, in the row as in the
// document. verify finds a column that a delete marker hides in a row that exists, and does not care for it in one that is deleted.
func TestAValueAndATombstoneOfOneMillisecond(t *testing.T) {
	t.Parallel()
	j := newJobOf(t, embeddedStack(t), customersExample)
	first := time.UnixMilli(1357034220000)
	then := first.Add(20 * time.Millisecond)
	record := func(id, value string, at time.Time) sent {
		s := sent{key: fmt.Appendf(nil, `{"id":%q}`, id), time: at}
		if value != "" {
			s.value = []byte(value)
		}
		return s
	}
	const before, after = `{"name":"old","city":"Rome"}`, `{"name":"new","city":"Oslo"}`
	j.sendAll([]sent{
		record("back", before, first), record("back", "", then), record("back", after, then),
		record("gone", before, first), record("gone", after, then), record("gone", "", then),
	})
	j.ran(exitOK)
	outcome := func() (out []string) {
		for _, id := range []string{"back", "gone"} {
			for _, row := range j.rowsOf("id=" + id) {
				f := row["fields"].(map[string]any)
				out = append(out, fmt.Sprint("row ", id, " ", f["name"], " ", f["city"]))
			}
		}
		for _, d := range j.documents() {
			if d["deleted"] != true {
				out = append(out, fmt.Sprint("document ", d["id"], " ", d["name"], " ", d["city"]))
			}
		}
		return out
	}
	want := []string{"row back new Oslo", "document back new Oslo"}
	if diff := cmp.Diff(want, outcome()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if r, listed := j.verified(exitOK, "--full"); len(listed) > 0 || r.Ties == 0 {
		t.Errorf("verify: %+v, %v", r, listed)
	}
	j.must("replay", "-c", j.file, "-q", "--from", "earliest")
	if diff := cmp.Diff(want, outcome()); diff != "" {
		t.Errorf("after a replay (-want +got):\n%s", diff)
	}
	for missing, id := range []string{"gone", "back"} {
		j.stored(func(b *hbase.Batch) { // as a tombstone of an earlier brine did
			b.Mutate(customersRow(id))
			b.Delete(hbase.DeleteColumn, []byte("c"), []byte("n"), then.UnixMilli())
		})
		code := exitOK
		if missing > 0 {
			code = exitDiffers
		}
		if r, listed := j.verified(code, "--full"); listed[verify.Missing] != missing || len(listed) != missing {
			t.Errorf("of a marker in %s verify says %+v, %v", id, r, listed)
		}
	}
}

// TestForecastsKnowWhatIsDeleted: what a delete marker hides is nothing that a replay would add, of the topic or of dead letters. A row
// counts once, however many records write it.
func TestForecastsKnowWhatIsDeleted(t *testing.T) {
	t.Parallel()
	j := newJobOf(t, embeddedStack(t), customersExample)
	key, first := []byte(`{"id":"c1"}`), time.UnixMilli(1357034220000)
	j.sendAll([]sent{
		{key: key, value: []byte(`{"name":"a","city":"Rome"}`), time: first},
		{key: key, value: []byte(`{"name":5,"city":"Oslo"}`), time: first.Add(100 * time.Millisecond)}, // a dead letter
		{key: key, value: []byte(`{"name":"b"}`), time: first.Add(200 * time.Millisecond)},
		{key: key, time: first.Add(500 * time.Millisecond)},
	})
	j.ran(exitOK)
	if r, listed := j.verified(exitOK, "--full"); len(listed) > 0 {
		t.Errorf("verify: %+v, %v", r, listed)
	}
	diff := func() replays.Diff {
		return lastObject[replays.Diff](t, j.output("replay", "-c", j.file, "--from", "earliest", "--json", "--diff", "100"))
	}
	want := verify.DiffReport{Records: 4, Rejected: 1, Rows: 1, Same: 1, Kept: 2, Deleted: 4, Examples: []verify.DiffCell{}}
	if diff := cmp.Diff(want, diff().DiffReport); diff != "" {
		t.Errorf("of a deleted row (-want +got):\n%s", diff)
	}
	const line = "of all cells:\n             4 stay deleted, since their deletes are not older\n"
	if out := j.output("replay", "-c", j.file, "--from", "earliest", "--diff", "100"); !strings.Contains(out, line) {
		t.Errorf("the text of a diff says\n%s", out)
	}
	out := j.must("deadletters", "replay", "-c", j.file, "-q", "--half", "rows", "--let", `name = name + ""`, "--preview", "1")
	for _, want := range []string{"stays    c:n = 5 (deleted at 1357034220499)", "stays    c:c = Oslo (deleted at 1357034220499)"} {
		if !strings.Contains(out, want) {
			t.Errorf("the preview lacks %q:\n%s", want, out)
		}
	}
	j.stored(func(b *hbase.Batch) { // all of it, by hand
		b.Mutate(customersRow("c1"))
		b.Delete(hbase.DeleteFamily, []byte("c"), nil, first.Add(time.Second).UnixMilli())
	})
	want = verify.DiffReport{Records: 4, Rejected: 1, Rows: 1, Deleted: 7, Examples: []verify.DiffCell{}}
	if diff := cmp.Diff(want, diff().DiffReport); diff != "" {
		t.Errorf("of a row that does not exist (-want +got):\n%s", diff)
	}
}

// customersRow returns the row key of a customer.
func customersRow(id string) []byte {
	return fmt.Appendf(nil, "%.4s%s", fmt.Sprintf("%x", md5.Sum([]byte(id))), id)
}

// explainsTombstone asks what became of the first record of partition 0 that has no value.
func (j *job) explainsTombstone() {
	j.t.Helper()
	for offset := 0; ; offset++ {
		out := j.output("explain", "-c", j.file, "--json", j.topic, "0", fmt.Sprint(offset))
		var got struct {
			NoValue   bool `json:"no_value"`
			Pipelines []struct {
				Events []struct {
					Fields []struct {
						Name  string
						Value any
					}
				}
				Halves []struct{ Outcome string }
			}
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			j.t.Fatal(err)
		}
		if !got.NoValue {
			continue
		}
		p := got.Pipelines[0]
		text := fmt.Sprintf("%v %v", p.Events, p.Halves)
		if !strings.Contains(text, "{gone true}") || !strings.Contains(text, "[{written} {written}]") {
			j.t.Errorf("explain says %s of a tombstone: %s", text, out)
		}
		return
	}
}
