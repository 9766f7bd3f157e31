package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/bench/measure"
)

// tally adds up the runs of many seeds.
type tally struct {
	want  int
	began time.Time

	mu        sync.Mutex
	runs      int
	failed    []*Report
	counts    Counts
	simulated time.Duration
	caughtUp  time.Duration // the longest
	kinds     map[string]int
	said      time.Time
}

func newTally(want int) *tally {
	return &tally{want: want, began: time.Now(), said: time.Now(), kinds: map[string]int{}}
}

// add takes a run in, and says now and then how far it has come.
func (y *tally) add(r *Report, say func(string)) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.runs++
	y.counts.Add(r.Counts)
	y.simulated += r.Simulated
	y.caughtUp = max(y.caughtUp, r.CaughtUp)
	for _, f := range r.Plan.Faults {
		y.kinds[f.Kind]++
	}
	if len(r.Findings) > 0 {
		y.failed = append(y.failed, r)
	}
	if time.Since(y.said) >= 10*time.Second || y.runs == y.want {
		y.said = time.Now()
		took := time.Since(y.began)
		left := time.Duration(float64(took) / float64(y.runs) * float64(y.want-y.runs))
		say(fmt.Sprintf("%d of %d seeds, %.1f a second, %v left, %d failed", y.runs, y.want, float64(y.runs)/took.Seconds(), left.Round(time.Second), len(y.failed)))
	}
}

// page is the tally for docs/reliability.md.
func (y *tally) page(command string) string {
	var b strings.Builder
	on := measure.NewReport("simulate")
	faults := 0
	for _, n := range y.kinds {
		faults += n
	}
	fmt.Fprintf(&b, "%s, %s, commit %s; `%s`: %d seeds, %.1f days simulated in %v, %d faults, %d failed.\n\n",
		on.Machine, on.Date, on.Commit, command, y.runs, y.simulated.Hours()/24, time.Since(y.began).Round(time.Minute), faults, len(y.failed))
	c := y.counts
	fmt.Fprintf(&b, "%d records came in and were submitted %d times, %d of them again by the loop; %d became dead letters. Processes had %d lives, partitions were assigned %d times, %d flights were abandoned, "+
		"%d partitions halted for a while, and %d commits were made, of which %d failed. The longest time from the end of the faults to no lag was %v, of %v allowed. %d rows were shared by two events; the undisturbed runs told of %d.\n\n",
		c.Records, c.Submitted, c.Retried, c.Letters, c.Lives, c.Assignments, c.Abandoned, c.Halted, c.Commits, c.CommitsFailed, y.caughtUp, catchUp, c.Shared, c.Told)
	b.WriteString("| fault | times |\n|---|---|\n")
	for _, kind := range slices.Sorted(maps.Keys(y.kinds)) {
		fmt.Fprintf(&b, "| %s | %d |\n", kind, y.kinds[kind])
	}
	slices.SortFunc(y.failed, func(a, b *Report) int { return cmp.Compare(a.Plan.Seed, b.Plan.Seed) })
	for _, r := range y.failed {
		fmt.Fprintf(&b, "\nSeed %d: %s", r.Plan.Seed, r.Findings[0])
	}
	if len(y.failed) > 0 {
		b.WriteString("\n")
	}
	return b.String()
}
