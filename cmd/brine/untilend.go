package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/ingest"
)

// untilEnd waits until every record that the topics hold now is settled: by this process in the partitions that it owns, and as the group's
// commits say in those of other members. A member that was killed keeps its partitions until its session ends; only then are they ours. It asks
// where the topics end once the loops are members of their groups: brokers that do not answer are the loops' to tell. A topic that is missing holds up
// nothing else, and fails it at the end.
func (s *service) untilEnd(ctx context.Context) error {
	if err := poll(ctx, s.joined); err != nil {
		return err
	}
	client := kafkaClient(&s.cfg.Kafka)
	ends, missing := map[string][]int64{}, []error(nil)
	for _, h := range s.halves {
		if status := h.loop.Status(); status.NoTopic {
			missing = append(missing, fmt.Errorf("%s: %s", h.name, status.Detail))
			continue
		}
		if ends[h.topic] != nil {
			continue
		}
		at, err := endOffsets(ctx, client, h.topic)
		if err != nil {
			return kafkaError(err)
		}
		ends[h.topic] = at
	}
	err := poll(ctx, func() bool {
		return !slices.ContainsFunc(s.halves, func(h *half) bool {
			return ends[h.topic] != nil && !h.rejectsAll(ends[h.topic]) && !h.settledTo(ctx, client, ends[h.topic])
		})
	})
	if err == nil && len(missing) > 0 {
		err = &exitError{exitMissing, errors.Join(missing...), createsTopic}
	}
	return err
}

// poll asks until it is so.
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

func (s *service) joined() bool {
	return !slices.ContainsFunc(s.halves, func(h *half) bool {
		status := h.loop.Status()
		return !status.Joined && !status.NoTopic
	})
}

// settledTo reports whether all partitions of a half are settled to their ends. Brokers that do not answer now will be asked again.
func (h *half) settledTo(ctx context.Context, client *kafka.Client, ends []int64) bool {
	status := h.loop.Status()
	if !status.Joined {
		return false
	}
	others, settled := elsewhere(ends, status.Partitions)
	if !settled || len(others) == 0 {
		return settled
	}
	committed, err := committedOffsets(ctx, client, h.opts.Group, h.topic, others)
	return err == nil && !slices.ContainsFunc(others, func(p int) bool { return committed[p] < ends[p] })
}

// rejectsAll reports whether all of the half's own partitions that are not settled to their ends stand still since all records were rejected.
func (h *half) rejectsAll(ends []int64) bool {
	status := h.loop.Status()
	return status.AllRejected != "" && !slices.ContainsFunc(status.Partitions, func(p ingest.PartitionStatus) bool {
		return p.Partition < len(ends) && p.Watermark < ends[p.Partition] && p.Reason != ingest.AllRejected
	})
}

// elsewhere returns the partitions with records that are not ours, and whether all of ours are settled to their ends.
func elsewhere(ends []int64, ours []ingest.PartitionStatus) (others []int, settled bool) {
	own := make([]bool, len(ends))
	for _, p := range ours {
		if p.Partition >= len(ends) {
			continue // added after the ends were asked for
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
