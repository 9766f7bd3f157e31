package broker

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/internal/backoff"
)

// ErrNoConsumers means that the brokers do not have the consumer protocol, or have it turned off.
var ErrNoConsumers = errors.New("the brokers do not support the consumer protocol (Kafka 4.0 and later do)")

// Durations that the coordinator does not communicate.
const (
	firstInterval = 5 * time.Second  // between heartbeats, until the coordinator sends its own
	unreleasedFor = 75 * time.Second // for an instance id that may be a killed process's: longer than any default session
)

// Held is partitions of one topic that a consumer owns.
type Held struct {
	Topic      Topic
	Name       string
	Partitions []int
}

// Holder works on the partitions of a Consumer. Its methods are called one at a time.
type Holder interface {
	// Take starts work on partitions, beside the work in progress. It returns at once.
	Take(t *Tenure, of Held)
	// Release ends work on partitions for good, settled and committed. It returns at once and calls done when nothing touches them any more.
	Release(of []Held, done func())
	// Drop ends work on all partitions at once, without a commit, and returns when nothing touches them any more.
	Drop()
	// Joined is called when the group has answered, with the member's epoch and the topics that we subscribe to, even those of which we own
	// nothing. Parted is called when the group did not accept us; we will ask again.
	Joined(epoch int, topics map[string]Topic)
	Parted(why error)
}

// Consumer is our membership of a consumer group by the consumer protocol (KIP-848). The coordinator assigns partitions, and moves them one
// by one while the others run on. What it takes away we settle and commit, then leave out of what our next heartbeat reports as owned; only
// then does another member get it. One goroutine runs the Consumer; Commit may be called from any.
//
//	join ──▶ heartbeat ◀──────────────────────────────┐
//	           │ target: take what is new ─────────────┤
//	           │         release what is gone ──▶ done: own less, report it at once
//	           └ fenced or unknown: drop all, join at epoch 0
type Consumer struct {
	Membership
	cluster *Cluster
	at      coordinator
	version int16
	holder  Holder

	topics   map[string]Topic // as last seen
	names    map[topicID]string
	interval time.Duration
	heard    time.Time // when the last heartbeat was sent that has been answered

	owned, releasing, target held      // of this life: what the holder has, what of that it is releasing, what it should have
	released                 chan held // of this life
	life                     context.Context
	endLife                  context.CancelFunc
	stopping                 bool // this life is ending: nothing more is taken

	unanswered bool // the last attempt to join was not answered
	everything bool // the next heartbeat reports everything: the last one was not answered, or the topics have changed
	report     bool // the next heartbeat reports what we own

	asking chan struct{} // held by the goroutine that asks for topics
	look   chan struct{} // look for topics now
	seen   chan map[string]Topic
	nudges chan struct{} // send a heartbeat now

	mu     sync.Mutex // guards what follows, and tenures
	id     string
	epoch  int32
	moved  chan struct{} // closed when the epoch changes
	tenure *Tenure

	committing sync.Mutex // guards commits: one coordinator is one goroutine's
	commits    coordinator
}

// Consumer returns a consumer that has not joined yet. It returns ErrNoConsumers if the brokers, as LearnVersions found them, do not speak
// the protocol.
func (c *Cluster) Consumer(m Membership) (*Consumer, error) {
	version := int16(c.consumers.Load())
	if version == noConsumers {
		return nil, ErrNoConsumers
	}
	k := &Consumer{Membership: m, cluster: c, version: version, at: coordinator{Cluster: c, group: m.Group},
		commits: coordinator{Cluster: c, group: m.Group}, moved: make(chan struct{}), look: make(chan struct{}, 1),
		seen: make(chan map[string]Topic), nudges: make(chan struct{}, 1), asking: make(chan struct{}, 1)}
	switch {
	case m.Place.epoch > 0:
		k.id = m.Place.id
	case k.version >= consumerVersion:
		k.id = newMemberID()
	}
	return k, nil
}

// newMemberID returns a UUID in Kafka's notation.
func newMemberID() string {
	var id [16]byte
	_, _ = rand.Read(id[:])
	return base64.RawURLEncoding.EncodeToString(id[:])
}

