// Package pipeline runs several processes of brine from a real Kafka to a real HBase while both and brine itself are repeatedly broken, and
// then checks whether anything was lost, doubled, or written over something newer. `make chaos` runs it.
//
// The servers belong to this run alone. Three tracks of faults run side by side while events are published: one breaks brine's processes,
// one those of Kafka and HBase, and one moves, splits and disables what HBase holds. The seed draws what is played; faults of different
// tracks overlap on purpose.
//
// Read chaos.yaml (what brine runs), input.go (the events, a few of which cannot be written), kinds.go and package fault (the faults),
// members.go and member.go (brine's processes), groups.go and commits.go (what they commit), run.go (the whole), judge.go (the checks at
// the end: brine's own verify, an undisturbed run of the same topics, HBase's Java client), report.go. It ends with a line per target,
// `name value target ok|short`, and exits with 1 if any is short.
package pipeline

import (
	"context"
	"fmt"
	"time"

	"brine/bench/measure"
)

// Command is the command line.
type Command struct {
	Seed    uint64        `default:"${seed}" help:"Seed of the plan: it decides the order of the faults and what they hit."`
	Members int           `default:"3" help:"Number of brine processes."`
	Publish time.Duration `default:"14m" help:"Time over which the events are published; faults begin in it."`
	Events  int           `default:"1073741824" help:"Maximum number of events per topic."`
	Faults  string        `help:"Only these kinds of faults, comma-separated."`
	Limit   time.Duration `default:"45m" help:"Time limit for everything: faults, verify, and the undisturbed run."`
	Logs    string        `help:"Folder that keeps the logs of brine's processes."`
}

// Run breaks everything, and verifies.
func (c *Command) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.Limit, fmt.Errorf("not done after %v (--limit)", c.Limit))
	defer cancel()
	r := run{Began: time.Now(), Seed: c.Seed, Members: c.Members, publishing: c.Publish, events: c.Events, logs: c.Logs}
	return measure.Make("chaos", func() error { return r.main(ctx, c.Faults) })
}

func (r *run) main(ctx context.Context, only string) error {
	for i, kinds := range r.kinds() {
		r.tracks[i] = track{kinds: kinds, plan: kinds.Plan(r.Seed)}
	}
	if only != "" {
		if err := r.only(only); err != nil {
			return err
		}
	}
	fmt.Printf("seed %d\n", r.Seed)
	if err := r.all(ctx); err != nil {
		return err
	}
	if only != "" {
		return measure.Judge(r.targets(1, 1))
	}
	return r.finish(r.targets(60, 12))
}
