package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"brine/ingest"
	"brine/internal/fault"
)

// Offsets queries the brokers for offsets.
type Offsets interface {
	// Ends returns the next offset of each partition of a topic. Its error has a fault kind.
	Ends(ctx context.Context, topic string) ([]int64, error)
	// Committed returns a group's committed offsets of partitions of a topic. A partition without a commit is absent.
	Committed(ctx context.Context, group, topic string, partitions []int) (map[int]int64, error)
}

// UntilEnd waits until every record that the topics hold now is settled: by this process in its own partitions, and according to the
// group's commits in those of other members. A member that was killed keeps its partitions until its session expires; only then do they
// become ours. UntilEnd queries the ends of topics once the loops are members of their groups, because the loops report brokers that do not
// answer; it does not end because of them. A missing topic does not hold up the others; it is reported as the error at the end. The
// service must have been opened ToRun, and Run must be running.
func (s *Service) UntilEnd(ctx context.Context, offsets Offsets) error {
	if err := poll(ctx, s.joined); err != nil {
		return err
	}
	ends, missing := map[string][]int64{}, []error(nil)
	for _, h := range s.all() {
		if status := h.loop.Status(); status.NoTopic {
			missing = append(missing, fmt.Errorf("%s: %s", h.name, status.Detail))
			continue
		}
		for _, topic := range h.loop.Reads() {
			if ends[topic] != nil {
				continue
			}
			at, err := endsOf(ctx, offsets, topic)
			if err != nil {
				return err
			}
			ends[topic] = at
		}
	}
	said := map[string]bool{}
	err := poll(ctx, func() bool {
		return !slices.ContainsFunc(s.all(), func(h *Half) bool {
			waits := h.unsettled(ctx, offsets, ends)
			if waits && !said[h.name] && h.loop.Status().Paused {
				said[h.name] = true
				s.log.Warn("--until-end is waiting for a paused pipeline", "pipeline", h.name,
					"fix", "resume it with brine resume "+h.pipeline.Name+" --half "+h.kind+", or interrupt this run to end without it")
			}
			return waits
		})
	})
	if err == nil && len(missing) > 0 {
		err = fault.New(fault.Missing, errors.Join(missing...), CreatesTopic)
	}
	return err
}

// endsOf returns the next offset of each partition of a topic. While the brokers do not answer it asks again, as the loops do, which report
// it.
func endsOf(ctx context.Context, offsets Offsets, topic string) (ends []int64, err error) {
	stopped := poll(ctx, func() bool {
		ends, err = offsets.Ends(ctx, topic)
		failed, known := errors.AsType[*fault.Error](err)
		return !known || failed.Kind != fault.Unreachable
	})
	return ends, cmp.Or(stopped, err)
}

// poll calls so until it returns true or ctx is done.
func poll(ctx context.Context, so func() bool) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// joined reports whether every half is a member of its group, or waits for its topic.
func (s *Service) joined() bool {
	return !slices.ContainsFunc(s.all(), func(h *Half) bool {
		status := h.loop.Status()
		return !status.Joined && !status.NoTopic
	})
}

// unsettled reports whether a half has yet to settle a topic to its end. It reports true for a half that is not a member now, as after a
// reload, because the topics that it reads are not known yet.
func (h *Half) unsettled(ctx context.Context, offsets Offsets, ends map[string][]int64) bool {
	if status := h.loop.Status(); !status.Joined {
		return !status.NoTopic
	}
	return slices.ContainsFunc(h.loop.Reads(), func(topic string) bool {
		end := ends[topic] // nil: the topic appeared later and is not waited for
		return end != nil && !h.rejectsAll(topic, end) && !h.settledTo(ctx, offsets, topic, end)
	})
}

// settledTo reports whether a half has settled all partitions of a topic to their ends. If the brokers do not answer, the caller asks
// again.
func (h *Half) settledTo(ctx context.Context, offsets Offsets, topic string, ends []int64) bool {
	status := h.loop.Status()
	if !status.Joined {
		return false
	}
	others, settled := elsewhere(ends, status.Of(topic))
	if !settled || len(others) == 0 {
		return settled
	}
	committed, err := offsets.Committed(ctx, h.opts.Group, topic, others)
	return err == nil && !slices.ContainsFunc(others, func(p int) bool { return committed[p] < ends[p] })
}

// rejectsAll reports whether every partition of the topic that the half owns and has not settled to its end has halted because all records
// were rejected.
func (h *Half) rejectsAll(topic string, ends []int64) bool {
	status := h.loop.Status()
	return status.AllRejected != "" && !slices.ContainsFunc(status.Of(topic), func(p ingest.PartitionStatus) bool {
		return p.Partition < len(ends) && p.Watermark < ends[p.Partition] && p.Reason != ingest.AllRejected
	})
}

// elsewhere returns the non-empty partitions that are not ours, and whether all of ours are settled to their ends.
func elsewhere(ends []int64, ours []ingest.PartitionStatus) (others []int, settled bool) {
	own := make([]bool, len(ends))
	for _, p := range ours {
		if p.Partition >= len(ends) {
			continue // added after the ends were queried
		}
		if p.Watermark < ends[p.Partition] {
			return nil, false
		}
		own[p.Partition] = true
	}
	for p, end := range ends {
		if !own[p] && end > 0 {
			others = append(others, p)
		}
	}
	return others, true
}
