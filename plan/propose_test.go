package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"brine/plan"
	"brine/rowkey"
)

// orders returns a tally of rows orders, one second apart, of the users that user returns.
func orders(t *testing.T, expr string, rows int, splits []string, user func(i int) string) *plan.Tally {
	t.Helper()
	key, err := rowkey.Parse(expr, []rowkey.Field{{Name: "at", Type: rowkey.Time}, {Name: "user", Type: rowkey.Text}, {Name: "order", Type: rowkey.Text}})
	if err != nil {
		t.Fatal(err)
	}
	table := plan.Table{Name: "t", Key: key}
	for _, s := range splits {
		table.Splits = append(table.Splits, []byte(s))
	}
	tally := plan.NewTally(table)
	for i := range rows {
		fields := map[string]rowkey.Value{"at": rowkey.TimeValue(1_748_736_000_000 + int64(i/3)*1000), "user": rowkey.TextValue(user(i)), "order": rowkey.TextValue(fmt.Sprintf("G%06d", i))}
		var values []rowkey.Value
		for _, name := range key.Fields() {
			values = append(values, fields[name])
		}
		row, err := key.Append(nil, values)
		if err != nil {
			t.Fatal(err)
		}
		tally.Add(int64(i), row, nil)
	}
	return tally
}

func TestWhatIsNotProposed(t *testing.T) {
	many := func(i int) string { return fmt.Sprint("u", i) }
	for _, tt := range []struct {
		name, expr string
		rows       int
		splits     []string
		user       func(i int) string
		regions    int
		proposed   int    // regions; 0 for no proposal
		advice     string // rules
		fix        string // of the first advice
	}{
		{name: "more regions than buckets, then a time", expr: `salt(4, order) + asc(at, s) + order`, rows: 20_000, user: many,
			regions: 8, proposed: 4, advice: "split-in-time", fix: "write salt(8, order)"},
		{name: "a time first", expr: `desc(at, ms) + order`, rows: 20_000, user: many,
			regions: 4, proposed: 0, advice: "newest-region", fix: "begin it with md5(order, 4), or with salt(16, order)"},
		{name: "one user's times", expr: `user + "|" + desc(at, ms) + order`, rows: 20_000, user: func(i int) string { return fmt.Sprint("u", i*(i%2)) },
			regions: 4, proposed: 3, advice: "split-in-time large-value", fix: "begin the key with salt(N, …)"},
		{name: "few rows of a hash", expr: `md5(user, 4) + user`, rows: 30, user: many, splits: []string{"4", "8", "c"},
			proposed: 4, advice: "few-rows", fix: "sample 80 or more"},
		{name: "few rows without one", expr: `user`, rows: 30, user: many, regions: 4, advice: "few-rows", fix: "sample 80 or more"},
		{name: "few users, each with many rows", expr: `md5(user, 4) + user + "|" + order`, rows: 20_000, user: func(i int) string { return fmt.Sprint("u", i%5) },
			splits: []string{"4", "8", "c"}, proposed: 4, advice: "few-values large-value", fix: "sample 80 or more, with as many different values"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := forecast(t, orders(t, tt.expr, tt.rows, tt.splits, tt.user), tt.regions)
			proposed := 0
			if f.Proposed != nil {
				proposed = len(f.Proposed.Regions)
			}
			if proposed != tt.proposed || rules(f) != tt.advice {
				t.Fatalf("%d regions proposed, advice %+v; want %d, %s", proposed, f.Advice, tt.proposed, tt.advice)
			}
			if !strings.Contains(f.Advice[0].Fix, tt.fix) {
				t.Errorf("fix %q, want %q", f.Advice[0].Fix, tt.fix)
			}
		})
	}
}
