// Package control keeps what people ask of running pipelines (to pause, or to observe a limit) in a compacted topic. So it outlives every
// process, and all members of a group read the same.
//
// The topic has one partition, so that requests are ordered, and up to two records per consumer group. The key of one is the group's name,
// its value an Entry as JSON, or null if nothing is asked any more. The other's key is "limit " and the name; its value is an Entry whose
// limit replaces that of the first. The first write creates the topic; while it is missing, nothing is asked. The topic also holds Marks,
// Configurations and Members, which ask for nothing: their keys contain a space, too, and no group's name does.
package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"brine/event"
	"brine/ingest/internal/broker"
	"brine/internal/backoff"
)

// Entry is what is asked of one consumer group.
type Entry struct {
	Paused bool      `json:"paused,omitempty"`
	Limit  float64   `json:"limit,omitempty"` // records per second of the whole group; 0: no limit
	By     string    `json:"by,omitempty"`    // who asked
	At     time.Time `json:"at"`
}

// nothing reports whether an entry asks for nothing.
func (e Entry) nothing() bool { return !e.Paused && e.Limit == 0 }

// Options name the topic and how to reach it.
type Options struct {
	Kafka          broker.Kafka
	RequestTimeout time.Duration // for one answer of a broker; default 10 s
	Topic          string        // required
	Every          time.Duration // how often to look at it; default 1 s
	Logger         *slog.Logger  // default slog.Default()
}

// Topic is the topic that holds what is asked. It is safe for concurrent use.
type Topic struct {
	opts    Options
	cluster *broker.Cluster

	mu     sync.Mutex
	state  map[string]Entry // as far as it has been read
	limits map[string]Entry // the limits among them that have records of their own
	next   int64            // the offset to read next
	as     broker.Topic     // the topic that was read
	absent int              // how often in a row the brokers have not known it

	reports sync.Mutex        // guards members; never held while brokers are asked
	members map[string]Member // by key, as far as the topic has been read

	keeping *together[Configuration]
	marking *together[Mark]
}

// Open returns a client of the topic. It does not connect yet.
func Open(o Options) *Topic {
	if o.RequestTimeout == 0 {
		o.RequestTimeout = 10 * time.Second
	}
	if o.Every == 0 {
		o.Every = time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	t := &Topic{opts: o, cluster: broker.New(o.Kafka, o.RequestTimeout, o.Topic), keeping: newTogether[Configuration](),
		marking: newTogether[Mark]()}
	t.forget()
	return t
}

// forget makes the next Read start at the topic's beginning.
func (t *Topic) forget() {
	t.state, t.limits, t.next, t.as, t.absent = map[string]Entry{}, map[string]Entry{}, 0, broker.Topic{}, 0
	t.reports.Lock()
	defer t.reports.Unlock()
	t.members = map[string]Member{}
}

// Close ends all requests.
func (t *Topic) Close() { t.cluster.Close() }

// Name returns the topic's name.
func (t *Topic) Name() string { return t.opts.Topic }

// Put replaces what is asked of a group, but not a limit that PutLimit has set. It returns nil once that is durable.
func (t *Topic) Put(ctx context.Context, group string, e Entry) error {
	rec := event.Record{Timestamp: e.At.UnixMilli(), Key: []byte(group)}
	if !e.nothing() {
		value, err := json.Marshal(e)
		if err != nil {
			return err
		}
		rec.Value = value
	}
	return t.write(ctx, []event.Record{rec})
}

// PutLimit replaces the limit of a group. It returns nil once that is durable. The limit is a record of its own, so that a limit and a
// pause that two processes ask for at the same moment do not undo each other.
func (t *Topic) PutLimit(ctx context.Context, group string, e Entry) error {
	e.Paused = false
	value, err := json.Marshal(e) // of no limit too: it replaces one that Put has set
	if err != nil {
		return err
	}
	return t.write(ctx, []event.Record{{Timestamp: e.At.UnixMilli(), Key: []byte(limitKey + group), Value: value}})
}

// limitKey begins the keys of limits.
const limitKey = "limit "

// write creates the topic if it is missing, and returns nil once the records are durable.
func (t *Topic) write(ctx context.Context, records []event.Record) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.cluster.Topic(ctx, t.opts.Topic); errors.Is(err, broker.ErrNoTopic) {
		if err := t.cluster.Create(ctx, t.opts.Topic, 1, -1, map[string]string{"cleanup.policy": "compact"}); err != nil {
			return fmt.Errorf("creating topic %q: %w; create it, with one partition and cleanup.policy=compact, or give the user CREATE on it",
				t.opts.Topic, err)
		}
	} else if err != nil {
		return err
	}
	pauses := backoff.Pauses{Base: 50 * time.Millisecond, Limit: time.Second}
	for {
		err := t.cluster.Produce(ctx, t.opts.Topic, 0, records)
		if err == nil {
			return nil
		}
		if errors.Is(err, broker.ErrDenied) || pauses.Wait(ctx) != nil { // a topic that was just created has no leader yet
			return fmt.Errorf("topic %q: %w", t.opts.Topic, err)
		}
	}
}

