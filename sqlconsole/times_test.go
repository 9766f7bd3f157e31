package sqlconsole_test

import (
	"context"
	"iter"
	"reflect"
	"testing"
	"time"

	"brine/config"
	"brine/event"
	"brine/query"
	"brine/sqlconsole"
)

// instants is a store of one row whose key holds integers that count time.
type instants struct{ money }

func (instants) Select(context.Context, *query.Selection) iter.Seq2[query.Selected, error] {
	return func(yield func(query.Selected, error) bool) {
		yield(query.Selected{Row: query.Row{Fields: []query.Field{{Name: "id", Value: event.TextValue("a")},
			{Name: "us", Value: event.IntValue(1359619200000001)}, {Name: "day", Value: event.IntValue(15736)}}}}, nil)
	}
}

// TestTimesInKeys checks that times and dates that only the key holds, as integers, are compared with times as well as with their numbers,
// and shown as times.
func TestTimesInKeys(t *testing.T) {
	cfg, problems := config.Parse("times.yaml", []byte(`
kafka: { brokers: ["localhost:9092"] }
hbase: { connect: "rpc://localhost:16000" }
tables: { t: { row: entity, key: 'md5(id, 4) + id + "|" + asc(day, 32) + asc(us)', families: { e: {} } } }
pipelines:
  p:
    topic: t
    fields: { id: text, us: time_us, day: date, n: int }
    rows: [ { table: t, set: { "e:n": n } } ]
`), func(string) (string, bool) { return "", false })
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	catalog, err := cfg.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	plan := func(where string) *sqlconsole.Plan {
		t.Helper()
		s, err := sqlconsole.Parse("SELECT us, day FROM t WHERE id = 'a' AND " + where)
		if err != nil {
			t.Fatal(err)
		}
		p, err := catalog.Plan(s, time.Now())
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		return p
	}
	want := plan("day = 15736 AND us BETWEEN 1359590400000000 AND 1359619200000001")
	got := plan("day = '2013-01-31' AND us BETWEEN '2013-01-31' AND '2013-01-31T08:00:00.000001Z'")
	if !reflect.DeepEqual(got.Selection, want.Selection) {
		t.Errorf("got %+v, want %+v", got.Selection, want.Selection)
	}
	for where, rows := range map[string]int{"us = '2013-01-31T08:00:00.000001Z'": 1, "us > '2013-01-31T08:00:00.000001Z'": 0, "day < '2013-02-01'": 1} {
		a, err := sqlconsole.Run(t.Context(), instants{}, plan(where), sqlconsole.Limits{})
		if err != nil || len(a.Rows) != rows || rows == 1 && line(a.Rows[0]) != "2013-01-31T08:00:00.000001Z,2013-01-31" {
			t.Errorf("%s: %v, %v", where, a, err)
		}
	}
}
