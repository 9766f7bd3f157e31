// Command pipeline runs brine, several processes of it, from a real Kafka into a real HBase while both and brine itself are broken
// again and again, and then asks whether anything was lost, doubled or put in the place of something newer. `make chaos` runs it;
// nothing imports it.
//
// The servers are this run's alone. Three tracks of faults run side by side for as long as events are published: one breaks brine's
// processes, one those of Kafka and HBase, one moves, splits and disables what HBase holds. What is played is drawn by the seed; a
// fault that hits while another track's lasts is wanted.
//
// Read chaos.yaml (what brine runs), input.go (the events, a few of which cannot be written), kinds.go and package fault (the faults),
// members.go and member.go (brine's processes), groups.go and commits.go (what they commit), run.go (the whole), judge.go (what is
// asked afterwards: brine's own verify, an undisturbed run of the same topics, HBase's Java client), report.go. It ends with a line
// per target, `name value target ok|short`, and exits with 1 when one is short.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"brine/bench/measure"
)

func main() {
	r := run{Began: time.Now()}
	var only string
	flag.Uint64Var(&r.Seed, "seed", uint64(time.Now().UnixNano()), "decides the order of the faults and what they hit")
	flag.IntVar(&r.Members, "members", 3, "brine processes")
	flag.DurationVar(&r.publishing, "publish", 14*time.Minute, "time over which the events are published; faults begin in it")
	flag.IntVar(&r.events, "events", 1<<30, "most events of a topic")
	flag.StringVar(&only, "faults", "", "only these kinds, with a comma between them")
	limit := flag.Duration("limit", 45*time.Minute, "longest time for everything: faults, verify, and the undisturbed run")
	flag.StringVar(&r.logs, "logs", "", "folder that keeps the logs of brine's processes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, *limit, fmt.Errorf("not done after %v (-limit)", *limit))
	defer cancel()
	err := measure.Recordable()
	if err == nil {
		err = r.main(ctx, only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		stop()
		os.Exit(1)
	}
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
