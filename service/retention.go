package service

import (
	"context"
	"slices"
	"sync"
	"time"

	"brine/ingest"
	"brine/internal/backoff"
	"brine/metrics"
	"brine/schema"
)

// A pipeline that is paused or too slow loses records that retention deletes before they are read. The retention of a topic is queried once
// a record has waited for keptFrom, and again after keptHolds.
const (
	keptLook  = 10 * time.Second
	keptFrom  = time.Minute
	keptHolds = 10 * time.Minute
)

// kept caches the retention of topics. The zero value is ready to use.
type kept struct {
	mu sync.Mutex
	of map[string]keptFor // by topic
}

type keptFor struct {
	asked time.Time
	time  time.Duration // 0: unknown, or no record is deleted by age
	young bool          // records may be deleted however young they are: by size, or nobody knows
}

// followRetention queries the retention of topics in which halves lag, until ctx is done.
func (s *Service) followRetention(ctx context.Context) {
	for backoff.Wait(ctx, keptLook) == nil {
		for _, h := range s.all() {
			for _, p := range h.loop.Status().Partitions {
				if p.Age(time.Now()) >= keptFrom {
					s.askRetention(ctx, p.Topic)
				}
			}
		}
	}
}

// askRetention queries a topic's retention, unless the cached one is recent.
func (s *Service) askRetention(ctx context.Context, topic string) {
	before, known := s.kept.get(topic)
	if known && time.Since(before.asked) < keptHolds {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, keptLook)
	defer cancel()
	now := keptFor{asked: time.Now()}
	of, err := schema.ExpiryOf(ctx, s.topics, topic)
	switch {
	case err != nil && !known:
		s.log.Warn("retention of topic unknown; cannot say whether it deletes unread records", "topic", topic,
			"error", err)
		now.young = true
	case err != nil:
		now.time, now.young = before.time, before.young
	default:
		now.time, now.young = of.Time, of.BySize
	}
	s.kept.set(topic, now)
}

func (k *kept) get(topic string) (keptFor, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f, ok := k.of[topic]
	return f, ok
}

func (k *kept) set(topic string, f keptFor) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil {
		k.of = map[string]keptFor{}
	}
	k.of[topic] = f
}

// left returns how long the topics will still keep the oldest record that a half has not settled. known is false if no topic deletes by
// age, or the retention is unknown.
func (k *kept) left(parts []ingest.PartitionStatus, now time.Time) (left metrics.Left, known bool) {
	for _, p := range parts {
		f, _ := k.get(p.Topic)
		age := p.Age(now)
		if f.time == 0 || age == 0 {
			continue
		}
		of := metrics.Left{Time: max(0, f.time-age)}
		of.Ratio = of.Time.Seconds() / f.time.Seconds()
		if !known {
			left, known = of, true
		}
		left.Time, left.Ratio = min(left.Time, of.Time), min(left.Ratio, of.Ratio)
	}
	return left, known
}

// young reports whether a topic with records that a half has not settled may delete them however young they are.
func (k *kept) young(parts []ingest.PartitionStatus, now time.Time) bool {
	return slices.ContainsFunc(parts, func(p ingest.PartitionStatus) bool {
		f, _ := k.get(p.Topic)
		return f.young && p.Age(now) > 0
	})
}
