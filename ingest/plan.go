package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"brine/ingest/internal/broker"
)

// Plan is what a replay will read.
type Plan struct {
	Topic      string          `json:"topic"`
	Group      string          `json:"group"` // where its progress is kept
	Resumed    bool            `json:"resumed"`
	Partitions []PartitionPlan `json:"partitions"` // ascending
}

// PartitionPlan is the plan of one partition: offsets From up to, but not including, To. Those below Next are done.
type PartitionPlan struct {
	Partition int   `json:"partition"`
	From      int64 `json:"from"`
	To        int64 `json:"to"`
	Next      int64 `json:"next"`

	// Bytes estimates how much is left, uncompressed: the size of the first records times the number of offsets. 0 while unknown.
	Bytes int64 `json:"bytes,omitempty"`

	Gone   Range `json:"gone,omitzero"`   // asked for, and no longer in the log
	Beyond Range `json:"beyond,omitzero"` // asked for, and not written yet
	// Doubtful is set if the replay begins by time and at the log's very beginning, while older records have left the log: they may have
	// belonged to the range.
	Doubtful bool `json:"doubtful,omitempty"`
}

// Range is the offsets From up to, but not including, To.
type Range struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// rangeOf returns the range from from to to, or the zero Range if that is empty.
func rangeOf(from, to int64) Range {
	if from >= to {
		return Range{}
	}
	return Range{from, to}
}

func (r Range) empty() bool    { return r.From >= r.To }
func (r Range) String() string { return fmt.Sprintf("%d to %d", r.From, r.To-1) }

// Left returns the number of offsets still to be read, an upper bound of the records.
func (p PartitionPlan) Left() int64 { return max(0, p.To-p.Next) }

// Left returns the number of offsets still to be read, an upper bound of the records.
func (p Plan) Left() (n int64) {
	for _, part := range p.Partitions {
		n += part.Left()
	}
	return n
}

// Done returns the number of offsets that were replayed before.
func (p Plan) Done() (n int64) {
	for _, part := range p.Partitions {
		n += min(part.Next, part.To) - part.From
	}
	return n
}

// Missing describes what was asked for and is not in the plan, one text each; nil if nothing is missing.
func (p Plan) Missing() []string {
	var missing []string
	for _, part := range p.Partitions {
		if !part.Gone.empty() {
			missing = append(missing, fmt.Sprintf("partition %d: offsets %v are no longer in the log", part.Partition, part.Gone))
		}
		if part.Doubtful {
			missing = append(missing, fmt.Sprintf("partition %d: offsets before %d are no longer in the log; they may have been in the range",
				part.Partition, part.From))
		}
		if !part.Beyond.empty() {
			missing = append(missing, fmt.Sprintf("partition %d: offsets %v have not been written yet", part.Partition, part.Beyond))
		}
	}
	return missing
}

// starts returns where each partition goes on.
func (p Plan) starts() map[int]int64 {
	next := map[int]int64{}
	for _, part := range p.Partitions {
		next[part.Partition] = part.Next
	}
	return next
}

// plan finds the offsets of the range, or resumes from its saved plan.
func (r *Replay) plan(ctx context.Context) (Plan, error) {
	plan := Plan{Topic: r.Topic, Group: r.progressGroup()}
	topic, err := r.cluster.Topic(ctx, r.Topic)
	if err != nil {
		return plan, err
	}
	if err := r.known(topic); err != nil {
		return plan, err
	}
	var saved map[int]broker.Commit
	if !r.asked.Again && !r.asked.Untracked {
		if saved, err = r.cluster.Commits(ctx, plan.Group, r.Topic, topic.IDs()); err != nil {
			return plan, fmt.Errorf("progress in group %q: %w", plan.Group, err)
		}
	}
	for id := range topic.Partitions {
		if r.asked.Partitions != nil && !slices.Contains(r.asked.Partitions, id) {
			continue
		}
		part, err := r.planPartition(ctx, id, saved)
		if err != nil {
			return plan, fmt.Errorf("replay %q, partition %d: %w", r.asked.Name, id, err)
		}
		part.Bytes = int64(r.cluster.BytesPerOffset(ctx, r.Topic, id, part.Next, part.To) * float64(part.Left()))
		_, began := saved[id]
		plan.Resumed = plan.Resumed || began
		plan.Partitions = append(plan.Partitions, part)
	}
	return plan, nil
}

// known returns an error unless the topic has the partitions that were asked for.
func (r *Replay) known(topic broker.Topic) error {
	for _, id := range r.asked.Partitions {
		if id < 0 || id >= topic.Partitions {
			return fmt.Errorf("topic %q: %w %d; it has %d", r.Topic, ErrNoPartition, id, topic.Partitions)
		}
	}
	return nil
}

func (r *Replay) planPartition(ctx context.Context, id int, saved map[int]broker.Commit) (PartitionPlan, error) {
	var low, high, from, to int64
	for _, ask := range []struct {
		at Position
		to *int64
	}{{Earliest, &low}, {r.asked.From, &from}, {r.asked.To, &to}, {Latest, &high}} { // the end last: else what arrives meanwhile is beyond it
		offset, err := ask.at.in(ctx, r.cluster, r.Topic, id)
		if err != nil {
			return PartitionPlan{}, err
		}
		*ask.to = offset
	}
	if at, ok := saved[id]; ok {
		s, err := readSaved(at.Metadata, r.rangeText())
		return PartitionPlan{Partition: id, From: s.From, To: s.To, Next: at.Offset, Gone: rangeOf(at.Offset, min(low, s.To))}, err
	}
	p := PartitionPlan{Partition: id, Beyond: rangeOf(max(high, from), to), Gone: rangeOf(from, min(low, to))}
	p.From = max(from, min(low, to))
	p.To = max(p.From, min(to, high))
	p.Next = p.From
	p.Doubtful = low > 0 && from == low && !r.asked.From.at.IsZero()
	return p, nil
}

// savedPlan is stored with every commit of a replay, so that a resumed replay reads the range it began with.
type savedPlan struct {
	Asked string `json:"asked"`
	From  int64  `json:"from"`
	To    int64  `json:"to"`
}

func readSaved(metadata, asked string) (savedPlan, error) {
	var s savedPlan
	if err := json.Unmarshal([]byte(metadata), &s); err != nil {
		return s, fmt.Errorf("%w: another program wrote the group that keeps its progress (metadata %q); choose another name",
			ErrOtherReplay, metadata)
	}
	if s.Asked != asked {
		return s, fmt.Errorf("%w: it was started for %s, not for %s; finish it, start over, or choose another name",
			ErrOtherReplay, s.Asked, asked)
	}
	return s, nil
}

// saved returns the commit which records that everything below next is done.
func (p PartitionPlan) saved(asked string, next int64) (broker.Commit, error) {
	b, err := json.Marshal(savedPlan{asked, p.From, p.To})
	return broker.Commit{Offset: next, Metadata: string(b)}, err
}
