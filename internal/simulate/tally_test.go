package simulate

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// tally adds up the runs of many seeds, as a piece of the results.
type tally struct {
	want  int
	began time.Time
	say   func(string)

	mu     sync.Mutex
	piece  piece
	failed []*Report
	said   time.Time
}

func newTally(first uint64, want int, say func(string)) *tally {
	return &tally{want: want, began: time.Now(), say: say, said: time.Now(), piece: piece{First: first, Last: first + uint64(want) - 1, Kinds: map[string]int{}, Formats: map[string]int{}}}
}

// add adds a run, and sometimes reports progress.
func (y *tally) add(r *Report) {
	y.mu.Lock()
	defer y.mu.Unlock()
	p := &y.piece
	p.Seeds++
	p.Counts.Add(r.Counts)
	p.Simulated += r.Simulated.Seconds()
	p.CaughtUp = max(p.CaughtUp, r.CaughtUp.Seconds())
	p.Formats[r.Plan.format()]++
	for _, f := range r.Plan.Faults {
		p.Kinds[f.Kind]++
	}
	if len(r.Findings) > 0 {
		y.failed = append(y.failed, r)
		p.Failed = append(p.Failed, failure{r.Plan.Seed, r.Findings[0]})
	}
	took := time.Since(y.began)
	p.Took = took.Seconds()
	if time.Since(y.said) >= 10*time.Second || p.Seeds == y.want {
		y.said = time.Now()
		left := time.Duration(float64(took) / float64(p.Seeds) * float64(y.want-p.Seeds))
		y.say(fmt.Sprintf("%d of %d seeds from %d on, %.1f a second, %v left, %d failed", p.Seeds, y.want, p.First, float64(p.Seeds)/took.Seconds(), left.Round(time.Second), len(y.failed)))
	}
}

// check checks that the faults had an effect, and that rows shared by two events were reported, except for those that the sink's memory had
// lost, in which one row in many thousands displaces another.
func (y *tally) check(t *testing.T) {
	t.Helper()
	p := &y.piece
	t.Logf("%d seeds, %.1f h simulated, caught up within %.1f s, %+v", p.Seeds, p.Simulated/3600, p.CaughtUp, p.Counts)
	if c := p.Counts; p.Seeds >= 300 {
		if c.Reported < c.Shared*97/100 {
			t.Errorf("10: two events share %d rows, and only %d were reported", c.Shared, c.Reported)
		}
		if min(c.Letters, c.Retried, c.CommitsFailed, c.Abandoned, c.Halted) < p.Seeds/3 || c.Submitted < c.Records*101/100 {
			t.Errorf("the faults of %d seeds are hardly felt: %+v", p.Seeds, c)
		}
		if c.Paused < p.Seeds/5 {
			t.Errorf("%d seeds had only %d pauses of processes", p.Seeds, c.Paused)
		}
		if c.Reloads < p.Seeds/2 || c.Refused < p.Seeds/10 {
			t.Errorf("%d seeds had only %d reloads and %d that were refused", p.Seeds, c.Reloads, c.Refused)
		}
		if c.Tombstones < p.Seeds {
			t.Errorf("%d seeds had only %d tombstones", p.Seeds, c.Tombstones)
		}
		if len(p.Formats) < len(encoders) {
			t.Errorf("only %d of %d formats were drawn", len(p.Formats), len(encoders))
		}
		if len(p.Kinds) < len(faults) {
			t.Errorf("only %d of %d kinds of faults were drawn", len(p.Kinds), len(faults))
		}
	}
}