// Run is a member until stop ends, when the holder releases everything, or until the group refuses us, when it drops everything. It returns
// ErrNoConsumers if the brokers do not speak the protocol, or no longer.
func (m *Consumer) Run(stop context.Context, h Holder) error {
	m.holder = h
	ctx, end := context.WithCancel(context.Background())
	var watcher sync.WaitGroup
	defer watcher.Wait()
	defer end()
	watcher.Go(func() { m.watch(ctx) })
	pauses := backoff.Pauses{Base: 100 * time.Millisecond, Limit: 5 * time.Second}
	for unreleased := new(time.Time); stop.Err() == nil; {
		err := m.join(stop)
		switch {
		case err == nil:
			pauses.Failures, unreleased = 0, new(time.Time)
			if err = m.stay(stop); err == nil || Refused(err) {
				return unspoken(err)
			}
			continue
		case errors.Is(err, unreleasedInstance):
			if unreleased.IsZero() {
				*unreleased = time.Now()
			}
			if time.Since(*unreleased) > unreleasedFor {
				return fmt.Errorf("%w: %w", ErrFenced, err)
			}
		case errors.Is(err, kafka.UnknownMemberId):
			m.renew()
		case Refused(err):
			return unspoken(err)
		}
		if stop.Err() == nil {
			h.Parted(err)
			_ = pauses.Wait(stop)
		}
	}
	if m.unanswered || m.Place.epoch > 0 { // the group may count us as a member, and wait for the end of our session
		m.leave()
	}
	return nil
}

// unspoken returns ErrNoConsumers for brokers that list the protocol but have it turned off.
func unspoken(err error) error {
	if errors.Is(err, kafka.UnsupportedVersion) {
		return fmt.Errorf("%w: %w", ErrNoConsumers, err)
	}
	return err
}

// ID returns our id, which changes when the group no longer knows us.
func (m *Consumer) ID() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.id
}

// renew makes the next join that of a new member.
func (m *Consumer) renew() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.id = ""; m.version >= consumerVersion {
		m.id = newMemberID()
	}
}

// join makes us a member who owns nothing yet.
func (m *Consumer) join(ctx context.Context) error {
	topics, err := m.askTopics(ctx)
	if err != nil {
		return err
	}
	m.know(topics)
	m.owned, m.releasing, m.target, m.released = held{}, held{}, held{}, make(chan held)
	m.life, m.endLife = context.WithCancel(context.Background())
	m.interval, m.everything, m.report, m.stopping = firstInterval, false, false, false
	m.setEpoch(m.Place.epoch) // what we take over, the coordinator assigns again, since we own nothing of it
	m.Place = Place{}
	sent := time.Now()
	answer, err := m.send(ctx, &consumerBeat{timeout: m.RebalanceTimeout, topics: m.subscribed(), owned: held{}, instance: m.InstanceID})
	if m.unanswered = ctx.Err() != nil && !Answered(err); err != nil {
		return err
	}
	m.mu.Lock()
	m.tenure = &Tenure{}
	if answer.member != "" {
		m.id = answer.member
	}
	m.mu.Unlock()
	m.heard = sent
	m.learn(answer)
	m.holder.Joined(int(answer.epoch), m.topics)
	m.reconcile()
	return nil
}

// stay sends heartbeats until stop has ended and everything is released (nil), or the group has dropped us.
func (m *Consumer) stay(stop context.Context) error {
	defer m.endLife()
	beat := time.NewTimer(m.interval)
	defer beat.Stop()
	stopped := stop.Done()
	for {
		select {
		case <-beat.C:
		case <-m.nudges:
		case parts := <-m.released:
			if !m.less(parts) {
				continue
			}
		case topics := <-m.seen:
			m.everything = m.know(topics) || m.everything
			m.reconcile()
			continue
		case <-stopped:
			stopped, m.stopping = nil, true
			m.release(without(m.owned, m.releasing))
			continue
		}
		if m.stopping && len(m.releasing) == 0 {
			m.leave()
			return nil
		}
		if err := m.beat(); err != nil {
			m.drop(err)
			return err
		}
		if beat.Reset(m.interval); m.everything {
			beat.Reset(min(m.interval, time.Second))
		}
	}
}

// release makes the holder end its work on partitions, and notes when it has.
func (m *Consumer) release(parts held) {
	m.releasing.add(parts)
	released, life := m.released, m.life
	m.holder.Release(m.namedHeld(parts), func() {
		select {
		case released <- parts:
		case <-life.Done():
		}
	})
}

