package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/service"
)

// TestRunPrintsUndeclaredFields checks that run --json ends with the fields that records have beside the declared ones, and that it has none
// to print if there are none.
func TestRunPrintsUndeclaredFields(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	ended := func() (s service.Summary, line string) {
		for line = range strings.Lines(j.must("run", "-c", j.file, "--until-end", "--json")) {
			if strings.Contains(line, `"result":`) {
				if err := json.Unmarshal([]byte(line), &s); err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				return s, line
			}
		}
		t.Fatal("there is no summary")
		return s, ""
	}
	send := func(i int, more string) {
		const at = 1_700_000_000_000
		j.sendAt(0, fmt.Sprintf(`{"waybill":"W%d","action":"A","at":%d,"station":"X"%s}`, i, at, more), time.UnixMilli(at))
	}
	send(0, "")
	if s, line := ended(); s.Undeclared != nil || strings.Contains(line, "undeclared") || strings.Contains(line, "looked_at") {
		t.Errorf("without any it ends with %s", line)
	}
	for i := range 65 { // one in 64 is looked at, beginning with the first
		more := `,"note":1,"parcel":{"g":5}`
		if i == 64 {
			more += `,"new":true`
		}
		send(i, more)
	}
	s, line := ended()
	if diff := cmp.Diff(map[string]int64{"note": 2, "parcel": 2, "new": 1}, s.Undeclared); diff != "" || s.LookedAt != 2 {
		t.Errorf("of %d (-want +got):\n%s\n%s", s.LookedAt, diff, line)
	}
}
