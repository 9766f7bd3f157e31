package plan_test

import (
	"fmt"
	"testing"

	"brine/plan"
)

func TestTiesOfASample(t *testing.T) {
	type change struct {
		row     string
		version int64
		column  string
		value   string
	}
	for _, c := range []struct {
		name    string
		events  bool
		changes []change
		want    string
	}{
		{"none", false, []change{{"a", 1, "s", "x"}, {"a", 2, "s", "y"}, {"b", 1, "s", "y"}, {"a", 1, "t", "y"}}, "0 "},
		{"the same again", false, []change{{"a", 1, "s", "x"}, {"a", 1, "s", "x"}}, "0 "},
		{"one", false, []change{{"a", 1, "s", "x"}, {"a", 1, "s", "x"}, {"a", 1, "s", "y"}}, "1 a@1 0 2"},
		{"two columns of one row", false, []change{{"b", 1, "s", "x"}, {"a", 1, "s", "x"}, {"a", 1, "t", "x"}, {"a", 1, "t", "y"}, {"a", 1, "s", "y"}}, "1 a@1 2 3"},
		{"two rows", false, []change{{"a", 1, "s", "x"}, {"b", 1, "s", "x"}, {"b", 1, "s", "y"}, {"a", 1, "s", "y"}, {"a", 1, "s", "z"}}, "2 b@1 1 2"},
		{"rows of events", true, []change{{"a", 1, "s", "x"}, {"a", 1, "s", "y"}}, "0 "},
	} {
		t.Run(c.name, func(t *testing.T) {
			for workers := range 3 { // each has every nth of the events
				var tallies []*plan.Tally
				for range workers + 1 {
					tallies = append(tallies, plan.NewTally(plan.Table{Name: "t", Key: userKey(t, "user"), EventRows: c.events, Families: []plan.Family{{Name: "f"}}}))
				}
				for i, ch := range c.changes {
					tally := tallies[len(tallies)-1-i%len(tallies)]
					tally.Add(int64(i), []byte(ch.row), fmt.Append(nil, i))
					tally.AddCells(int64(i), []byte(ch.row), ch.version, []plan.Cell{{Family: "f", Qualifier: ch.column, Value: []byte(ch.value)}})
				}
				for _, o := range tallies[1:] {
					tallies[0].Merge(o)
				}
				f := forecast(t, tallies[0], 0)
				got := fmt.Sprint(f.Ties, " ")
				if f.FirstTie != nil {
					got += fmt.Sprintf("%s@%d %d %d", f.FirstTie.Row, f.FirstTie.Version, f.FirstTie.Events[0], f.FirstTie.Events[1])
				}
				if got != c.want {
					t.Errorf("%d workers: %q, expected %q", workers+1, got, c.want)
				}
			}
		})
	}
}
