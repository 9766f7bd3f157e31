package ingest

import (
	"context"
	"fmt"
	"time"
)

// ReplayOptions say what to read again. Of Options, what concerns membership of a group, and Start, is not used;
// Group names the live group, which is not touched.
type ReplayOptions struct {
	Options
	Name       string   // progress is kept in the group Options.Group + ".replay." + Name; the same name goes on where it was
	From       Position // default Earliest
	To         Position // up to, and without; default Latest, as it is when the replay begins
	Partitions []int    // nil: all

	// Progress is called about every second and at the end. May be nil.
	Progress func(ReplayProgress)
}

// ReplayProgress is how far a replay is.
type ReplayProgress struct {
	Done, Left int64         // offsets, over all partitions
	Rate       float64       // offsets per second, over the last interval
	ETA        time.Duration // Left at the mean rate so far; −1 when that is 0
	Status     Status
}

// Replay reads a range of a topic again, on the same path as the live loop: the same decoding, the same writer, the same
// dead letters. Since every write means the same however often it is applied, it may run beside the live loop, be killed
// and resumed, and be run twice.
//
// It is no member of a group. Two processes that run a replay of one name at the same time do no harm to the data, but
// each moves the other's progress.
type Replay struct {
	*runner
	asked ReplayOptions
}

// NewReplay checks the options.
func NewReplay(o ReplayOptions) (*Replay, error) {
	setDefault(&o.OutOfRange, FromEarliest) // what is gone is said by the plan, or by Hooks.Skipped
	o.EnsureDefaults()
	if o.To.String() == Earliest.String() {
		o.To = Latest
	}
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("ingest: %w", err)
	}
	if o.Name == "" {
		return nil, fmt.Errorf("ingest: Name is empty; a replay's progress is kept under it")
	}
	o.Hooks.fill()
	return &Replay{runner: newRunner(&o.Options), asked: o}, nil
}

func (r *Replay) progressGroup() string { return r.Group + ".replay." + r.asked.Name }

// rangeText is the range in the words of the one who asked.
func (r *Replay) rangeText() string {
	s := r.asked.From.String() + " to " + r.asked.To.String()
	if r.asked.Partitions != nil {
		s += fmt.Sprintf(" of partitions %v", r.asked.Partitions)
	}
	return s
}

// Plan finds out what a Run would read. It changes nothing.
func (r *Replay) Plan(ctx context.Context) (Plan, error) {
	r.cluster = r.newCluster()
	defer r.cluster.close()
	var plan Plan
	err := r.cluster.patiently(ctx, func() (err error) {
		plan, err = r.plan(ctx)
		return err
	})
	return plan, err
}

// Run replays until the range is settled, and gives what it has planned. When ctx ends first it settles what is out, saves
// the progress and returns ctx's error; a Run of the same name then goes on.
func (r *Replay) Run(ctx context.Context) (Plan, error) {
	r.cluster = r.newCluster()
	defer r.cluster.close()
	if err := r.connect(ctx); err != nil {
		return Plan{}, err
	}
	plan, err := r.plan(ctx)
	if err != nil {
		return plan, fmt.Errorf("ingest: %w", err)
	}
	a := r.assign(ctx, plan)
	if err := a.commit(plan.starts()); err != nil { // before the first record: a resumed replay needs the range
		return plan, fmt.Errorf("ingest: %w", err)
	}
	done := make(chan struct{})
	reported := make(chan struct{})
	go func() {
		defer close(reported)
		r.report(a, plan, done)
	}()
	a.run(context.Background(), ctx)
	close(done)
	<-reported
	if left := a.left(plan); left > 0 {
		return plan, fmt.Errorf("ingest: replay %q ends with %d offsets left: %w", r.asked.Name, left, context.Cause(ctx))
	}
	return plan, nil
}

// assign makes a partition of each part of the plan that is not done yet. Its commits carry the plan.
func (r *Replay) assign(ctx context.Context, plan Plan) *assignment {
	a := &assignment{runner: r.runner, committed: map[int]int64{}}
	parts := map[int]PartitionPlan{}
	for _, part := range plan.Partitions {
		parts[part.Partition] = part
		a.committed[part.Partition] = part.Next
		a.partitions = append(a.partitions, r.partition(part.Partition, part.To, func(context.Context) (int64, error) { return part.Next, nil }))
	}
	a.commit = func(offsets map[int]int64) error {
		commits := map[int]commit{}
		for id, offset := range offsets {
			c, err := parts[id].saved(r.rangeText(), offset)
			if err != nil {
				return err
			}
			commits[id] = c
		}
		return r.cluster.commit(context.WithoutCancel(ctx), plan.Group, r.Topic, commits)
	}
	return a
}

// report calls Progress until done.
func (r *Replay) report(a *assignment, plan Plan, done <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	began, total := time.Now(), plan.Left()
	before, at := total, began
	for ended := false; !ended; {
		select {
		case <-tick.C:
		case <-done:
			ended = true
		}
		if r.asked.Progress == nil {
			continue
		}
		now, left := time.Now(), a.left(plan)
		p := ReplayProgress{Done: total - left, Left: left, ETA: -1, Status: a.status()}
		if span := now.Sub(at).Seconds(); span > 0 {
			p.Rate = float64(before-left) / span
		}
		if p.Done > 0 {
			p.ETA = time.Duration(float64(now.Sub(began)) / float64(p.Done) * float64(left))
		}
		before, at = left, now
		r.asked.Progress(p)
	}
}

// left is the number of offsets of the plan that are not settled yet.
func (a *assignment) left(plan Plan) (n int64) {
	for i, p := range a.partitions {
		n += max(0, plan.Partitions[i].To-max(p.mark.edge(), plan.Partitions[i].Next))
	}
	return n
}