// Read reads the topic up to its current end and returns what is asked, by consumer group. A missing topic asks for nothing.
func (t *Topic) Read(ctx context.Context) (map[string]Entry, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.cluster.LearnVersions(ctx); err != nil {
		return nil, err
	}
	now, err := t.cluster.Topic(ctx, t.opts.Topic)
	if errors.Is(err, broker.ErrNoTopic) {
		if t.absent++; t.next > 0 && t.absent < absences {
			return nil, err
		}
		t.forget()
		return map[string]Entry{}, nil
	}
	if err != nil {
		return nil, err
	}
	t.absent = 0
	end, err := t.cluster.Offset(ctx, t.opts.Topic, 0, broker.Newest)
	if err != nil {
		return nil, err
	}
	if !now.Is(t.as) || end < t.next {
		t.forget()
	}
	t.as = now
	for rec, err := range t.cluster.Records(ctx, t.opts.Topic, 0, t.next, end) {
		if err != nil {
			return nil, err
		}
		t.apply(rec)
		t.next = rec.Offset + 1
	}
	t.next = end
	return t.asked(), nil
}

// absences is how often in a row the brokers must not know a topic that was read before nothing counts as asked. A broker that has just
// started may know no topic yet, and what is paused must not go on for that.
const absences = 5

// asked returns what is asked, by consumer group.
func (t *Topic) asked() map[string]Entry {
	out := maps.Clone(t.state)
	for group, l := range t.limits {
		e := out[group]
		if e.Limit = l.Limit; l.At.After(e.At) {
			e.By, e.At = l.By, l.At
		}
		if out[group] = e; e.nothing() {
			delete(out, group)
		}
	}
	return out
}

func (t *Topic) apply(rec *event.Record) {
	group := string(rec.Key)
	limited, isLimit := strings.CutPrefix(group, limitKey)
	if kind, _, other := strings.Cut(group, " "); other && !isLimit {
		if kind+" " == memberKey {
			t.report(rec)
		}
		return
	}
	var e Entry
	if len(rec.Value) > 0 {
		if err := json.Unmarshal(rec.Value, &e); err != nil || e.Limit < 0 {
			t.opts.Logger.Error("ignoring a control-topic record that cannot be read",
				"topic", t.opts.Topic, "offset", rec.Offset, "error", err)
			return
		}
	}
	switch {
	case isLimit && len(rec.Value) == 0:
		delete(t.limits, limited)
	case isLimit:
		t.limits[limited] = e
	case e.nothing():
		delete(t.state, group)
	default:
		t.state[group] = e
	}
}

// Follow calls asked with what is asked, by consumer group, at first and after every change, and failed with the reason while the topic
// cannot be read, until ctx ends. A topic that brine may not read asks for nothing; that is reported too.
func (t *Topic) Follow(ctx context.Context, asked func(map[string]Entry), failed func(error)) {
	var last map[string]Entry // nil until known
	pauses := backoff.Pauses{Base: t.opts.Every, Limit: max(t.opts.Every, 15*time.Second)}
	for {
		now, err := t.Read(ctx)
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, broker.ErrDenied) && last == nil {
			now = map[string]Entry{}
		}
		if now != nil && (last == nil || !maps.Equal(last, now)) {
			last = now
			asked(maps.Clone(now))
		}
		if err != nil {
			failed(err)
			err = pauses.Wait(ctx)
		} else {
			pauses.Failures = 0
			err = backoff.Wait(ctx, t.opts.Every)
		}
		if err != nil {
			return
		}
	}
}
