package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/segmentio/kafka-go"
)

// Commits are all that brine's groups have ever committed, from the broker's own log of commits, whose segments are too young to be compacted.
type Commits struct {
	Count    int
	Back     int // that were less than the one before of the same group and partition
	Ahead    int // of an offset that the partition never had
	Examples []string
}

const commitLog = "__consumer_offsets" // of one partition in the cluster that runs here

// readCommits reads the log from its beginning.
func readCommits(ctx context.Context, client *kafka.Client, ends map[place]progress) (*Commits, error) {
	asked, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{commitLog: {kafka.LastOffsetOf(0)}}})
	if err != nil {
		return nil, err
	}
	c := new(Commits)
	last := make(map[string]int64)
	for at, end := int64(0), asked.Topics[commitLog][0].LastOffset; at < end; {
		resp, err := client.Fetch(ctx, &kafka.FetchRequest{Topic: commitLog, Offset: at, MinBytes: 1, MaxBytes: 1 << 20})
		if err == nil {
			err = resp.Error
		}
		if err != nil {
			return nil, err
		}
		before := at
		for {
			r, err := resp.Records.ReadRecord()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, err
			}
			if err := c.record(r, last, ends); err != nil {
				return nil, fmt.Errorf("%s at %d: %w", commitLog, r.Offset, err)
			}
			at = r.Offset + 1
		}
		if at == before {
			return nil, fmt.Errorf("%s has no record at %d", commitLog, at)
		}
	}
	return c, nil
}

func (c *Commits) record(r *kafka.Record, last map[string]int64, ends map[place]progress) error {
	key, err := kafka.ReadAll(r.Key)
	if err != nil {
		return err
	}
	value, err := kafka.ReadAll(r.Value)
	if err != nil {
		return err
	}
	group, p, ok := commitKey(key)
	if !ok || !strings.HasPrefix(group, "chaos.") {
		return nil // a group's members, or another's commit
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
		c.Examples = append(c.Examples, fmt.Sprintf("%s committed %d after %d in %v", group, offset, last[id], p))
	}
	if offset > end {
		c.Ahead++
		c.Examples = append(c.Examples, fmt.Sprintf("%s committed %d in %v, which ends at %d", group, offset, p, end))
	}
	last[id] = offset
}

// commitKey reads the key of a commit: a version of 0 or 1 in 16 bits, the group and the topic, each with its length in 16 bits, and
// the partition in 32. Other records of the log have other versions.
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
