package pipeline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"brine/bench/chaos/fault"
)

// breakAll publishes everything, with faults all the while, and returns once the last one has healed.
func (r *run) breakAll(ctx context.Context, began time.Time) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	publishing, published := context.WithCancel(ctx)
	defer published()
	var all, topics sync.WaitGroup
	for _, in := range r.Inputs {
		topics.Go(func() {
			if err := r.publish(ctx, in); err != nil {
				cancel(err)
			}
		})
	}
	all.Go(func() {
		topics.Wait()
		published()
	})
	if err := fault.Until(ctx, func() bool { _, at := r.groups.now(); return !at.IsZero() }); err != nil { // the topics exist
		return err
	}
	for i := range r.Members {
		r.members.start("brine-" + strconv.Itoa(i+1))
	}
	for i := range r.tracks {
		all.Go(func() {
			if err := r.play(ctx, publishing, i, began); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// refuses is brine's exit code if it refuses to do what it is asked, which a retry cannot help.
const refuses = 2

// publish publishes all events of a topic at a constant rate. If the broker is away for long, publish restarts, which publishes none twice.
func (r *run) publish(ctx context.Context, in *input) error {
	rate := strconv.Itoa(max(1, int(float64(in.Events)/r.publishing.Seconds())))
	for {
		cmd := r.brine(ctx, "chaos", "publish", in.file, "--topic", in.topic, "--key", in.key, "--rate", rate)
		out, err := cmd.CombinedOutput()
		if err == nil {
			return nil
		}
		failed := fmt.Errorf("publish to %s: %w\n%s", in.topic, err, out)
		if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == refuses {
			return failed
		}
		r.mu.Lock()
		r.Republished++
		fmt.Println(failed)
		r.mu.Unlock()
		if fault.Pause(ctx, time.Second) != nil {
			return failed
		}
	}
}

// play plays the faults of a track, one after another.
func (r *run) play(ctx, publishing context.Context, i int, began time.Time) error {
	t := r.tracks[i]
	random := rand.New(rand.NewPCG(r.Seed, uint64(2+i)))
	for n := 0; len(t.plan) > 0 && fault.Pause(publishing, rest) == nil; n++ {
		name := t.plan[n%len(t.plan)]
		f := &fault.Fault{Kind: name, At: time.Since(began).Seconds(), Began: time.Now()}
		if err := r.playOne(ctx, i, t.kinds[name], f, random); err != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("%s, %s: %w", name, f.Hits, err)
			}
			f.Failed = fmt.Sprintf("the cluster did not recover within %v", patience) // whether it has is checked again at the end
		}
		r.mu.Lock()
		r.Faults = append(r.Faults, f)
		fmt.Printf("%3d %5.0f s  %-16s %-45s %5.1f s %s\n", len(r.Faults), f.At, f.Kind, f.Hits, f.Took, f.Failed)
		r.mu.Unlock()
	}
	return nil
}

// playOne plays a fault and waits until what it broke works again: always if a server was broken, otherwise for a limited time, because it
// cannot work while another track's fault lasts.
func (r *run) playOne(ctx context.Context, i int, kind fault.Kind, f *fault.Fault, random *rand.Rand) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s := &fault.Scene{Ctx: ctx, Random: random, Procs: r.procs, Admin: r.admin, Watch: r.watch, Fault: f, Middle: middle}
	s.Play(kind)
	done := time.Now()
	defer func() { f.Took = time.Since(f.Began).Seconds() }()
	if i == servers {
		r.procs.Revive(ctx, fault.Broker)
		return s.Settled(done)
	}
	before, _ := r.groups.now()
	waiting, cancel := context.WithTimeout(ctx, upheaval)
	defer cancel()
	_ = fault.Until(waiting, func() bool { // everything makes progress, or the time is over
		if i == regions {
			return s.Whole(done)
		}
		return r.groups.wentOn(before)
	})
	return nil
}

// heal makes sure that everything is whole after the last fault.
func (r *run) heal(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s := &fault.Scene{Ctx: ctx, Procs: r.procs, Watch: r.watch}
	r.procs.Revive(ctx, fault.Broker)
	return s.Settled(time.Now())
}
