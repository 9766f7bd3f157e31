package offsets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"brine/ingest/internal/broker"
	"brine/ingest/internal/note"
)

// Group is a consumer group in one topic, as the brokers know it.
type Group struct {
	Group, Topic string
	Starts, Ends []int64       // of the topic, by partition
	Committed    map[int]int64 // by partition; no entry: nothing
	Consumer     bool          // the group speaks the consumer protocol
	Members      []string      // each with what it owns; brokers list a killed one until its session ends
	IDs          []string      // of the members
}

// Errors of moves.
var (
	ErrNoPartition = errors.New("no such partition")
	ErrOutside     = errors.New("the offset is outside the log")
	ErrMembers     = errors.New("the group has members")
	ErrNotSet      = errors.New("the offsets were not set")
)

// Group looks up a group.
func (c *Client) Group(ctx context.Context, group, topic string) (*Group, error) {
	g := &Group{Group: group, Topic: topic}
	var err error
	if g.Ends, err = c.Ends(ctx, topic); err != nil {
		return nil, err
	}
	if g.Starts, err = c.Starts(ctx, topic); err != nil {
		return nil, err
	}
	if g.Committed, err = c.CommittedAll(ctx, group, topic, len(g.Ends)); err != nil {
		return nil, err
	}
	members, err := c.cluster.Members(ctx, group, topic)
	if err != nil {
		return nil, fmt.Errorf("members of group %q: %w", group, err)
	}
	for _, m := range members {
		g.Consumer = g.Consumer || m.Consumer
		g.Members = append(g.Members, fmt.Sprintf("%s on %s (%s) with partitions %v", m.Client, m.Host, m.ID, m.Partitions))
		g.IDs = append(g.IDs, m.ID)
	}
	slices.Sort(g.Members)
	slices.Sort(g.IDs)
	return g, nil
}

// Member is one of a group's members, as the brokers know it.
type Member struct {
	ID         string `json:"id"`
	Client     string `json:"client"`
	Host       string `json:"host"`
	Partitions int    `json:"partitions"`
}

// Members returns the members of a group, or none if the group is not known. A killed process is listed until its session ends.
func (c *Client) Members(ctx context.Context, group string) ([]Member, error) {
	found, err := c.cluster.Members(ctx, group, "")
	if err != nil {
		return nil, fmt.Errorf("members of group %q: %w", group, err)
	}
	members := make([]Member, len(found))
	for i, m := range found {
		members[i] = Member{m.ID, m.Client, m.Host, len(m.Partitions)}
	}
	slices.SortFunc(members, func(a, b Member) int { return cmp.Compare(a.ID, b.ID) })
	return members, nil
}

// Next returns where the group resumes in a partition, and whether it has committed that offset; otherwise it is the earliest record.
func (g *Group) Next(partition int) (offset int64, committed bool) {
	if offset, ok := g.Committed[partition]; ok {
		return offset, true
	}
	return g.Starts[partition], false
}

// Lag returns the number of offsets of a partition left to read, an upper bound of the records.
func (g *Group) Lag(partition int) int64 {
	next, _ := g.Next(partition)
	return max(0, g.Ends[partition]-max(next, g.Starts[partition]))
}

// Move is the effect of a move on one partition.
type Move struct {
	Partition int
	Now       *int64 // nil if nothing is committed
	Then      int64
	Again     int64 // offsets read again: an upper bound of the records, here and below
	Skipped   int64 // offsets never read
}

// Moves returns what would change if the group continued at these offsets, in the named partitions (nil: all). ErrNoPartition or ErrOutside
// is in the chain of its error.
func (g *Group) Moves(to map[int]int64, partitions []int) ([]Move, error) {
	for _, p := range partitions {
		if p < 0 || p >= len(g.Ends) {
			return nil, g.noPartition(p)
		}
	}
	var out []Move
	for p := range g.Ends {
		then, ok := to[p]
		if !ok || len(partitions) > 0 && !slices.Contains(partitions, p) {
			continue
		}
		now, committed := g.Next(p)
		if committed && now == then {
			continue
		}
		if then < g.Starts[p] || then > g.Ends[p] {
			const outside = "partition %d would continue at offset %d, but its log is %d to %d; choose an offset within it, or earliest or latest%w"
			return nil, fmt.Errorf(outside, p, then, g.Starts[p], g.Ends[p], silent{ErrOutside})
		}
		m := Move{Partition: p, Then: then, Again: max(0, now-then), Skipped: max(0, then-max(now, g.Starts[p]))}
		if committed {
			m.Now = &now
		}
		out = append(out, m)
	}
	return out, nil
}

func (g *Group) noPartition(p int) error {
	return fmt.Errorf("topic %q has no partition %d; it has %d%w", g.Topic, p, len(g.Ends), silent{ErrNoPartition})
}

// silent is an error that the message has already put into words.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }

// Set commits the moves without being a member, with a note of who has read the partitions so far. Brokers refuse that while the group has
// members; the error is then ErrMembers. If it is ErrNotSet, nothing was committed.
func (c *Client) Set(ctx context.Context, g *Group, moves []Move) error {
	if len(moves) == 0 {
		return nil
	}
	commits, err := c.moved(ctx, g, moves)
	if err != nil {
		return fmt.Errorf("%w, because what is committed is not known: %w", ErrNotSet, err)
	}
	err = c.cluster.Commit(ctx, broker.Nobody(g.Group), g.Topic, commits)
	if errors.Is(err, broker.ErrUnknownMember) || errors.Is(err, broker.ErrOldCommit) {
		return fmt.Errorf("%w: %w", ErrMembers, err)
	}
	return err
}

// moved returns the commits of moves. What is committed is looked up again, because the group may have read on since it was looked up.
func (c *Client) moved(ctx context.Context, g *Group, moves []Move) (map[int]broker.Commit, error) {
	if err := c.cluster.LearnVersions(ctx); err != nil { // or the topic has no id
		return nil, err
	}
	topic, err := c.cluster.Topic(ctx, g.Topic)
	if err != nil {
		return nil, err
	}
	partitions := make([]int, len(moves))
	for i, m := range moves {
		partitions[i] = m.Partition
	}
	commits, err := c.cluster.Commits(ctx, g.Group, g.Topic, partitions)
	if err != nil {
		return nil, err
	}
	for _, m := range moves {
		commits[m.Partition] = broker.Commit{Offset: m.Then, Metadata: note.Moved(commits[m.Partition], topic).String()}
	}
	return commits, nil
}
