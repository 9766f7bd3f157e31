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
	*runner // of the topic, if there is only one; otherwise what its topics have in common
	started atomic.Bool
	topics  topics                   // touched only by Run's goroutine and the goroutines it waits for
	next    atomic.Pointer[handover] // see HandOver

	resigned atomic.Bool // see Resign

	mu      sync.Mutex
	current assignments  // nil until the group has been joined
	joined  bool         // the group counts us as a member; false at the latest when current has been drained
	apart   time.Time    // when joined ended, or, before the first assignment, when Run began
	failed  error        // why we are not a member: the error of the last attempt to join, or how the last membership ended
	waiting time.Time    // since when a join has been waiting for other members; zero if none is
	noTopic bool         // the topic was missing when last looked for
	epoch   int          // the member's epoch, by the consumer protocol
	id      string       // the member's id, as of the last join
	begun   bool         // to join
	place   broker.Place // that another loop has left to this one, until it begins to join

	alone     uint64 // see Alone
	releasing int    // number of releases in progress
}

// New validates the options and returns a loop. It does not connect yet.
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

// Run makes a Loop and runs it.
func Run(ctx context.Context, o Options) error {
	l, err := New(o)
	if err != nil {
		return err
	}
	return l.Run(ctx)
}

// Run ingests until ctx ends. It then settles pending flights, commits, leaves the group and returns nil, all within about StopTimeout. It
// returns an error if it cannot begin (ErrUnreachable, ErrNoTopic, ErrDenied) or the group refuses it, unless it is Patient. It waits out
// everything else, and Status reports the reason. A Loop runs only once.
func (l *Loop) Run(ctx context.Context) error {
	if l.started.Swap(true) {
		return errors.New("ingest: a Loop runs once")
	}
	l.parted()
	defer l.Budget.join()()
	defer l.cluster.Close()
	defer l.end()
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

// begin connects. It retries while the topic is missing and waited for, or on any failure if the loop is patient.
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

// connect finds the topic, the group's offsets and the dead-letter topic, before anything starts.
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

// consume runs a member of the chosen protocol until ctx ends or the group refuses us.
func (l *Loop) consume(ctx context.Context) error {
	if l.GroupProtocol == Classic {
		return l.meet(ctx)
	}
	err := l.consumeByBrokers(ctx)
	switch {
	case !errors.Is(err, broker.ErrNoConsumers):
		return err
	case l.GroupProtocol == Auto:
		l.Logger.Info("a member with the classic protocol", "group", l.Group, "reason", err)
		return l.meet(ctx)
	}
	return fmt.Errorf("ingest: group %q: %w; write group_protocol: auto or classic", l.Group, err)
}

// meet is a member by the classic protocol. It works through one generation after another.
func (l *Loop) meet(ctx context.Context) error {
	m := l.cluster.Member(*l.joining())
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
		l.is(g.Member)
		all := l.assign(m, g)
		l.Hooks.Assigned(AssignedInfo{Generation: int(g.ID), Partitions: all.ids()}) // before Status reports it
		l.inside(all, g.Partitions())
		why := m.Attend(g, func(revoked context.Context) {
			all.run(revoked, ctx)
			untilEither(revoked, ctx) // without partitions we stay a member instead of rejoining over and over
		})
		l.parted()
		switch {
		case ended(ctx):
			return nil
		case broker.Refused(why):
			return l.refusal(why)
		}
		l.Logger.Info("group is rebalancing", "group", l.Group, "reason", why)
	}
}

// membership returns the group that the loop joins, and how.
func (l *Loop) membership() *broker.Membership {
	return &broker.Membership{Group: l.Group, Topics: l.now, Watch: l.watchEvery(), InstanceID: l.InstanceID, Keep: l.keep, Resigns: l.resigns,
		SessionTimeout: l.SessionTimeout, RebalanceTimeout: l.RebalanceTimeout, Heartbeat: l.Heartbeat,
		CommitTimeout: min(l.RequestTimeout, l.drainTime()), LeaveTimeout: l.StopTimeout, Waits: l.waits, Lost: l.lost, Logger: l.Logger}
}

func untilEither(a, b context.Context) {
	select {
	case <-a.Done():
	case <-b.Done():
	}
}

func (l *Loop) refusal(err error) error {
	if errors.Is(err, broker.ErrFenced) {
		return fmt.Errorf("ingest: group %q: another process joined with instance id %q; give each process its own instance id: %w",
			l.Group, l.InstanceID, err)
	}
	return fmt.Errorf("ingest: group %q: %w", l.Group, err)
}

// Reads returns the topics that the loop knew of when it last joined its group.
func (l *Loop) Reads() (topics []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.current {
		topics = append(topics, a.Topic)
	}
	return topics
}

// Member returns the id of the loop's member in its group, as of the last join; empty before the first.
func (l *Loop) Member() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.id
}

func (l *Loop) is(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.id = id
}

// inside notes that the loop is a member of the group, with an assignment out of that many partitions.
func (l *Loop) inside(all assignments, of int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current, l.joined, l.failed = all, true, nil
	l.has(len(all.ids()), of)
}

// waits notes since when the loop has been waiting for other members.
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

// parted notes that the loop is outside the group until the next generation. If it was outside already, the earlier time stands.
func (l *Loop) parted() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.alone = 0
	if l.joined || l.apart.IsZero() {
		l.joined, l.apart = false, time.Now()
	}
}

// lost notes at once why the group no longer counts the loop as a member, though its work is still draining.
func (l *Loop) lost(why error) {
	if broker.Refused(why) {
		why = l.refusal(why)
	} else {
		why = fmt.Errorf("its membership has ended: %w", why)
	}
	l.parted()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = why
}

// outside notes and reports why the loop could not become a member.
func (l *Loop) outside(err error) {
	l.mu.Lock()
	l.failed = err
	l.mu.Unlock()
	l.Hooks.JoinFailed(JoinFailedInfo{err})
	l.Logger.Warn("joining the group failed", "group", l.Group, "error", err)
}

// Status returns what the loop is doing now.
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

// terms counts how often loops of this process came to own all partitions of their topics.
var terms atomic.Uint64

// Alone returns a non-zero number while the loop owns all partitions of its topics, as far as its group has reported, and 0 otherwise. The
// number differs each time such a term begins, in any loop of the process. The term ends before the loop gives away any partition. A loop
// that the group has declared dead learns of it by its next heartbeat or commit; by then others may own its partitions.
func (l *Loop) Alone() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.joined {
		return 0
	}
	return l.alone
}

// has notes how many partitions we own, and of how many. A term lasts while we own all. The caller holds the loop's mutex.
func (l *Loop) has(ours, of int) {
	switch {
	case ours != of || of == 0 || l.releasing > 0:
		l.alone = 0
	case l.alone == 0:
		l.alone = terms.Add(1)
	}
}

// releases notes that partitions are about to be given away. The function it returns notes that they have been.
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
