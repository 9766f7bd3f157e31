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
	const phone = "13800138000x"
	onStacks(t, ordersExample, func(t *testing.T, j *job) {
		const before, now = "    let: { number: { type: int, value: int(payment) } }\n", "    let: { number: { type: int, value: int(status) } }\n"
		j.replace("    rows:", before+"    rows:")
		at := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
		j.sendAll([]sent{{time: at, key: []byte("k"),
			value: fmt.Appendf(nil, `{"order":"O1","user":"u","created":%d,"at":%[1]d,"status":"paid","payment":%q}`, at.UnixMilli(), phone)}})
		j.must("run", "-q", "-c", j.file, "--until-end")
		shows := [][]string{{"deadletters", "ls"}, {"deadletters", "ls", "--json"}, {"deadletters", "show", "0:0"}, {"explain", j.topic, "0", "0"},
			{"explain", j.topic, "0", "0", "--json"}}
		shown := func() (with []string) {
			for _, args := range shows {
				if out := j.output(append(args, "-c", j.file)...); strings.Contains(out, phone) {
					with = append(with, fmt.Sprint(args))
				}
			}
			return with
		}
		j.replace("    rows:", "    mask: [user]\n    rows:")
		if with := shown(); len(with) == 0 {
			t.Error("nothing shows what the expression of the configuration says, although it reads nothing that is masked")
		}
		j.replace(before, now)
		j.replace("mask: [user]", "mask: [payment]")
		if with := shown(); len(with) > 0 {
			t.Errorf("%v show what another expression said of what is masked", with)
		}
	})
}
