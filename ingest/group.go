package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
	"golang.org/x/time/rate"
)

// Loop reads one topic as a member of one consumer group and hands its records to a Writer.
type Loop struct {
	*runner
	started atomic.Bool

	mu      sync.Mutex
	current *assignment // nil until the group has been joined
	drained chan struct{}
	apart   time.Time // when current was drained, or, before the first one, when Run began
	failed  error     // what the last attempt to join ended with; nil once one succeeded
}

// New checks the options and makes a loop of them. It connects to nothing yet.
func New(o Options) (*Loop, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("ingest: %w", err)
	}
	o.Hooks.fill()
	l := &Loop{runner: newRunner(&o)}
	l.cluster = l.newCluster()
	return l, nil
}

func (r *runner) newCluster() *cluster {
	return newCluster(r.Kafka, r.RequestTimeout, r.Topic, r.DeadLetterTopic)
}

func newRunner(o *Options) *runner {
	r := &runner{Options: o, reached: map[int]int64{}}
	if o.RecordsPerSecond > 0 {
		r.limit = rate.NewLimiter(rate.Limit(o.RecordsPerSecond), max(o.MaxBatchRecords, int(o.RecordsPerSecond/10)))
	}
	return r
}

// Run is New and Loop.Run.
func Run(ctx context.Context, o Options) error {
	l, err := New(o)
	if err != nil {
		return err
	}
	return l.Run(ctx)
}

// Run ingests until ctx ends; it then settles what is out, commits, leaves the group and returns nil, all within about
// StopTimeout. It returns an error when it cannot begin (ErrUnreachable, ErrNoTopic, ErrDenied) or the group refuses it;
// everything else it waits for, and Status says what. A Loop runs once.
func (l *Loop) Run(ctx context.Context) error {
	if l.started.Swap(true) {
		return errors.New("ingest: a Loop runs once")
	}
	l.parted(nil)
	defer l.cluster.close()
	if err := l.connect(ctx); err != nil {
		if ended(ctx) {
			err = nil
		}
		return err
	}
	group, err := kafka.NewConsumerGroup(l.groupConfig())
	if err != nil {
		return fmt.Errorf("ingest: group %q: %w", l.Group, err)
	}
	err = l.consume(ctx, group)
	l.leave(group)
	return err
}

func ended(ctx context.Context) bool { return ctx.Err() != nil }

