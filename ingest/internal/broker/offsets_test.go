package broker

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/listoffsets"
	"github.com/segmentio/kafka-go/protocol/offsetfetch"
	"github.com/twmb/franz-go/pkg/kfake"
)

// answering returns the answer that a test wants.
type answering struct {
	committed map[string]offsetfetch.Response
	ends      listoffsets.Response
}

func (b *answering) RoundTrip(_ context.Context, _ net.Addr, r kafka.Request) (kafka.Response, error) {
	switch r := r.(type) {
	case *offsetfetch.Request:
		answer := b.committed[r.GroupID]
		return &answer, nil
	case *listoffsets.Request:
		return &b.ends, nil
	}
	return nil, errors.New("not asked for here")
}

// TestAnswersAboutOffsetsAreWhole: if one partition's answer is an error, or missing, the whole call fails.
func TestAnswersAboutOffsetsAreWhole(t *testing.T) {
	const partitions = 8
	at := func(offset int64) offsetfetch.Response {
		of := offsetfetch.ResponseTopic{Name: "t"}
		for i := range partitions {
			of.Partitions = append(of.Partitions, offsetfetch.ResponsePartition{PartitionIndex: int32(i), CommittedOffset: offset})
		}
		return offsetfetch.Response{Topics: []offsetfetch.ResponseTopic{of}}
	}
	good := func() *answering {
		of := listoffsets.ResponseTopic{Topic: "t"}
		for i := range partitions {
			of.Partitions = append(of.Partitions, listoffsets.ResponsePartition{Partition: int32(i), Timestamp: kafka.LastOffset, Offset: int64(10 + i)})
		}
		return &answering{map[string]offsetfetch.Response{"rows": at(7), "documents": at(-1)}, listoffsets.Response{Topics: []listoffsets.ResponseTopic{of}}}
	}
	for _, c := range []struct {
		name  string
		spoil func(*answering)
		bad   error // any, if it has none of its own
		fails bool
	}{
		{"good", func(*answering) {}, nil, false},
		{"the coordinator is away", func(b *answering) {
			b.committed["rows"] = offsetfetch.Response{ErrorCode: int16(kafka.NotCoordinatorForGroup)}
		}, kafka.NotCoordinatorForGroup, true},
		{"one partition's commit is not known", func(b *answering) {
			b.committed["documents"].Topics[0].Partitions[3] = offsetfetch.ResponsePartition{PartitionIndex: 3, CommittedOffset: -1, ErrorCode: int16(kafka.UnknownTopicOrPartition)}
		}, kafka.UnknownTopicOrPartition, true},
		{"a partition is left out", func(b *answering) {
			of := &b.committed["documents"].Topics[0]
			of.Partitions = of.Partitions[1:]
		}, nil, true},
		{"one partition's end is not known", func(b *answering) {
			b.ends.Topics[0].Partitions[5].ErrorCode = int16(kafka.LeaderNotAvailable)
		}, kafka.LeaderNotAvailable, true},
	} {
		b := good()
		c.spoil(b)
		cluster := &Cluster{client: &kafka.Client{Addr: kafka.TCP("nowhere:9"), Transport: b}}
		all := Topic{Partitions: partitions}.IDs()
		rows, err1 := cluster.Commits(t.Context(), "rows", "t", all)
		documents, err2 := cluster.Commits(t.Context(), "documents", "t", all)
		ends, err3 := cluster.Offsets(t.Context(), "t", all, Newest, Uncommitted)
		err := errors.Join(err1, err2, err3)
		if (err != nil) != c.fails || c.bad != nil && !errors.Is(err, c.bad) {
			t.Errorf("%s: %v, want %v", c.name, err, c.bad)
		}
		if c.fails {
			continue
		}
		for p := range partitions {
			if ends[p] != int64(10+p) || rows[p].Offset != 7 || len(documents) != 0 {
				t.Errorf("%s: partition %d ends at %d, committed %v, %v", c.name, p, ends[p], rows[p], documents)
			}
		}
	}
}

// TestOffsetsNameTheConnectionThatFailed checks that the error of a request about offsets is that of a connection that could not be made,
// even if other parts of the request were answered.
func TestOffsetsNameTheConnectionThatFailed(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(8, "t"))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	var dials atomic.Int64
	c := New(Kafka{Brokers: cluster.ListenAddrs(), Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		if dials.Add(1) > 2 { // one for the cluster's metadata, and one more
			return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.EMFILE}
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}, time.Minute)
	defer c.Close()
	partitions := []int{0, 1, 2, 3, 4, 5, 6, 7}
	for dials.Load() <= 2 && err == nil { // until more than one connection is wanted at a time
		_, err = c.Offsets(t.Context(), "t", partitions, Newest, Uncommitted)
	}
	if !errors.Is(err, syscall.EMFILE) {
		t.Errorf("%v, want that no connection could be made", err)
	}
}
