package offsets

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"brine/ingest/internal/broker"
	"brine/ingest/internal/note"
)

// Client asks the brokers. Each call is one attempt, which waits for a broker for at most the request timeout. It is safe for concurrent
// use.
type Client struct{ cluster *broker.Cluster }

// Open returns a client that is not connected yet.
func Open(k broker.Kafka, requestTimeout time.Duration) *Client {
	return &Client{broker.New(k, requestTimeout)}
}

// Close ends all requests.
func (c *Client) Close() { c.cluster.Close() }

// Answered reports whether an error is a broker's answer, as opposed to the lack of one.
func Answered(err error) bool { return broker.Answered(err) }

// NoTopic reports whether an error means that a topic, or a partition of it, is missing.
func NoTopic(err error) bool { return broker.NoTopic(err) }

// Temporary reports whether a broker's error will pass, for example one during a leader election.
func Temporary(err error) bool { return broker.Temporary(err) }

// HasConsumers reports whether the brokers have the consumer protocol (KIP-848), even if turned off.
func (c *Client) HasConsumers(ctx context.Context) (bool, error) { return c.cluster.HasConsumers(ctx) }

// Ends returns the next offset of each partition of a topic, counting records of open transactions.
func (c *Client) Ends(ctx context.Context, topic string) ([]int64, error) {
	return c.everywhere(ctx, topic, broker.Newest, broker.Uncommitted)
}

// StableEnds returns how far each partition of a topic can be read now: up to the first record of a transaction that is still open.
func (c *Client) StableEnds(ctx context.Context, topic string) ([]int64, error) {
	return c.everywhere(ctx, topic, broker.Newest, broker.Committed)
}

// Starts returns the first offset of each partition of a topic.
func (c *Client) Starts(ctx context.Context, topic string) ([]int64, error) {
	return c.everywhere(ctx, topic, broker.Oldest, broker.Uncommitted)
}

// At returns the offset of the first record at or after a time in each partition of a topic, or −1 if there is none.
func (c *Client) At(ctx context.Context, topic string, at time.Time) ([]int64, error) {
	return c.everywhere(ctx, topic, at.UnixMilli(), broker.Uncommitted)
}

func (c *Client) everywhere(ctx context.Context, topic string, at int64, level broker.Level) ([]int64, error) {
	t, err := c.cluster.Found(ctx, topic)
	if err != nil {
		return nil, err
	}
	found, err := c.cluster.Offsets(ctx, topic, t.IDs(), at, level)
	if err != nil {
		return nil, err
	}
	out := make([]int64, t.Partitions)
	for p := range out {
		out[p] = found[p]
	}
	return out, nil
}

// Committed returns what a group has committed for partitions of a topic. There is no entry where nothing is committed.
func (c *Client) Committed(ctx context.Context, group, topic string, partitions []int) (map[int]int64, error) {
	commits, err := c.cluster.Commits(ctx, group, topic, partitions)
	if err != nil {
		return nil, fmt.Errorf("offsets of group %q: %w", group, err)
	}
	committed := make(map[int]int64, len(commits))
	for p, commit := range commits {
		committed[p] = commit.Offset
	}
	return committed, nil
}

// CommittedAll is Committed for all partitions of a topic that has that many.
func (c *Client) CommittedAll(ctx context.Context, group, topic string, partitions int) (map[int]int64, error) {
	return c.Committed(ctx, group, topic, broker.Topic{Partitions: partitions}.IDs())
}

// Groups returns the sorted names of all groups that the brokers know.
func (c *Client) Groups(ctx context.Context) ([]string, error) { return c.cluster.Groups(ctx) }

// Topics returns the topics in which a group has committed offsets, sorted.
func (c *Client) Topics(ctx context.Context, group string) ([]string, error) {
	topics, err := c.commits(ctx, group)
	return slices.Sorted(maps.Keys(topics)), err
}

// Notes returns the notes that accompany a group's commits, each once, in no order.
func (c *Client) Notes(ctx context.Context, group string) ([]string, error) {
	topics, err := c.commits(ctx, group)
	notes := map[string]struct{}{}
	for _, commits := range topics {
		for _, commit := range commits {
			notes[commit.Metadata] = struct{}{}
		}
	}
	return slices.Collect(maps.Keys(notes)), err
}

// Last is the last commit of a partition, as its note reads: see ingest.Taken.
type Last struct {
	Offset int64
	Reader string // who reads the partition
	Moved  bool   // nobody has read up to the offset: it was set
}

// LastOf returns the last commits of a group in a topic, by partition.
func (c *Client) LastOf(ctx context.Context, group, topic string) (map[int]Last, error) {
	topics, err := c.commits(ctx, group)
	last := map[int]Last{}
	for partition, commit := range topics[topic] {
		if commit.Offset >= 0 {
			n := note.Read(commit.Metadata)
			last[partition] = Last{commit.Offset, n.Reader, n.Moved}
		}
	}
	return last, err
}

// commits returns all that a group has committed, by topic and partition.
func (c *Client) commits(ctx context.Context, group string) (map[string]map[int]broker.Commit, error) {
	topics, err := c.cluster.AllCommits(ctx, group)
	if err != nil {
		return nil, fmt.Errorf("offsets of group %q: %w", group, err)
	}
	return topics, nil
}

// Forget deletes groups with all that they have committed. None of them may have members.
func (c *Client) Forget(ctx context.Context, groups ...string) error {
	return c.cluster.DeleteGroups(ctx, groups)
}