// connect finds the topic, the group's offsets and the topic for dead letters, before anything starts.
func (r *runner) connect(ctx context.Context) error {
	err := r.cluster.patiently(ctx, func() error {
		partitions, err := r.cluster.partitions(ctx, r.Topic)
		if err != nil {
			return err
		}
		committed, err := r.cluster.committed(ctx, r.Group, r.Topic, partitions)
		if err != nil {
			return fmt.Errorf("offsets of group %q: %w", r.Group, err)
		}
		r.fresh.Store(len(committed) == 0)
		if r.letters = r.DeadLetters; r.letters == nil {
			r.letters, err = openDeadLetterTopic(ctx, r.cluster, r.DeadLetterTopic, r.Topic, len(partitions))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	return nil
}

func (l *Loop) groupConfig() kafka.ConsumerGroupConfig {
	return kafka.ConsumerGroupConfig{
		ID:                    l.Group,
		Brokers:               l.Kafka.Brokers,
		Dialer:                l.cluster.dialer(),
		Topics:                []string{l.Topic},
		HeartbeatInterval:     l.Heartbeat,
		SessionTimeout:        l.SessionTimeout,
		RebalanceTimeout:      l.RebalanceTimeout,
		JoinGroupBackoff:      min(time.Second, l.SessionTimeout/3),
		WatchPartitionChanges: true,
		StartOffset:           kafka.FirstOffset,                 // seen only as "nothing committed": see startOf
		Timeout:               min(5*time.Second, l.drainTime()), // the last commit must come through in time
		ErrorLogger:           kafka.LoggerFunc(func(f string, args ...any) { l.Logger.Debug("kafka group: " + fmt.Sprintf(f, args...)) }),
	}
}

// consume takes generation after generation. Each runs in one function of kafka-go's Generation.Start, which must not
// return before the generation is over (that would end it, and make the group rebalance), a stop included.
func (l *Loop) consume(ctx context.Context, group *kafka.ConsumerGroup) error {
	for {
		generation, err := group.Next(ctx)
		switch {
		case ended(ctx):
			l.awaitDrained()
			return nil
		case err != nil:
			if refused(err) {
				return fmt.Errorf("ingest: group %q: %w", l.Group, err)
			}
			l.mu.Lock()
			l.failed = err
			l.mu.Unlock()
			l.Hooks.JoinFailed(err)
			l.Logger.Warn("joining the group failed", "group", l.Group, "error", err)
			continue
		}
		a, drained := l.assign(generation), make(chan struct{})
		l.mu.Lock()
		l.current, l.drained, l.failed = a, drained, nil
		l.mu.Unlock()
		generation.Start(func(revoked context.Context) {
			a.run(revoked, ctx)
			l.parted(drained)
			<-revoked.Done()
		})
	}
}

// parted notes that the loop is outside the group from now on, until the next generation.
func (l *Loop) parted(drained chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.apart = time.Now()
	if drained != nil {
		close(drained)
	}
}

// awaitDrained waits for the last assignment to settle and commit, which it does in bounded time. The generation lives and
// sends heartbeats meanwhile.
func (l *Loop) awaitDrained() {
	l.mu.Lock()
	drained := l.drained
	l.mu.Unlock()
	if drained != nil {
		<-drained
	}
}

// leave leaves the group. kafka-go may just be in the middle of joining, which can last for the whole rebalance time-out:
// after the time for one request its connections are cut.
func (l *Loop) leave(group *kafka.ConsumerGroup) {
	defer time.AfterFunc(min(l.RequestTimeout, l.StopTimeout), l.cluster.close).Stop()
	_ = group.Close() // always nil
}

// refused tells the answers of a group that another try will not change.
func refused(err error) bool {
	for _, final := range []kafka.Error{
		kafka.GroupAuthorizationFailed, kafka.TopicAuthorizationFailed, kafka.SASLAuthenticationFailed,
		kafka.InvalidSessionTimeout, kafka.InconsistentGroupProtocol, kafka.InvalidGroupId, kafka.UnsupportedVersion,
	} {
		if errors.Is(err, final) {
			return true
		}
	}
	return false
}

func (l *Loop) assign(g *kafka.Generation) *assignment {
	a := &assignment{runner: l.runner, generation: int(g.ID), committed: map[int]int64{}}
	a.commit = func(offsets map[int]int64) error { return g.CommitOffsets(map[string]map[int]int64{l.Topic: offsets}) }
	for _, assigned := range g.Assignments[l.Topic] {
		if assigned.Offset >= 0 {
			a.committed[assigned.ID] = assigned.Offset
		}
		a.partitions = append(a.partitions, l.partition(assigned.ID, -1, func(ctx context.Context) (int64, error) {
			if assigned.Offset >= 0 {
				return assigned.Offset, nil
			}
			return l.startOf(ctx, assigned.ID)
		}))
	}
	sortPartitions(a.partitions)
	return a
}

// startOf says where to begin a partition for which nothing is committed. What it says is committed at once, so that the
// next start does not depend on the time again. Once the group has committed anything such a partition is a new one and
// begins at its first record: from "latest" it would lose what was written before we heard of it.
func (r *runner) startOf(ctx context.Context, partition int) (int64, error) {
	if r.fresh.Load() {
		return r.Start.in(ctx, r.cluster, r.Topic, partition)
	}
	return Earliest.in(ctx, r.cluster, r.Topic, partition)
}

// Status is what the loop is doing now.
func (l *Loop) Status() Status {
	l.mu.Lock()
	a, drained, outside := l.current, l.drained, Status{Apart: l.apart, Detail: errorText(l.failed)}
	l.mu.Unlock()
	if a == nil {
		return outside
	}
	s := a.status()
	select {
	case <-drained:
		s.Apart, s.Detail = outside.Apart, outside.Detail
	default:
		s.Joined = true
	}
	return s
}
