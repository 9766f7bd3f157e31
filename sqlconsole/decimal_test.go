package sqlconsole_test

import (
	"context"
	"iter"
	"strings"
	"testing"
	"time"

	"brine/event"
	"brine/query"
	"brine/sqlconsole"
)

// money is a store of rows with one decimal each.
type money []string

func (m money) Select(_ context.Context, _ *query.Selection) iter.Seq2[query.Selected, error] {
	return func(yield func(query.Selected, error) bool) {
		for _, text := range m {
			v, ok := event.DecimalValue(text)
			if !ok {
				panic("BUG: " + text + " is no decimal")
			}
			if !yield(query.Selected{Row: query.Row{Fields: []query.Field{{Name: "n", Value: v}}}}, nil) {
				return
			}
		}
	}
}

func (money) Regions(context.Context, *query.Selection) (touched, all int, err error) {
	return 0, 0, nil
}

// TestDecimalsAreSummedExactly checks that decimals are not summed as floating point, and have as many places as their values, or six more
// in a mean.
func TestDecimalsAreSummedExactly(t *testing.T) {
	_, catalog := load(t, "visits")
	for i := range catalog.Tables[0].Columns {
		if c := &catalog.Tables[0].Columns[i]; c.Field == "n" {
			c.Type = event.Decimal
		}
	}
	big := strings.Repeat("9", 38)
	for _, c := range []struct {
		values    money
		want, err string
	}{
		{money{"0.1", "0.2"}, "0.3,0.15,0.1,0.2", ""},
		{money{"10000000000000000000.01", "0.01", "-10000000000000000000.01"}, "0.01,0.00333333,-10000000000000000000.01,10000000000000000000.01", ""},
		{money{"1.50", "1.5", "3"}, "6.00,2,1.50,3", ""},
		{money{"1", "0", "0"}, "1,0.333333,0,1", ""},
		{money{big}, big + "," + big + "," + big + "," + big, ""},
		{money{big, "1"}, "", "does not fit 38 digits"},
		{nil, "-,-,-,-", ""},
	} {
		s, err := sqlconsole.Parse("SELECT SUM(n), AVG(n), MIN(n), MAX(n) FROM visits ALLOW FULL SCAN")
		if err != nil {
			t.Fatal(err)
		}
		p, err := catalog.Plan(s, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		a, err := sqlconsole.Run(t.Context(), c.values, p, sqlconsole.Limits{})
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%v: %v", c.values, err)
		case c.err == "" && err != nil:
			t.Errorf("%v: %v", c.values, err)
		case c.err == "" && line(a.Rows[0]) != c.want:
			t.Errorf("%v: %s, want %s", c.values, line(a.Rows[0]), c.want)
		}
	}
}
