package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestChangesThatTieAreReported has two orders with two changes in one millisecond, one of them sent twice. check predicts the ties, run
// warns about them, and verify counts the rows and documents that depend on them. None of them fails because of it.
func TestChangesThatTieAreReported(t *testing.T) {
	t.Parallel()
	j := newJobOf(t, embeddedStack(t), ordersExample)
	const at = 1_700_000_000_000
	send := func(partition int, order, status string, at int64) {
		j.sendAt(partition, fmt.Sprintf(`{"order":%q,"user":"u1","created":%d,"at":%d,"status":%q}`, order, 1_700_000_000_000, at, status), time.UnixMilli(at))
	}
	send(0, "O1", "created", at)
	send(0, "O1", "paid", at)
	send(0, "O1", "created", at) // redelivered
	send(1, "O2", "created", at)
	send(1, "O2", "paid", at)
	send(2, "O3", "created", at)
	send(2, "O3", "paid", at+1)
	send(2, "O3", "paid", at+1)

	checked := strings.Join(strings.Fields(j.must("check", "--connect", j.file)), " ")
	for _, want := range []string{"changes with the same version tie", "2 rows of " + j.table, "partition 0, offset 0, and partition 0, offset 1", "seq(at, n)", "[version-ties]"} {
		if !strings.Contains(checked, want) {
			t.Errorf("check does not say %q:\n%s", want, checked)
		}
	}
	ran := j.must("run", "-c", j.file, "--until-end", "--json")
	if n := strings.Count(ran, "changes tie in their version"); n != 1 {
		t.Errorf("%d warnings, expected one a minute:\n%s", n, ran)
	}
	if !strings.Contains(ran, "topic="+j.topic) || !strings.Contains(ran, `"ties":2`) {
		t.Errorf("run does not say how many tie, and which:\n%s", ran)
	}
	r, _ := j.verified(0, "--full")
	if r.Problems != 0 || r.Ties != 4 || r.Tables[0].Ties != 2 || r.Tables[1].Ties != 2 {
		t.Errorf("verify says %+v", r)
	}
}
