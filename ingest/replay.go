package ingest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"brine/event"
	"brine/ingest/eras"
	"brine/ingest/internal/broker"
	"brine/ingest/internal/note"
	"brine/ingest/offsets"
)

// ReplayOptions say what to read again. Of Options, Start and the settings of group membership are not used. Group names the live group,
// which is left alone. Writer may be nil for a Replay that only plans.
type ReplayOptions struct {
	Options
	Name       string   // progress is kept in the group Options.Group + ".replay." + Name; the same name resumes
	From       Position // default Earliest
	To         Position // up to, and without; default Latest, at the time of planning
	Partitions []int    // nil: all
	Keys       [][]byte // only records with these keys are written; nil: all. The whole range is read
	Into       string   // where Writer writes to, if not where the live group does: part of what Name identifies
	Again      bool     // begin again, whatever is stored under Name
	Untracked  bool     // keep no progress: the replay changes nothing in Kafka and has no Name; a partition may be empty in its range

	Eras *eras.Eras // how records are read and counted, instead of by Schema and Conditions; nil: none. Writer knows them too

	Patience time.Duration // Run gives up if nothing was settled for that long; 0: never
	Cause    func() string // returns the error of the Writer's store while a first try is pending; empty if not known. nil: never known
}

// ReplayProgress is the progress of a Run.
type ReplayProgress struct {
	Elapsed    time.Duration // since Run began to read
	Partitions []PartitionProgress
}

// PartitionProgress is the progress of a Run in one partition, in offsets: an upper bound of the records. Done counts from the start of the
// Run, not of the replay.
type PartitionProgress struct {
	Partition  int
	Done, Left int64
	State      State
	Reason     event.Reason // why it is retrying, waiting or halted
	Detail     string       // the same in words
}

// Replay reads a range of a topic again, on the same path as the live loop: the same decoding, writer and dead letters. Since every write
// is idempotent, a replay may run beside the live loop, be killed and resumed, and run twice.
//
// It is not a member of a group. Two processes that run a replay of the same name at once do no harm to the data, but each moves the
// other's progress.
type Replay struct {
	*runner
	asked   ReplayOptions
	current atomic.Pointer[replaying]
}

// replaying is a Run in progress, or ended.
type replaying struct {
	*assignment
	plan  Plan
	began time.Time
}

