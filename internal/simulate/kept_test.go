package simulate

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"brine/internal/testenv"
)

// Plans that have found something are kept in a file, one line of JSON each, and are run many times ever after, because a plan does not
// determine the interleaving. They are kept whole, because what a seed draws changes with Draw.
const keptPlans = "testdata/seeds.txt"

// keep adds a plan to the file, below its findings.
func keep(r *Report) error {
	f, err := os.OpenFile(keptPlans, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	plan, err := json.Marshal(r.Plan)
	if err == nil {
		_, err = fmt.Fprintf(f, "# %.200q\n%s\n", r.Findings[0], plan)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

func kept(t *testing.T) (plans []*Plan) {
	t.Helper()
	f, err := os.Open(keptPlans)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		p := new(Plan)
		if err := json.Unmarshal([]byte(line), p); err != nil {
			t.Fatalf("%s: %v", keptPlans, err)
		}
		plans = append(plans, p)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return plans
}

// What was found once is not found again.
func TestKeptSeeds(t *testing.T) {
	times := 10
	if testing.Short() || testenv.Race {
		times = 1
	}
	for _, p := range kept(t) {
		t.Run(fmt.Sprint(p.Seed), func(t *testing.T) {
			t.Parallel()
			for range times {
				if held(t, run(t, p, Bug{})); t.Failed() {
					return
				}
			}
		})
	}
}
