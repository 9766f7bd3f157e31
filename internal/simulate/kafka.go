package simulate

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/ingest/deadletter"
	"brine/ingest/embedded"
	"brine/internal/memnet"
)

const (
	topic     = "courier.scans"
	deadTopic = topic + ".dead"
	group     = "brine.scans.rows"
	reference = "brine.reference"
)

// brokers is the world's Kafka.
type brokers struct {
	*kfake.Cluster
	places   []*memnet.Place
	producer *kgo.Client
	ledger   *Ledger
	members  *embedded.Members
}

func (w *World) startKafka() error {
	b := &brokers{ledger: w.ledger}
	listen := func(_, _ string) (net.Listener, error) {
		p := w.net.NewPlace(fmt.Sprintf("broker%d", len(b.places)))
		b.places = append(b.places, p)
		l, err := p.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		return &tapped{l, w.ledger.answered}, nil
	}
	c, err := kfake.NewCluster(kfake.NumBrokers(w.plan.Brokers), kfake.ListenFn(listen),
		kfake.SeedTopics(int32(w.plan.Partitions), topic), kfake.SeedTopics(1, deadTopic))
	if err != nil {
		return err
	}
	b.Cluster = c
	w.kafka = b
	b.producer, err = kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.Dialer(w.net.NewAside("producer").Dial),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.MetadataMinAge(100*time.Millisecond),
		kgo.MaxProduceRequestsInflightPerBroker(1))
	if err != nil {
		return err
	}
	b.members = embedded.WatchMembers(c, b.producer, requestTime)
	b.watch()
	return nil
}

// watch shows the ledger the requests to the brokers.
func (b *brokers) watch() {
	see := func(key kmsg.Key, f func(kmsg.Request)) {
		b.ControlKey(key.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
			f(q)
			return nil, nil, false
		})
	}
	see(kmsg.SyncGroup, func(q kmsg.Request) {
		if q := q.(*kmsg.SyncGroupRequest); q.Group == group {
			b.ledger.assign(q)
		}
	})
	b.ControlKey(kmsg.JoinGroup.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
		b.KeepControl()
		return b.apart(q.(*kmsg.JoinGroupRequest))
	})
	see(kmsg.OffsetCommit, func(q kmsg.Request) {
		if q := q.(*kmsg.OffsetCommitRequest); q.Group == group {
			b.ledger.commit(q)
		}
	})
	see(kmsg.Produce, func(q kmsg.Request) { b.letters(q.(*kmsg.ProduceRequest)) })
}

// apart refuses members by the classic protocol once a group has some by the consumer protocol, as kfake does the other way round. A real
// broker can have both in one group, kfake cannot.
func (b *brokers) apart(q *kmsg.JoinGroupRequest) (kmsg.Response, error, bool) {
	if q.Group != group || !b.ledger.consumed() {
		return nil, nil, false
	}
	r := q.ResponseKind().(*kmsg.JoinGroupResponse)
	r.ErrorCode = kerr.GroupIDNotFound.Code
	return r, nil, true
}

// letters records the dead letters in a request.
func (b *brokers) letters(q *kmsg.ProduceRequest) {
	for _, t := range q.Topics {
		if t.Topic != deadTopic {
			continue
		}
		for _, p := range t.Partitions {
			records, err := recordsOf(p.Records)
			if err != nil {
				b.ledger.find("dead letters: %v", err)
			}
			for _, r := range records {
				if place, ok := placeOf(r.Headers); ok {
					b.ledger.bury(place)
				}
			}
		}
	}
}

var unpack = kgo.DefaultDecompressor()

// recordsOf decodes a batch.
func recordsOf(raw []byte) ([]kmsg.Record, error) {
	const codec = 0b111 // bits of the attributes
	var batch kmsg.RecordBatch
	if err := batch.ReadFrom(raw); err != nil {
		return nil, err
	}
	rest, err := unpack.Decompress(batch.Records, kgo.CompressionCodecType(batch.Attributes&codec))
	if err != nil {
		return nil, err
	}
	records := make([]kmsg.Record, batch.NumRecords)
	for i := range records {
		if err := records[i].ReadFrom(rest); err != nil {
			return nil, err
		}
		length, n := binary.Varint(rest)
		rest = rest[n+int(length):]
	}
	return records, nil
}

// placeOf returns the position of the record that a dead letter is about.
func placeOf(headers []kmsg.Header) (p position, ok bool) {
	for _, h := range headers {
		switch h.Key {
		case deadletter.HeaderPartition:
			p.partition, _ = strconv.Atoi(string(h.Value))
		case deadletter.HeaderOffset:
			p.offset, _ = strconv.ParseInt(string(h.Value), 10, 64)
			ok = true
		}
	}
	return p, ok
}

// produce sends records at their times, each burst together.
func (b *brokers) produce(ctx context.Context, records []record, start time.Time) error {
	for len(records) > 0 {
		n := 1
		for n < len(records) && records[n].due == records[0].due {
			n++
		}
		if err := sleepUntil(ctx, start.Add(records[0].due)); err != nil {
			return err
		}
		var batch []*kgo.Record
		for i := range records[:n] {
			r := &records[i]
			at := b.ledger.add(r)
			out := &kgo.Record{Topic: topic, Partition: int32(at.partition), Key: []byte(r.key), Value: r.value, Timestamp: start.Add(r.due)}
			for _, name := range slices.Sorted(maps.Keys(r.beside)) {
				out.Headers = append(out.Headers, kgo.RecordHeader{Key: name, Value: []byte(r.beside[name])})
			}
			batch = append(batch, out)
		}
		if err := b.producer.ProduceSync(ctx, batch...).FirstErr(); err != nil {
			return fmt.Errorf("the producer: %w", err)
		}
		records = records[n:]
	}
	return nil
}

// committed returns the offsets that the broker holds for a group, 0 for none.
func (b *brokers) committed(group string, partitions int) []int64 {
	offsets := make([]int64, partitions)
	if info := b.GroupInfo(group); info != nil {
		for p, c := range info.Commits[topic] {
			offsets[p] = c.Offset
		}
	}
	return offsets
}

func sleepUntil(ctx context.Context, at time.Time) error {
	t := time.NewTimer(time.Until(at))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
