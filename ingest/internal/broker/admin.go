package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/segmentio/kafka-go"
)

// Found asks any broker for a topic's metadata. If the topic is missing, the error is the broker's own.
func (c *Cluster) Found(ctx context.Context, topic string) (Topic, error) {
	m, err := c.client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return Topic{}, err
	}
	if len(m.Topics) != 1 {
		return Topic{}, fmt.Errorf("topic %s: %w", topic, ErrNoTopic)
	}
	if err := m.Topics[0].Error; err != nil {
		return Topic{}, fmt.Errorf("topic %s: %w", topic, err)
	}
	return Topic{Partitions: len(m.Topics[0].Partitions)}, nil
}

// TopicNames returns the names of all topics.
func (c *Cluster) TopicNames(ctx context.Context) ([]string, error) {
	m, err := c.client.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(m.Topics))
	for i, t := range m.Topics {
		names[i] = t.Name
	}
	return names, nil
}

// Groups returns the names of all groups, sorted.
func (c *Cluster) Groups(ctx context.Context) ([]string, error) {
	if _, err := c.client.Metadata(ctx, &kafka.MetadataRequest{}); err != nil {
		return nil, err // if no broker answers, kafka-go lists no groups without an error
	}
	r, err := c.client.ListGroups(ctx, &kafka.ListGroupsRequest{})
	if err == nil {
		err = r.Error
	}
	if err != nil {
		return nil, fmt.Errorf("list of groups: %w", err)
	}
	names := make([]string, len(r.Groups))
	for i, g := range r.Groups {
		names[i] = g.GroupID
	}
	slices.Sort(names)
	return names, nil
}

// AllCommits returns what a group has committed, by topic and partition: nothing if the group is not known.
func (c *Cluster) AllCommits(ctx context.Context, group string) (map[string]map[int]Commit, error) {
	r, err := c.client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group})
	if err == nil && !errors.Is(r.Error, kafka.GroupIdNotFound) {
		err = r.Error
	}
	if err != nil {
		return nil, err
	}
	topics := map[string]map[int]Commit{}
	for topic, partitions := range r.Topics {
		topics[topic] = map[int]Commit{}
		for _, p := range partitions {
			if p.Error != nil {
				return nil, fmt.Errorf("topic %s, partition %d: %w", topic, p.Partition, p.Error)
			}
			if p.CommittedOffset >= 0 {
				topics[topic][p.Partition] = Commit{p.CommittedOffset, p.Metadata}
			}
		}
	}
	return topics, nil
}

// GroupMember is one of a group's members, as its coordinator describes it.
type GroupMember struct {
	ID, Client, Host string
	Partitions       []int // of the topic that was asked for, ascending; of all topics if none was
	Consumer         bool  // by the consumer protocol, in which the brokers decide how long it may be silent
}

// Members returns the members of a group with their partitions of a topic. A group that is not known has none.
func (c *Cluster) Members(ctx context.Context, group, topic string) ([]GroupMember, error) {
	r, err := c.client.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: []string{group}})
	if err == nil && len(r.Groups) == 1 && !errors.Is(r.Groups[0].Error, kafka.GroupIdNotFound) {
		err = r.Groups[0].Error
	}
	if err != nil {
		return nil, err
	}
	var members []GroupMember
	for _, g := range r.Groups {
		if len(g.Members) == 0 {
			return c.consumersOf(ctx, group, topic)
		}
		for _, m := range g.Members {
			member := GroupMember{ID: m.MemberID, Client: m.ClientID, Host: m.ClientHost}
			for _, t := range m.MemberAssignments.Topics {
				if t.Topic == topic || topic == "" {
					member.Partitions = append(member.Partitions, t.Partitions...)
				}
			}
			slices.Sort(member.Partitions)
			members = append(members, member)
		}
	}
	return members, nil
}

// consumersOf is Members for groups of the consumer protocol, which the older request reports as not known. Brokers without the protocol
// have none.
func (c *Cluster) consumersOf(ctx context.Context, group, topic string) ([]GroupMember, error) {
	if _, version, err := c.versions(ctx); err != nil || version == noConsumers {
		return nil, err
	}
	at := coordinator{Cluster: c, group: group}
	answer, err := at.call(ctx, &describeConsumers{group}, 0, c.timeout)
	if err != nil {
		return nil, err
	}
	described := answer.(*describedConsumers)
	switch err := at.failure(described.code); {
	case errors.Is(err, kafka.GroupIdNotFound), errors.Is(err, kafka.UnsupportedVersion):
		return nil, nil
	case err != nil:
		return nil, err
	}
	var asked topicID // some brokers name no topics here; one that is gone has none of a member's partitions
	if topic != "" {
		found, err := c.identify(ctx, []string{topic})
		if err != nil {
			return nil, err
		}
		asked = found[topic].state.id
	}
	var members []GroupMember
	for _, m := range described.members {
		member := GroupMember{ID: m.id, Client: m.client, Host: m.host, Consumer: true}
		for _, of := range m.assigned {
			if topic == "" || of.name == topic || of.name == "" && of.id == asked && asked != (topicID{}) {
				member.Partitions = append(member.Partitions, of.partitions...)
			}
		}
		slices.Sort(member.Partitions)
		members = append(members, member)
	}
	return members, nil
}

// DeleteGroups deletes groups that have no members.
func (c *Cluster) DeleteGroups(ctx context.Context, groups []string) error {
	if len(groups) == 0 {
		return nil
	}
	r, err := c.client.DeleteGroups(ctx, &kafka.DeleteGroupsRequest{GroupIDs: groups})
	if err != nil {
		return err
	}
	var errs []error
	for name, err := range r.Errors {
		if err != nil {
			errs = append(errs, fmt.Errorf("group %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}
