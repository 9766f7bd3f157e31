package ingest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"brine/event"
	"brine/ingest/deadletter"
	"brine/ingest/internal/broker"
)

// DeadLetterSuffix is appended to a topic's name to name its dead-letter topic, unless options name another.
const DeadLetterSuffix = ".dead"

// Topics are several topics that one Loop reads: those in Names, all of which must exist, or those that Match accepts.
//
// A group that has committed nothing in any topic begins in all of them at Options.Start. A topic that appears later begins at its first
// record: with "latest", what was written before we knew of it would be lost.
type Topics struct {
	Names []string
	Start map[string]Position // where some of Names begin while the group has committed nothing of them; for others see above

	Match   func(topic string) bool
	Refresh time.Duration // how often to look for topics that match; default 30 s
}

func (t *Topics) ensureDefaults() {
	if t.Refresh == 0 {
		t.Refresh = 30 * time.Second
	}
}

// topics is what a Loop knows of its topics.
type topics struct {
	runners map[string]*runner      // by topic; nil if there is only one
	late    map[string]bool         // topics that were missing when first looked for
	known   map[string]broker.Topic // topics that match
	looked  time.Time               // when matching topics were last looked for
}

// watchEvery returns how often to look at the topics.
func (l *Loop) watchEvery() time.Duration {
	const most = 5 * time.Second
	if l.Topics != nil && l.Topics.Match != nil {
		return min(l.Topics.Refresh, most)
	}
	return most
}

// names returns the topics that a cluster will be asked about; none: any.
func (r *runner) names() []string {
	if r.Topics == nil {
		return []string{r.Topic, r.DeadLetterTopic}
	}
	names := slices.Clone(r.Topics.Names)
	for _, name := range r.Topics.Names {
		names = append(names, r.deadLettersOf(name))
	}
	return names
}

func (r *runner) deadLettersOf(topic string) string {
	if r.DeadLetterTopic != "" {
		return r.DeadLetterTopic
	}
	return topic + DeadLetterSuffix
}

// open finds the topics, the group's offsets and the dead-letter topics, before anything starts.
func (l *Loop) open(ctx context.Context) error {
	var err error
	if l.Topics == nil {
		err = l.connect(ctx)
		if errors.Is(err, ErrNoTopic) {
			l.Start = Earliest // it did not exist before: "latest" would lose what is written until it is found
		}
		return err
	}
	if err = l.cluster.Patiently(ctx, func() error { return l.openAll(ctx) }); err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	return nil
}

func (l *Loop) openAll(ctx context.Context) error {
	if err := l.cluster.LearnVersions(ctx); err != nil {
		return err
	}
	if err := l.allThere(ctx); err != nil {
		return err
	}
	l.topics.looked = time.Time{}
	found, err := l.now(ctx)
	if err != nil {
		return err
	}
	committed, err := l.cluster.AllCommits(ctx, l.Group)
	if err != nil {
		return fmt.Errorf("offsets of group %q: %w", l.Group, err)
	}
	l.topics.runners = map[string]*runner{}
	for name, state := range found {
		r := l.topic(name)
		r.first = state
		r.fresh.Store(len(committed) == 0)
		if own, ok := l.Topics.Start[name]; ok {
			_, began := committed[name]
			r.Start = own
			r.fresh.Store(!began)
		}
		if l.topics.late[name] {
			r.Start = Earliest
		}
		if l.DeadLetters == nil {
			if r.letters, err = deadletter.OpenTopic(ctx, l.cluster, r.DeadLetterTopic, name, state.Partitions); err != nil {
				return err
			}
		}
	}
	if len(found) == 0 {
		l.Logger.Warn("no topic matches yet", "group", l.Group, "looking_again_in", l.Topics.Refresh)
	}
	return nil
}

// allThere returns an error unless all named topics exist, and notes those that do not.
func (l *Loop) allThere(ctx context.Context) (missing error) {
	for _, name := range l.Topics.Names {
		_, err := l.cluster.Topic(ctx, name)
		switch {
		case errors.Is(err, ErrNoTopic):
			if l.topics.late == nil {
				l.topics.late = map[string]bool{}
			}
			l.topics.late[name] = true
			if missing == nil {
				missing = err
			}
		case err != nil:
			return err
		}
	}
	return missing
}

// now asks for the state of the topics to read.
func (l *Loop) now(ctx context.Context) (found map[string]broker.Topic, err error) {
	switch {
	case l.Topics == nil:
		return l.cluster.Topics(ctx, []string{l.Topic})
	case l.Topics.Match == nil:
		return l.cluster.Topics(ctx, l.Topics.Names)
	case time.Since(l.topics.looked) < l.Topics.Refresh:
		found, err = l.cluster.Still(ctx, l.topics.known)
	default:
		if found, err = l.cluster.Matching(ctx, l.Topics.Match, l.topics.known); err == nil {
			l.topics.looked = time.Now()
		}
	}
	if err == nil {
		l.topics.known = found
	}
	return found, err
}

// topic returns the runner of a topic. A topic not yet known was created after Run began: its first records are its earliest.
func (l *Loop) topic(name string) *runner {
	if l.Topics == nil {
		return l.runner
	}
	r := l.topics.runners[name]
	if r == nil {
		o := *l.Options
		o.Topic, o.Topics, o.DeadLetterTopic = name, nil, l.deadLettersOf(name)
		r = newRunner(&o)
		r.cluster, r.limit = l.cluster, l.limit
		if r.letters = l.DeadLetters; r.letters == nil {
			r.letters = &lateLetters{of: r}
		}
		l.topics.runners[name] = r
	}
	return r
}

// lateLetters opens a topic's dead letters when the first is written, so that a dead-letter topic that cannot be created holds up only the
// partition that needs it.
type lateLetters struct {
	of *runner

	mu   sync.Mutex
	open DeadLetters // nil until the first is written
}

// Write implements DeadLetters.
func (l *lateLetters) Write(ctx context.Context, letters []deadletter.Letter) error {
	open, err := l.opened(ctx)
	if err != nil {
		return err
	}
	return open.Write(ctx, letters)
}

func (l *lateLetters) opened(ctx context.Context) (DeadLetters, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open != nil {
		return l.open, nil
	}
	r := l.of
	topic, err := r.cluster.Topic(ctx, r.Topic)
	if err != nil {
		return nil, err
	}
	opened, err := deadletter.OpenTopic(ctx, r.cluster, r.DeadLetterTopic, r.Topic, topic.Partitions)
	if err != nil {
		return nil, err
	}
	l.open = opened
	return opened, nil
}

// rejected returns why one of the topics is halted because all its records were rejected, or nil.
func (all assignments) rejected() error {
	for _, a := range all {
		if err := a.rejects.why(); err != nil {
			return err
		}
	}
	return nil
}

// TopicReader reads records of a topic without a group, for samples.
type TopicReader struct {
	cluster *broker.Cluster
	topic   string
}

// NewTopicReader returns a reader of the options' topic. It does not connect yet.
func NewTopicReader(o Options) *TopicReader {
	o.EnsureDefaults()
	return &TopicReader{broker.New(o.Kafka, o.RequestTimeout, o.Topic), o.Topic}
}

// Records reads the offsets of a partition from from up to, but not including, to. Like the loop, it leaves out records of aborted
// transactions. A record is valid until the next.
func (r *TopicReader) Records(ctx context.Context, partition int, from, to int64) iter.Seq2[*event.Record, error] {
	return r.cluster.Records(ctx, r.topic, partition, from, to)
}

// Close ends all requests.
func (r *TopicReader) Close() { r.cluster.Close() }