// NewReplay validates the options.
func NewReplay(o ReplayOptions) (*Replay, error) {
	o.OutOfRange = cmp.Or(o.OutOfRange, FromEarliest) // the plan, or Hooks.Skipped, reports what is gone
	o.HaltAfterRejects = 0
	o.EnsureDefaults()
	if o.To.String() == Earliest.String() {
		o.To = Latest
	}
	if o.Writer == nil {
		o.Writer = planOnly{}
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	r := &Replay{runner: newRunner(&o.Options), asked: o}
	r.keys, r.eras = o.Keys, o.Eras
	return r, nil
}

// takes reports whether a record should be written.
func (r *runner) takes(rec *event.Record) bool {
	return r.keys == nil || slices.ContainsFunc(r.keys, func(key []byte) bool { return bytes.Equal(key, rec.Key) })
}

// planOnly is the Writer of a Replay that has none. Run refuses it.
type planOnly struct{ event.Writer }

// Validate reports all faults at once, as Options.Validate does.
func (o *ReplayOptions) Validate() error {
	faults := []error{o.Options.Validate()}
	if o.Topics != nil {
		faults = append(faults, errors.New("ingest: ReplayOptions.Topics is set, but a replay reads one topic"))
	}
	if o.Name == "" && !o.Untracked {
		faults = append(faults, errors.New("ingest: ReplayOptions.Name is empty: the progress of a replay is kept under it"))
	}
	if err := (Span{From: o.From, To: o.To}).Ordered(); err != nil && !o.Untracked {
		faults = append(faults, fmt.Errorf("ingest: %w", err))
	}
	return errors.Join(faults...)
}

// RangeName returns a Name made of what the replay reads and where it writes, so that the same range finds its progress again.
func (o *ReplayOptions) RangeName() string {
	text := o.From.String() + "_" + o.To.String()
	if o.Partitions != nil {
		text += "_p" + strings.Trim(fmt.Sprint(o.Partitions), "[]")
	}
	for _, key := range o.Keys {
		text += "_k" + string(key)
	}
	if o.Into != "" {
		text += "_into_" + o.Into
	}
	return offsets.PlainName(text)
}

func (r *Replay) progressGroup() string { return r.Group + ".replay." + r.asked.Name }

// maxRangeText bounds how much of the range is stored with each commit: brokers accept 4 KiB of metadata.
const maxRangeText = 1 << 10

// rangeText returns the range as the user worded it. A very long one ends in a digest of the whole.
func (r *Replay) rangeText() string {
	s := r.asked.From.String() + " to " + r.asked.To.String()
	if r.asked.Partitions != nil {
		s += fmt.Sprintf(" of partitions %v", r.asked.Partitions)
	}
	if r.asked.Keys != nil {
		s += fmt.Sprintf(" of keys %q", r.asked.Keys)
	}
	if r.asked.Into != "" {
		s += " into " + r.asked.Into
	}
	if len(s) > maxRangeText {
		s = fmt.Sprintf("%s… (SHA-256 %x)", s[:maxRangeText/2], sha256.Sum256([]byte(s)))
	}
	return s
}

// Plan finds out what a Run would read. It changes nothing.
func (r *Replay) Plan(ctx context.Context) (Plan, error) {
	r.cluster = r.newCluster()
	defer r.cluster.Close()
	var plan Plan
	err := r.cluster.Patiently(ctx, func() (err error) {
		plan, err = r.plan(ctx)
		return err
	})
	if err != nil {
		err = fmt.Errorf("ingest: %w", err)
	}
	return plan, err
}

// Run replays what Plan has found until it is settled. If ctx ends first, Run settles pending flights, saves the progress and returns ctx's
// error; Plan and Run of the same name then resume. The same happens when Patience runs out, with a timeout error
// (context.DeadlineExceeded) that names what it waited for, which is no timeout if that is a halted partition; what is pending by then is
// abandoned. A Replay runs once.
func (r *Replay) Run(ctx context.Context, plan Plan) error {
	if _, none := r.Writer.(planOnly); none {
		return errors.New("ingest: Writer is nil")
	}
	defer r.Budget.join()()
	r.cluster = r.newCluster()
	defer r.cluster.Close()
	if err := r.connect(ctx); err != nil {
		return err
	}
	a := r.assign(ctx, plan)
	if err := a.commit(plan.starts(), nil); err != nil { // before the first record: a resumed replay needs the range
		return fmt.Errorf("ingest: %w", err)
	}
	r.Hooks.Assigned(AssignedInfo{Generation: a.generation, Partitions: a.ids()})
	r.current.Store(&replaying{a, plan, time.Now()})
	ctx, rest := r.patiently(ctx, a)
	defer rest()
	a.run(context.Background(), ctx)
	left := r.Progress().Left()
	switch {
	case left == 0:
		return nil
	case r.asked.Untracked:
		return fmt.Errorf("ingest: %d offsets are left: %w", left, context.Cause(ctx))
	}
	return fmt.Errorf("ingest: replay %q ends with %d offsets left: %w", r.asked.Name, left, context.Cause(ctx))
}

// assign makes a partition of each part of the plan. Its commits carry the plan.
func (r *Replay) assign(ctx context.Context, plan Plan) *assignment {
	a := &assignment{runner: r.runner, committed: map[int]int64{}, notes: map[int]note.Note{}}
	parts := map[int]PartitionPlan{}
	for _, part := range plan.Partitions {
		parts[part.Partition] = part
		a.committed[part.Partition] = part.Next
		a.partitions = append(a.partitions, r.partition(part.Partition, part.To, func(context.Context) (int64, error) { return part.Next, nil }))
	}
	a.commit = func(offsets map[int]int64, _ map[int]note.Note) error {
		if r.asked.Untracked {
			return nil
		}
		commits := map[int]broker.Commit{}
		for id, offset := range offsets {
			c, err := parts[id].saved(r.rangeText(), offset)
			if err != nil {
				return err
			}
			commits[id] = c
		}
		return r.cluster.Commit(context.WithoutCancel(ctx), broker.Nobody(plan.Group), r.Topic, commits)
	}
	return a
}

// Progress returns the progress of Run, or the zero value before it has begun to read. It may be called at any time, from any goroutine.
func (r *Replay) Progress() ReplayProgress {
	run := r.current.Load()
	if run == nil {
		return ReplayProgress{}
	}
	out := ReplayProgress{Elapsed: time.Since(run.began)}
	for i, p := range run.partitions {
		part, s := run.plan.Partitions[i], p.progress.snapshot()
		at := min(max(p.mark.edge(), part.Next), part.To)
		out.Partitions = append(out.Partitions, PartitionProgress{Partition: p.id, Done: at - part.Next, Left: part.To - at,
			State: s.State, Reason: s.Reason, Detail: s.Detail})
	}
	return out
}

// Left returns the number of offsets that are not settled yet.
func (p ReplayProgress) Left() (n int64) {
	for _, part := range p.Partitions {
		n += part.Left
	}
	return n
}
