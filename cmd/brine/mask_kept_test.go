package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestWhatAnotherExpressionSaidIsMasked: a dead letter quotes what its expression read. If both the expression and the mask have changed
// since, today's expression does not show whether that is masked by now. What today's expression says itself is shown.
func TestWhatAnotherExpressionSaidIsMasked(t *testing.T) {
	t.Parallel()
	const number = "13800138"
	onStacks(t, ordersExample, func(t *testing.T, j *job) {
		const before = "    let: { short: \"status.substring(0, lines)\" }\n" // whose fault quotes lines
		const now = "    let: { short: \"status.substring(0, 1)\" }\n"
		j.replace("    rows:", before+"    rows:")
		at := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
		j.sendAll([]sent{{time: at, key: []byte("k"),
			value: fmt.Appendf(nil, `{"order":"O1","user":"u","created":%d,"at":%[1]d,"status":"paid","lines":%s}`, at.UnixMilli(), number)}})
		j.must("run", "-q", "-c", j.file, "--until-end")
		shows := [][]string{{"deadletters", "ls"}, {"deadletters", "ls", "--json"}, {"deadletters", "show", "0:0"}, {"explain", j.topic, "0", "0"},
			{"explain", j.topic, "0", "0", "--json"}}
		shown := func() (with []string) {
			for _, args := range shows {
				if out := j.output(append(args, "-c", j.file)...); strings.Contains(out, number) {
					with = append(with, fmt.Sprint(args))
				}
			}
			return with
		}
		j.replace("    rows:", "    mask: [user]\n    rows:")
		if with := shown(); len(with) < len(shows) {
			t.Error("nothing shows what the expression of the configuration says, although it reads nothing that is masked")
		}
		j.replace(before, now)
		j.replace("mask: [user]", "mask: [lines]")
		if with := shown(); len(with) > 0 {
			t.Errorf("%v show what another expression said of what is masked", with)
		}
	})
}