// beat sends a heartbeat and does what the answer asks for. An error means that the group has dropped or refused us.
func (m *Consumer) beat() error {
	q := &consumerBeat{instance: m.InstanceID}
	if m.everything {
		q.topics, q.timeout = m.subscribed(), m.RebalanceTimeout
	}
	if m.everything || m.report && len(m.releasing) == 0 {
		q.owned = m.owned
	}
	sent := time.Now()
	answer, err := m.send(context.Background(), q)
	switch {
	case err == nil:
		m.heard, m.everything = sent, false
		m.report = m.report && q.owned == nil
		m.learn(answer)
		m.holder.Joined(int(answer.epoch), m.topics)
		m.reconcile()
		return nil
	case errors.Is(err, fencedEpoch):
		return err
	case errors.Is(err, kafka.UnknownMemberId):
		m.renew()
		return err
	case Refused(err), errors.Is(err, unreleasedInstance):
		return err
	case time.Since(m.heard) > m.SessionTimeout: // others may have our partitions
		return fmt.Errorf("no answer to a heartbeat for %v: %w", m.SessionTimeout, err)
	}
	m.everything = true
	m.Logger.Debug("a heartbeat failed", "group", m.Group, "error", err)
	return nil
}

// send makes one call to the coordinator as the current member.
func (m *Consumer) send(ctx context.Context, q *consumerBeat) (*consumerAnswer, error) {
	m.mu.Lock()
	q.version, q.group, q.member = m.version, m.Group, m.id
	if q.epoch == 0 {
		q.epoch = m.epoch
	}
	m.mu.Unlock()
	answer, err := m.at.call(ctx, q, m.version, min(m.cluster.timeout, m.SessionTimeout/3))
	if err != nil {
		return nil, err
	}
	a := answer.(*consumerAnswer)
	if err := m.at.failure(a.code); err != nil {
		if a.message != "" {
			err = fmt.Errorf("%w: %s", err, a.message)
		}
		return nil, err
	}
	return a, nil
}

// learn adopts what an answer contains, the assignment before the epoch.
func (m *Consumer) learn(a *consumerAnswer) {
	if a.assigned != nil {
		m.target = a.assigned
	}
	if a.interval > 0 {
		m.interval = a.interval
	}
	if a.epoch > 0 {
		m.setEpoch(a.epoch)
	}
}

func (m *Consumer) setEpoch(epoch int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if epoch != m.epoch {
		m.epoch = epoch
		close(m.moved)
		m.moved = make(chan struct{})
	}
}

// reconcile makes the holder take and release the difference between what it has and what the coordinator assigns to us. A partition that
// is assigned to us again while it is being released is taken afterwards.
func (m *Consumer) reconcile() {
	if m.stopping {
		return
	}
	if gone := without(without(m.owned, m.target), m.releasing); len(gone) > 0 {
		m.release(gone)
	}
	more := without(m.target, m.owned)
	for id := range more {
		if _, known := m.names[id]; !known {
			delete(more, id)
			select {
			case m.look <- struct{}{}:
			default:
			}
		}
	}
	if len(more) == 0 {
		return
	}
	m.owned.add(more)
	m.report = true
	for _, of := range m.namedHeld(more) {
		m.holder.Take(m.tenure, of)
	}
}

// less notes what has been released, and reports whether that was all of it, which is then reported at once.
func (m *Consumer) less(parts held) (all bool) {
	m.owned, m.releasing, m.report = without(m.owned, parts), without(m.releasing, parts), true
	m.reconcile() // what was assigned to us again meanwhile
	return len(m.releasing) == 0
}

// drop makes the holder end everything, because the group has given it to others.
func (m *Consumer) drop(why error) {
	m.mu.Lock()
	m.tenure.over = true
	m.mu.Unlock()
	m.endLife()
	m.holder.Drop()
	m.Logger.Warn("removed from the group; rejoining", "group", m.Group, "reason", why)
}

// leave reports that we leave: for good, or as a static member that returns within the session. It reports nothing if someone takes over
// our place.
func (m *Consumer) leave() {
	m.mu.Lock()
	if m.tenure != nil {
		m.tenure.over = true
	}
	place := Place{m.id, m.epoch}
	m.mu.Unlock()
	if m.Place.epoch > 0 { // not joined yet
		place = m.Place
	}
	if !m.unanswered && m.Keep(place) {
		return
	}
	q := &consumerBeat{epoch: -1, instance: m.InstanceID}
	if m.returns() {
		q.epoch = -2
	}
	ctx, cancel := context.WithTimeout(context.Background(), min(m.cluster.timeout, m.LeaveTimeout))
	defer cancel()
	if _, err := m.send(ctx, q); err != nil {
		m.Logger.Debug("leaving the group failed; the group will notice after the session timeout", "group", m.Group, "error", err)
	}
}

// nudge makes a heartbeat go out now.
func (m *Consumer) nudge() {
	select {
	case m.nudges <- struct{}{}:
	default:
	}
}
