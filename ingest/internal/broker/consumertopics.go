package broker

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"brine/internal/backoff"
)

// know adopts the state of the topics, and reports whether the set of topics has changed.
func (m *Consumer) know(topics map[string]Topic) (others bool) {
	others = !slices.Equal(slices.Sorted(maps.Keys(topics)), slices.Sorted(maps.Keys(m.topics)))
	if m.names == nil {
		m.names = map[topicID]string{}
	}
	for name, t := range topics {
		m.names[t.id] = name // earlier ids stay: partitions of a deleted topic are released by them
	}
	m.topics = topics
	return others
}

func (m *Consumer) subscribed() []string {
	names := slices.Sorted(maps.Keys(m.topics))
	if names == nil {
		return []string{}
	}
	return names
}

// watch asks for the topics at intervals, and when an id is not known.
func (m *Consumer) watch(ctx context.Context) {
	tick := time.NewTicker(m.watchEvery())
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-m.look:
			if backoff.Wait(ctx, 100*time.Millisecond) != nil { // brokers learn of a topic one after another
				return
			}
		}
		topics, err := m.askTopics(ctx)
		if err != nil {
			continue
		}
		select {
		case m.seen <- topics:
		case <-ctx.Done():
			return
		}
	}
}

// askTopics asks for the topics, after a request in progress has ended.
func (m *Consumer) askTopics(ctx context.Context) (map[string]Topic, error) {
	select {
	case m.asking <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-m.asking }()
	return m.Topics(ctx)
}

// namedHeld returns partitions with their topics as far as they are known.
func (m *Consumer) namedHeld(parts held) (out []Held) {
	for id, partitions := range parts {
		of := Held{Name: m.names[id], Topic: Topic{id: id}}
		if t := m.topics[of.Name]; t.id == id {
			of.Topic = t
		}
		for _, p := range partitions {
			of.Partitions = append(of.Partitions, int(p))
			of.Topic.Partitions = max(of.Topic.Partitions, int(p)+1)
		}
		slices.Sort(of.Partitions)
		out = append(out, of)
	}
	slices.SortFunc(out, func(a, b Held) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), slices.Compare(a.Topic.id[:], b.Topic.id[:]))
	})
	return out
}

// without returns what is in a but not in b.
func without(a, b held) held {
	out := held{}
	for id, partitions := range a {
		for _, p := range partitions {
			if !slices.Contains(b[id], p) {
				out[id] = append(out[id], p)
			}
		}
	}
	return out
}

func (h held) add(more held) {
	for id, partitions := range more {
		h[id] = append(h[id], partitions...)
	}
}
