package query_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"brine/hbase"
	"brine/query"
	"brine/rowkey"
	"brine/search"
	"brine/sink"
)

// TestTwoKeysReadAsOne writes the same changes into a table with two keys and into one that always had the second, and checks that every
// question has the same answer in both: whole, limited, by pages, with and without deleted rows.
func TestTwoKeysReadAsOne(t *testing.T) { onBoth(t, twoKeysReadAsOne) }

func twoKeysReadAsOne(t *testing.T, client *hbase.Client) {
	keys := twoKeys(t)
	two, one := newVisits(t, client, "two", sink.RowEntity, keys), newVisits(t, client, "one", sink.RowEntity, rowkey.One(keys.Newest()))
	changes := append(randomVisits(rand.New(rand.NewPCG(14, 6)), 600), `{"user":"u3","at":7,"id":"i1","v":990,"page":"old","note":"old"}`, `{"user":"u3","at":7,"id":"i1","v":1060,"note":"new","gone":false}`)
	two.write(t, changes...)
	one.write(t, changes...)
	under := map[int64]int{}
	for row, err := range query.Rows(t.Context(), client, two.reads, nil, query.Options{Deleted: true}) {
		if err != nil {
			t.Fatal(err)
		}
		under[row.From]++
	}
	if under[0] == 0 || under[turn] == 0 {
		t.Fatalf("rows by the key they are found by: %v", under)
	}
	user := map[string]rowkey.Bound{"user": {Equal: rowkey.TextValue("u3")}}
	ranged := map[string]rowkey.Bound{"user": user["user"], "at": {From: rowkey.Value{Type: rowkey.Time, Int: 5}, To: rowkey.Value{Type: rowkey.Time, Int: 12}}}
	whole := map[string]rowkey.Bound{"user": user["user"], "at": {Equal: rowkey.Value{Type: rowkey.Time, Int: 7}}, "id": {Equal: rowkey.TextValue("i1")}}
	for name, where := range map[string]map[string]rowkey.Bound{"all": nil, "of a user": user, "of a range": ranged, "one": whole} {
		for _, o := range []query.Options{{}, {Deleted: true}, {Limit: 3}, {Limit: 1, Deleted: true}} {
			want, _ := one.read(t, where, o)
			got, _ := two.read(t, where, o)
			if !slices.Equal(got, want) || len(want) == 0 {
				t.Errorf("%s, %+v: two keys give\n%s\none gives\n%s", name, o, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		want, _ := one.read(t, where, query.Options{})
		if got := pages(t, two, where, 3); !slices.Equal(got, want) {
			t.Errorf("%s, by pages of 3: two keys give\n%s\none gives\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestTwoKeysAreLookedUp checks that a row is found under either key, by a get and for a document, in one batch.
func TestTwoKeysAreLookedUp(t *testing.T) { onBoth(t, twoKeysAreLookedUp) }

func twoKeysAreLookedUp(t *testing.T, client *hbase.Client) {
	keys := twoKeys(t)
	two, one := newVisits(t, client, "two", sink.RowEntity, keys), newVisits(t, client, "one", sink.RowEntity, rowkey.One(keys.Newest()))
	changes := randomVisits(rand.New(rand.NewPCG(14, 7)), 600)
	two.write(t, changes...)
	one.write(t, changes...)
	counted := &counting{Client: client}
	var want, got []string
	var hits []search.Hit
	all := func(yield func(query.Found, error) bool) {
		for row, err := range query.Rows(t.Context(), client, one.reads, nil, query.Options{}) {
			if !yield(query.Found{Row: row}, err) {
				return
			}
		}
	}
	for f, err := range query.Lookup(t.Context(), counted, two.reads, all, false) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, rowText(f.Row))
	}
	want, _ = one.read(t, nil, query.Options{})
	if !slices.Equal(got, want) || counted.gets != 1 {
		t.Errorf("looked up, in %d batches:\n%s\nwant\n%s", counted.gets, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for row, err := range query.Rows(t.Context(), client, one.reads, nil, query.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		hits = append(hits, search.Hit{Row: firstKeyOf(t, keys, row), Version: row.Version, Fields: map[string]any{"page": pageOf(row)}})
	}
	two.reads.Index = &query.Index{Name: "visits", Fields: []query.IndexField{{Name: "page", Field: "page", Type: rowkey.Text}}}
	got = nil
	for f, err := range query.Search(t.Context(), found(hits), counted, two.reads, search.Query{}, 0) {
		if err != nil || f.State != query.Same {
			t.Fatalf("%+v, %v", f, err)
		}
		got = append(got, rowText(f.Row))
	}
	if !slices.Equal(got, want) || counted.gets != 2 {
		t.Errorf("beside documents, in %d batches:\n%s\nwant\n%s", counted.gets-1, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestBytesOfTwoKeysAreDistinguished reads a row whose bytes mean one visit under the first key and another under the second.
func TestBytesOfTwoKeysAreDistinguished(t *testing.T) { onBoth(t, bytesOfTwoKeysAreDistinguished) }

func bytesOfTwoKeysAreDistinguished(t *testing.T, client *hbase.Client) {
	v := newVisits(t, client, "twice", sink.RowEvent, rowkey.Keys{{Key: visitKey(t, `user + "|" + id`)}, {From: turn, Key: visitKey(t, `id + "|" + user`)}})
	v.write(t, `{"user":"a","id":"b","v":5,"page":"old"}`, `{"user":"b","id":"a","v":2000,"page":"new"}`) // both are row a|b
	for user, want := range map[string]string{"a": "gone= id=b note= page=old user=a @5 false", "b": "gone= id=a note= page=new user=b @2000 false"} {
		where := map[string]rowkey.Bound{"user": {Equal: rowkey.TextValue(user)}, "id": {Equal: rowkey.TextValue(string('a' + 'b' - user[0]))}}
		if got, _ := v.read(t, where, query.Options{}); len(got) != 1 || got[0] != want {
			t.Errorf("user %s: %q, want %s", user, got, want)
		}
	}
}

// TestEqualTailsOfHashedKeysStayApart checks that rows are not merged if no key holds all of their fields, and that pages of them neither
// repeat nor skip one.
func TestEqualTailsOfHashedKeysStayApart(t *testing.T) { onBoth(t, equalTailsOfHashedKeysStayApart) }

func equalTailsOfHashedKeysStayApart(t *testing.T, client *hbase.Client) {
	v := newVisits(t, client, "hours", sink.RowEvent, rowkey.Keys{{Key: visitKey(t, `salt(4, user) + asc(at, ms)`)}, {From: turn, Key: visitKey(t, `salt(16, user) + asc(at, ms)`)}})
	for i := range 40 {
		v.write(t, fmt.Sprintf(`{"user":"u%d","at":%d,"id":"i","v":%d,"page":"p"}`, i, i%2, 10+i), fmt.Sprintf(`{"user":"u%d","at":%d,"id":"i","v":%d,"page":"p"}`, i, i%2, turn+i))
	}
	want, _ := v.read(t, nil, query.Options{})
	if len(want) < 20 {
		t.Fatalf("%d rows", len(want))
	}
	if got := pages(t, v, nil, 3); !slices.Equal(got, want) {
		t.Errorf("by pages %v\nwant %v", got, want)
	}
}

// TestKeysThatCannotAnswerAreNamed checks that a question that one of the keys cannot answer is refused, with the key named.
func TestKeysThatCannotAnswerAreNamed(t *testing.T) {
	first := visitKey(t, `user + "|" + desc(at, ms) + id`)
	user := map[string]rowkey.Bound{"user": {Equal: rowkey.TextValue("u")}}
	for _, tt := range []struct{ second, want string }{
		{`salt(4, user) + user + "|" + desc(at, ms) + id`, ""},
		{`user + "|" + desc(at, ms)`, ""},
		{`user + "|" + desc(at, s) + id`, `rows of versions from 0 on have the key user + "|" + desc(at, ms) + id, those from 1000 on user + "|" + desc(at, s) + id: what these conditions leave open is ordered differently`},
		{`page + "|" + user`, `the key of versions from 1000 on: `},
	} {
		table := query.Table{Name: "t", Keys: rowkey.Keys{{Key: first}, {From: turn, Key: visitKey(t, tt.second)}}}
		err := table.CheckToken(user, "")
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v", tt.second, err)
		}
	}
}

// TestTokensOutliveAKey checks that a token stays valid when the table gets another key, and that a token of a key that the table does not
// have is refused.
func TestTokensOutliveAKey(t *testing.T) {
	keys := twoKeys(t)
	before, now := query.Table{Name: "t", Keys: keys[:1]}, query.Table{Name: "t", Keys: keys}
	row, err := keys[0].Key.Append(nil, []rowkey.Value{rowkey.TextValue("u"), {Type: rowkey.Time, Int: 5}, rowkey.TextValue("i")})
	if err != nil {
		t.Fatal(err)
	}
	token := before.Token(query.Row{Key: row})
	if token != now.Token(query.Row{Key: row}) || now.CheckToken(nil, token) != nil {
		t.Errorf("%s: %v", token, now.CheckToken(nil, token))
	}
	newer := now.Token(query.Row{Key: row, From: turn})
	if err := before.CheckToken(nil, newer); err == nil || !strings.Contains(err.Error(), "belongs to a table with another key") {
		t.Errorf("the token of a key that is not there: %v", err)
	}
	if err := now.CheckToken(nil, newer[:len(newer)-1]+"-"); err == nil {
		t.Error("a damaged token is taken")
	}
}
