package ingest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/segmentio/kafka-go"
)

// commit is what a group has committed for a partition.
type commit struct {
	offset   int64
	metadata string
}

// committed returns what the group has committed for each of these partitions of the topic.
func (c *cluster) committed(ctx context.Context, group, topic string, partitions []int) (map[int]commit, error) {
	commits := map[int]commit{}
	if len(partitions) == 0 {
		return commits, nil
	}
	r, err := c.client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: partitions}})
	if err != nil {
		return nil, err
	}
	if r.Error != nil && !errors.Is(r.Error, kafka.GroupIdNotFound) {
		return nil, r.Error
	}
	for _, p := range r.Topics[topic] {
		if p.Error != nil {
			return nil, p.Error
		}
		if p.CommittedOffset >= 0 {
			commits[p.Partition] = commit{p.CommittedOffset, p.Metadata}
		}
	}
	return commits, nil
}

// claim is what a commit is made for: a group without members, or a generation of one, which the coordinator holds it to.
type claim struct {
	group      string
	generation int // −1 without members
	member     string
	instance   string
}

// commit commits for a group.
func (c *cluster) commit(ctx context.Context, by claim, topic string, commits map[int]commit) error {
	request := &kafka.OffsetCommitRequest{GroupID: by.group, GenerationID: by.generation, MemberID: by.member, InstanceID: by.instance}
	offsets := make([]kafka.OffsetCommit, 0, len(commits))
	for partition, to := range commits {
		offsets = append(offsets, kafka.OffsetCommit{Partition: partition, Offset: to.offset, Metadata: to.metadata})
	}
	request.Topics = map[string][]kafka.OffsetCommit{topic: offsets}
	r, err := c.client.OffsetCommit(ctx, request)
	if err != nil {
		return err
	}
	for _, p := range r.Topics[topic] {
		if p.Error != nil {
			return fmt.Errorf("commit of group %q, partition %d: %w", by.group, p.Partition, p.Error)
		}
	}
	return nil
}

// commit commits for a generation. It must come through while a rebalance waits for us, or not at all.
func (m *member) commit(g *generation, offsets map[int]int64, rejected map[int]int) error {
	ctx, cancel := context.WithTimeout(context.Background(), min(m.RequestTimeout, m.drainTime()))
	defer cancel()
	commits := make(map[int]commit, len(offsets))
	for partition, offset := range offsets {
		commits[partition] = commit{offset, note(rejected[partition], g.topic.mark())}
	}
	return m.cluster.commit(ctx, claim{m.Group, int(g.id), g.member, m.InstanceID}, m.Topic, commits)
}

// note is what a commit carries beside its offset: how many records were rejected since one was written, unless none was, and the
// topic's mark. The mark stands last, so that a version that knows no count takes neither for another topic's mark.
func note(rejected int, mark string) string {
	if rejected == 0 {
		return mark
	}
	return strings.TrimSpace(fmt.Sprintf("%s%d %s", rejectedMark, rejected, mark))
}

const rejectedMark = "rejected="

// readNote takes it apart. What others have written is all mark.
func readNote(text string) (rejected int, mark string) {
	if rest, ok := strings.CutPrefix(text, rejectedMark); ok {
		count, mark, _ := strings.Cut(rest, " ")
		if n, err := strconv.Atoi(count); err == nil && n > 0 {
			return n, mark
		}
	}
	return 0, text
}
