package fault

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/listoffsets"
	"github.com/segmentio/kafka-go/protocol/offsetfetch"
)

// broker answers as it is told.
type broker struct {
	committed map[string]offsetfetch.Response
	ends      listoffsets.Response
}

func (b *broker) RoundTrip(_ context.Context, _ net.Addr, r kafka.Request) (kafka.Response, error) {
	switch r := r.(type) {
	case *offsetfetch.Request:
		answer := b.committed[r.GroupID]
		return &answer, nil
	case *listoffsets.Request:
		return &b.ends, nil
	}
	return nil, errors.New("not asked for here")
}

func TestOffsetsOf(t *testing.T) {
	at := func(offset int64) offsetfetch.Response {
		of := offsetfetch.ResponseTopic{Name: "t"}
		for i := range partitions {
			of.Partitions = append(of.Partitions, offsetfetch.ResponsePartition{PartitionIndex: int32(i), CommittedOffset: offset})
		}
		return offsetfetch.Response{Topics: []offsetfetch.ResponseTopic{of}}
	}
	good := func() *broker {
		of := listoffsets.ResponseTopic{Topic: "t"}
		for i := range partitions {
			of.Partitions = append(of.Partitions, listoffsets.ResponsePartition{Partition: int32(i), Timestamp: kafka.LastOffset, Offset: int64(10 + i)})
		}
		return &broker{map[string]offsetfetch.Response{"rows": at(7), "documents": at(-1)}, listoffsets.Response{Topics: []listoffsets.ResponseTopic{of}}}
	}
	for _, c := range []struct {
		name  string
		spoil func(*broker)
		bad   error // any, if it has none of its own
		fails bool
	}{
		{"good", func(*broker) {}, nil, false},
		{"the coordinator is away", func(b *broker) {
			b.committed["rows"] = offsetfetch.Response{ErrorCode: int16(kafka.NotCoordinatorForGroup)}
		}, kafka.NotCoordinatorForGroup, true},
		{"one partition's commit is not known", func(b *broker) {
			b.committed["documents"].Topics[0].Partitions[3] = offsetfetch.ResponsePartition{PartitionIndex: 3, CommittedOffset: -1, ErrorCode: int16(kafka.UnknownTopicOrPartition)}
		}, kafka.UnknownTopicOrPartition, true},
		{"a partition is left out", func(b *broker) {
			of := &b.committed["documents"].Topics[0]
			of.Partitions = of.Partitions[1:]
		}, nil, true},
		{"one partition's end is not known", func(b *broker) {
			b.ends.Topics[0].Partitions[5].ErrorCode = int16(kafka.LeaderNotAvailable)
		}, kafka.LeaderNotAvailable, true},
	} {
		b := good()
		c.spoil(b)
		all, err := OffsetsOf(t.Context(), &kafka.Client{Addr: kafka.TCP("nowhere:9"), Transport: b}, "t", "rows", "documents")
		if (err != nil) != c.fails || c.bad != nil && !errors.Is(err, c.bad) {
			t.Errorf("%s: %v, want %v", c.name, err, c.bad)
		}
		if c.fails {
			continue
		}
		for i, p := range all {
			if p.End != int64(10+i) || len(p.Committed) != 2 || p.Committed[0] != 7 || p.Committed[1] != 0 {
				t.Errorf("%s: partition %d is %+v", c.name, i, p)
			}
		}
	}
}
