package ingest

import (
	"context"
	"fmt"

	"brine/event"
	"brine/ingest/internal/broker"
)

// errMoved is the offset at which the partition goes on, lower than before because the log itself went back.
type errMoved int64

func (e errMoved) Error() string { return fmt.Sprintf("moved to offset %d", int64(e)) }

// outOfRange decides by policy what to do when the log does not have an offset. It passes a gap as a chunk without records.
func (s *stream) outOfRange(offset int64) (*broker.Chunk, error) {
	low, high, err := s.cluster.Ends(s.work, s.Topic, s.id)
	if err != nil {
		return nil, err
	}
	if low <= offset && offset <= high {
		return nil, broker.ErrOutOfRange // no longer, or the brokers do not agree yet: ask again
	}
	to, err := s.goOn(s.id, offset, low, high, OffsetGone, fmt.Errorf("the next offset is %d, but the log holds %d to %d", offset, low, high))
	switch {
	case err != nil:
		return nil, err
	case to < offset:
		return nil, errMoved(to)
	}
	return broker.NewGap(s.Topic, s.id, to, high), nil
}

// otherTopic decides by policy what to do when a commit belongs to an earlier topic of the same name: its offset means nothing in this one.
func (r *runner) otherTopic(ctx context.Context, partition int, offset int64, why error) (int64, error) {
	low, high, err := r.cluster.Ends(ctx, r.Topic, partition)
	if err != nil {
		return 0, err
	}
	to, err := r.goOn(partition, offset, low, high, TopicRecreated, why)
	if err != nil {
		return 0, err
	}
	return 0, errMoved(to)
}

// goOn applies the policy for records that are gone. It reports what is skipped and returns where a partition goes on, in a log from low to
// high; or it returns a halt.
func (r *runner) goOn(partition int, offset, low, high int64, reason event.Reason, why error) (int64, error) {
	to := low
	switch r.OutOfRange {
	case StopAndSay:
		return 0, &haltError{reason, fmt.Errorf("%w; set the group's offset, or write out_of_range: earliest or latest to continue", why)}
	case FromLatest:
		to = high
	}
	r.Hooks.Skipped(SkippedInfo{Partition: partition, From: offset, To: to})
	r.Logger.Error("offsets are gone", "topic", r.Topic, "partition", partition, "reason", reason, "error", why, "going_on_at",
		to, "policy", r.OutOfRange)
	return to, nil
}
