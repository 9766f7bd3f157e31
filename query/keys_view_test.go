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
	"brine/sink"
)

// visitView is the view of a user's visits, newest first, over a table with these keys.
func visitView(t testing.TB, table query.Table) query.View {
	t.Helper()
	v := query.View{Name: "visits", Table: table, Where: []query.Arg{{Field: "user"}}, Optional: []query.Arg{{Field: "at", Range: true}}, Order: query.Newest, Limit: 3}
	if err := v.Check(); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestATimelineOfTwoKeys asks a view of a table with two keys and one of a table that always had the second, page by page, and opens the
// whole rows that they show.
func TestATimelineOfTwoKeys(t *testing.T) { onBoth(t, timelineOfTwoKeys) }

func timelineOfTwoKeys(t *testing.T, client *hbase.Client) {
	keys := twoKeys(t)
	two, one := newVisits(t, client, "two", sink.RowEntity, keys), newVisits(t, client, "one", sink.RowEntity, rowkey.One(keys.Newest()))
	changes := randomVisits(rand.New(rand.NewPCG(14, 8)), 250)
	two.write(t, changes...)
	one.write(t, changes...)
	for _, asked := range [][]string{{"user=u3"}, {"user=u3", "at=1970-01-01T00:00:00.004Z..1970-01-01T00:00:00.015Z"}} {
		want, _ := askAll(t, client, visitView(t, one.reads), asked...)
		got, under := askAll(t, client, visitView(t, two.reads), asked...)
		if !slices.Equal(got, want) || under[0] == 0 || under[turn] == 0 {
			t.Errorf("%v: two keys, of which rows are %v, give\n%s\none gives\n%s", asked, under, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// askAll reads an answer by its pages and each row whole, and counts rows by the key that found them.
func askAll(t *testing.T, client *hbase.Client, v query.View, asked ...string) (all []string, under map[int64]int) {
	t.Helper()
	reader, err := query.Open(v, client, nil)
	if err != nil {
		t.Fatal(err)
	}
	under = map[int64]int{}
	for after := query.Cursor(""); ; {
		page, err := reader.Page(t.Context(), query.Request{Args: asked, After: after})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range page.Rows {
			whole, err := reader.Whole(t.Context(), f.Row)
			if err != nil || rowText(whole[0]) != rowText(f.Row) {
				t.Fatalf("whole %v, %v; the page shows %v", whole, err, f.Row)
			}
			all = append(all, rowText(f.Row))
			under[f.From]++
		}
		if after = page.Next; after == "" {
			return all, under
		}
	}
}

// TestViewsAreJudgedByEachKey checks that a view is refused, with the key named, if any key cannot answer it or has another order.
func TestViewsAreJudgedByEachKey(t *testing.T) {
	newest := visitKey(t, `salt(4, user) + user + "|" + desc(at, ms) + id`)
	for older, want := range map[string]string{
		`user + "|" + desc(at, ms) + id`:              "",
		`user + "|" + desc(at, ms)`:                   "",
		`user + "|" + asc(at, ms) + id`:               `rows of versions from 0 on have the key user + "|" + asc(at, ms) + id, those from 1000 on`,
		`page + "|" + user + "|" + desc(at, ms) + id`: `the key of versions from 0 on: the key page + "|" + user + "|" + desc(at, ms) + id has page before user`,
		`md5(user, 4) + fixed(id, 2) + desc(at, ms)`:  `what these conditions leave open is ordered differently`,
	} {
		v := query.View{Name: "visits", Where: []query.Arg{{Field: "user"}}, Order: query.Newest,
			Table: query.Table{Name: "t", Keys: rowkey.Keys{{Key: visitKey(t, older)}, {From: turn, Key: newest}}}}
		if err := v.Check(); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", older, err)
		}
	}
	v := query.View{Name: "visits", Where: []query.Arg{{Field: "user"}, {Field: "id"}}, Order: query.Newest,
		Table: query.Table{Name: "t", Keys: rowkey.Keys{{Key: visitKey(t, `user + "|" + id + "|" + asc(at, ms)`)}, {From: turn, Key: visitKey(t, `id + "|" + user + "|" + asc(at, ms)`)}}}}
	if err := v.Check(); err == nil || !strings.Contains(err.Error(), `the key user + "|" + id + "|" + asc(at, ms) returns the oldest first`) {
		t.Errorf("the other order under both: %v", err)
	}
}

// TestRowsOfOneHourAreNotInTheOrderOfTheirTimes reads rows whose key holds the time in hours, which come in the order of what follows it,
// and checks that a view which promises another order is refused.
func TestRowsOfOneHourAreNotInTheOrderOfTheirTimes(t *testing.T) { onBoth(t, rowsOfOneHour) }

func rowsOfOneHour(t *testing.T, client *hbase.Client) {
	for key, want := range map[string]struct{ notes, refused string }{
		`user + "|" + desc(at, hour) + id`:               {"7200000 3900000 3700000 3800000 100", "returns the rows of one hour in the order of id, not of at; remove order, or write desc(at, ms) before id"},
		`salt(4, user) + user + "|" + desc(at, ms) + id`: {"7200000 3900000 3800000 3700000 100", ""},
	} {
		v := newVisits(t, client, "hours"+key[:1], sink.RowEvent, rowkey.One(visitKey(t, key)))
		for i, at := range []int{7_200_000, 3_900_000, 3_700_000, 3_800_000, 100} {
			v.write(t, fmt.Sprintf(`{"user":"u","at":%d,"id":"i%d","v":1,"note":"%[1]d"}`, at, i))
		}
		view := query.View{Name: "visits", Table: v.reads, Where: []query.Arg{{Field: "user"}}}
		reader, err := query.Open(view, client, nil)
		if err != nil {
			t.Fatal(err)
		}
		page, err := reader.Page(t.Context(), query.Request{Args: []string{"user=u"}})
		if err != nil {
			t.Fatal(err)
		}
		var notes []string
		for _, f := range page.Rows {
			for _, field := range f.Fields {
				if field.Name == "note" {
					notes = append(notes, string(field.Value.Text()))
				}
			}
		}
		if got := strings.Join(notes, " "); got != want.notes {
			t.Errorf("%s: rows of %s, want %s", key, got, want.notes)
		}
		view.Order = query.Newest
		if err := view.Check(); want.refused == "" && err != nil || want.refused != "" && (err == nil || !strings.Contains(err.Error(), want.refused)) {
			t.Errorf("%s, newest first: %v", key, err)
		}
	}
}
