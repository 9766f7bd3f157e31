package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"brine/ingest/deadletter"
	"brine/ingest/internal/broker"
	"brine/internal/backoff"
)

// Loop reads topics as a member of one consumer group and hands their records to a Writer.
type Loop struct {
	*runner // of the topic, where there is but one; else what its topics have in common
	started atomic.Bool
	topics  topics // only Run's goroutine, and what it waits for, touch it

	mu      sync.Mutex
	current assignments // nil until the group has been joined
	joined  bool        // current is not drained yet
	apart   time.Time   // when current was drained, or, before the first one, when Run began
	failed  error       // the error of the last attempt to join; nil once one succeeded
	waiting time.Time   // since when a join waits for other members; zero: none does
	noTopic bool        // there was no topic when it was last looked for
	epoch   int         // of the member, by the consumer protocol

	alone     uint64 // see Alone
	releasing int    // times that partitions are being given away
}

// New checks the options and makes a loop of them. It connects to nothing yet.
func New(o Options) (*Loop, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	l := &Loop{runner: newRunner(&o)}
	l.cluster = l.newCluster()
	return l, nil
}

func (r *runner) newCluster() *broker.Cluster {
	return broker.New(r.Kafka, r.RequestTimeout, r.names()...)
}

func newRunner(o *Options) *runner {
	r := &runner{Options: o, reached: map[int]int64{}, rejects: newRejects(o.HaltAfterRejects)}
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

// Run ingests until ctx ends; it then settles what is pending, commits, leaves the group and returns nil, all within about
// StopTimeout. It returns an error when it cannot begin (ErrUnreachable, ErrNoTopic, ErrDenied) or the group refuses it, unless it is
// Patient; everything else it waits for, and Status says what. A Loop runs once.
func (l *Loop) Run(ctx context.Context) error {
	if l.started.Swap(true) {
		return errors.New("ingest: a Loop runs once")
	}
	l.parted()
	defer l.cluster.Close()
	if err := l.begin(ctx); err != nil {
		if ended(ctx) {
			err = nil
		}
		return err
	}
	for pauses := (backoff.Pauses{Base: l.RetryMin, Limit: l.HaltPause}); ; {
		err := l.consume(ctx)
		if err == nil || !l.Patient || errors.Is(err, broker.ErrFenced) {
			return err
		}
		l.outside(err)
		if pauses.Wait(ctx) != nil {
			return nil
		}
	}
}

// begin connects, again and again while the topic is missing and waited for, or for whatever reason if the loop is patient.
func (l *Loop) begin(ctx context.Context) error {
	for pauses := (backoff.Pauses{Base: l.RetryMin, Limit: l.HaltPause}); ; {
		err := l.open(ctx)
		l.absent(err)
		switch {
		case err == nil || ended(ctx):
			return err
		case errors.Is(err, ErrNoTopic) && l.AwaitTopic != nil:
			err = l.AwaitTopic(ctx, err)
		case l.Patient:
			l.outside(err)
			err = pauses.Wait(ctx)
		}
		if err != nil {
			return err
		}
	}
}

func ended(ctx context.Context) bool { return ctx.Err() != nil }

// connect finds the topic, the group's offsets and the topic for dead letters, before anything starts.
func (r *runner) connect(ctx context.Context) error {
	err := r.cluster.Patiently(ctx, func() error {
		if err := r.cluster.LearnVersions(ctx); err != nil {
			return err
		}
		topic, err := r.cluster.Topic(ctx, r.Topic)
		if err != nil {
			return err
		}
		committed, err := r.cluster.Commits(ctx, r.Group, r.Topic, topic.IDs())
		if err != nil {
			return fmt.Errorf("offsets of group %q: %w", r.Group, err)
		}
		r.fresh.Store(len(committed) == 0)
		r.first = topic
		if r.letters = r.DeadLetters; r.letters == nil {
			r.letters, err = deadletter.OpenTopic(ctx, r.cluster, r.DeadLetterTopic, r.Topic, topic.Partitions)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	return nil
}

// consume is a member by the protocol that was chosen, until ctx ends or the group refuses us.
func (l *Loop) consume(ctx context.Context) error {
	if l.GroupProtocol == Classic {
		return l.meet(ctx)
	}
	err := l.consumeByBrokers(ctx)
	switch {
	case !errors.Is(err, broker.ErrNoConsumers):
		return err
	case l.GroupProtocol == Auto:
		l.Logger.Info("a member by the classic protocol", "group", l.Group, "reason", err)
		return l.meet(ctx)
	}
	return fmt.Errorf("ingest: group %q: %w; write group_protocol: auto or classic", l.Group, err)
}

// meet is a member by the classic protocol: it works through generation after generation.
func (l *Loop) meet(ctx context.Context) error {
	m := l.cluster.Member(*l.membership())
	defer m.Leave()
	for pauses := (backoff.Pauses{Base: l.RetryMin, Limit: min(l.RetryMax, 5*time.Second)}); ; {
		g, err := m.Join(ctx)
		switch {
		case ended(ctx):
			return nil
		case broker.Refused(err):
			return l.refusal(err)
		case err != nil:
			l.outside(err)
			if pauses.Wait(ctx) != nil {
				return nil
			}
			continue
		}
		pauses.Failures = 0
		all := l.assign(m, g)
		l.Hooks.Assigned(AssignedInfo{Generation: int(g.ID), Partitions: all.ids()}) // before Status says so
		l.inside(all, g.Partitions())
		why := m.Attend(g, func(revoked context.Context) {
			all.run(revoked, ctx)
			untilEither(revoked, ctx) // without partitions we stay a member, and do not ask for them again and again
		})
		l.parted()
		switch {
		case ended(ctx):
			return nil
		case broker.Refused(why):
			return l.refusal(why)
		}
		l.Logger.Info("the group assigns its partitions again", "group", l.Group, "reason", why)
	}
}

// membership says which group the loop is a member of, and how.
func (l *Loop) membership() *broker.Membership {
	return &broker.Membership{Group: l.Group, Topics: l.now, Watch: l.watchEvery(), InstanceID: l.InstanceID,
		SessionTimeout: l.SessionTimeout, RebalanceTimeout: l.RebalanceTimeout, Heartbeat: l.Heartbeat,
		CommitTimeout: min(l.RequestTimeout, l.drainTime()), LeaveTimeout: l.StopTimeout, Waits: l.waits, Logger: l.Logger}
}

func untilEither(a, b context.Context) {
	select {
	case <-a.Done():
	case <-b.Done():
	}
}

func (l *Loop) refusal(err error) error {
	if errors.Is(err, broker.ErrFenced) {
		return fmt.Errorf("ingest: group %q: another process joined with instance id %q; give each process an instance id of its own: %w",
			l.Group, l.InstanceID, err)
	}
	return fmt.Errorf("ingest: group %q: %w", l.Group, err)
}

// Reads returns the topics of which the loop knows, as it last joined its group.
func (l *Loop) Reads() (topics []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.current {
		topics = append(topics, a.Topic)
	}
	return topics
}

// inside notes that the loop is a member of the group, with an assignment of so many partitions.
func (l *Loop) inside(all assignments, of int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current, l.joined, l.failed = all, true, nil
	l.has(len(all.ids()), of)
}

// waits notes since when the loop waits for other members.
func (l *Loop) waits(since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = since
}

// absent notes whether the loop cannot begin because its topic is missing.
func (l *Loop) absent(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noTopic, l.failed = errors.Is(err, ErrNoTopic), err
}

// parted records that the loop is outside the group, until the next generation. One that was outside already has been so since then.
func (l *Loop) parted() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.alone = 0
	if l.joined || l.apart.IsZero() {
		l.joined, l.apart = false, time.Now()
	}
}

// outside records and reports why the loop could not become a member.
func (l *Loop) outside(err error) {
	l.mu.Lock()
	l.failed = err
	l.mu.Unlock()
	l.Hooks.JoinFailed(JoinFailedInfo{err})
	l.Logger.Warn("joining the group failed", "group", l.Group, "error", err)
}

// Status is what the loop is doing now.
func (l *Loop) Status() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.current.status()
	s.several = l.Topics != nil
	s.pace(l.Pace.State())
	s.AllRejected = errorText(l.current.rejected())
	s.Generation = max(s.Generation, l.epoch)
	if s.Joined = l.joined; !l.joined {
		s.Apart, s.Detail, s.NoTopic = l.apart, errorText(l.failed), l.noTopic
		if !l.waiting.IsZero() {
			s.Detail = l.membership().JoinWait(time.Since(l.waiting))
		}
	}
	return s
}

// terms counts the times that loops of this process have come to have all partitions of their topics.
var terms atomic.Uint64

// Alone returns a number while the loop has all partitions of its topics, as far as its group says, and 0 while it has not: another
// number each time that this begins, in any loop of the process. It is taken back before the loop gives any of them away. A loop that the
// group has taken for dead learns of that by its next heartbeat, and others may have its partitions by then.
func (l *Loop) Alone() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.joined {
		return 0
	}
	return l.alone
}

// has notes how many partitions are ours, of how many. A term goes on while they are all. The loop's mutex is held.
func (l *Loop) has(ours, of int) {
	switch {
	case ours != of || of == 0 || l.releasing > 0:
		l.alone = 0
	case l.alone == 0:
		l.alone = terms.Add(1)
	}
}

// releases notes that partitions are about to be given away; what it returns, that they have been.
func (l *Loop) releases() (done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.alone = 0
	l.releasing++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.releasing--
	}
}
