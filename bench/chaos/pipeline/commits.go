package pipeline

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"
)

// Commits are all commits that brine's groups have ever made, from the broker's own log of commits, whose segments are too young to be
// compacted.
type Commits struct {
	Count    int
	Back     int // commits below the previous one of the same group and partition
	Ahead    int // commits of an offset that the partition never had
	Examples []string

	groups []string // the groups whose commits are counted
}

const commitLog = "__consumer_offsets" // has one partition in this cluster

// mostExamples bounds the number of wrong commits that are reported.
const mostExamples = 20

// readCommits reads the log from its beginning, for these groups. It skips the group in which brine publish records which lines are
// published, because those are not offsets of the topic. It uses its own connection, because kafka-go's Client does not know Kafka's
// internal topics.
func readCommits(ctx context.Context, broker string, groups []string, ends map[place]progress) (*Commits, error) {
	conn, err := kafka.DialLeader(ctx, "tcp", broker, commitLog, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }() // it was only read from
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return nil, err
	}
	end, err := conn.ReadLastOffset()
	if err != nil {
		return nil, err
	}
	c := &Commits{groups: groups}
	last := make(map[string]int64)
	for at := int64(0); at < end; {
		if _, err := conn.Seek(at, kafka.SeekAbsolute); err != nil {
			return nil, err
		}
		next, err := c.batch(conn.ReadBatch(1, 1<<20), at, last, ends)
		if err != nil {
			return nil, fmt.Errorf("%s from %d on: %w", commitLog, at, err)
		}
		at = next
	}
	return c, nil
}

// batch processes the records of one fetch, and returns the offset after them.
func (c *Commits) batch(b *kafka.Batch, at int64, last map[string]int64, ends map[place]progress) (int64, error) {
	defer func() { _ = b.Close() }() // it was only read
	from := at
	for {
		m, err := b.ReadMessage()
		switch {
		case err == nil:
		case errors.Is(err, io.EOF) && at > from:
			return at, nil
		case errors.Is(err, io.EOF):
			return at, errors.New("there is no record")
		default:
			return at, err
		}
		if err := c.record(m.Key, m.Value, last, ends); err != nil {
			return at, err
		}
		at = m.Offset + 1
	}
}

func (c *Commits) record(key, value []byte, last map[string]int64, ends map[place]progress) error {
	group, p, ok := commitKey(key)
	if !ok || !slices.Contains(c.groups, group) {
		return nil // a group's members, or a commit of another group
	}
	if len(value) < 10 {
		return fmt.Errorf("the commit of %s in %v is gone", group, p)
	}
	c.note(group, p, int64(binary.BigEndian.Uint64(value[2:])), last, ends[p].end) // a version in 16 bits, the offset in 64, and more
	return nil
}

func (c *Commits) note(group string, p place, offset int64, last map[string]int64, end int64) {
	c.Count++
	id := fmt.Sprint(group, p)
	if offset < last[id] {
		c.Back++
		c.example("%s committed %d after %d in %v", group, offset, last[id], p)
	}
	if offset > end {
		c.Ahead++
		c.example("%s committed %d in %v, which ends at %d", group, offset, p, end)
	}
	last[id] = offset
}

func (c *Commits) example(format string, of ...any) {
	if len(c.Examples) < mostExamples {
		c.Examples = append(c.Examples, fmt.Sprintf(format, of...))
	}
}

// commitKey parses the key of a commit: a version of 0 or 1 in 16 bits, the group and the topic, each with its length in 16 bits, and the
// partition in 32. Other records of the log have other versions.
func commitKey(key []byte) (group string, p place, ok bool) {
	text := func() (s string) {
		if len(key) < 2 {
			return ""
		}
		n := int(binary.BigEndian.Uint16(key))
		if len(key) < 2+n {
			return ""
		}
		s, key = string(key[2:2+n]), key[2+n:]
		return s
	}
	if len(key) < 2 || binary.BigEndian.Uint16(key) > 1 {
		return "", p, false
	}
	key = key[2:]
	group = text()
	p.topic = text()
	if len(key) != 4 {
		return "", p, false
	}
	p.partition = int(binary.BigEndian.Uint32(key))
	return group, p, true
}
