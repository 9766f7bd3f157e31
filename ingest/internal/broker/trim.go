package broker

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	fetchapi "github.com/segmentio/kafka-go/protocol/fetch"
)

// Trim deletes the records of a partition before an offset and returns the first offset left. If the answer to a call is lost, repeating
// the call does no harm.
func (c *Cluster) Trim(ctx context.Context, topic string, partition int, before int64) (low int64, err error) {
	err = c.Patiently(ctx, func() error {
		ctx, cancel := context.WithTimeout(ctx, c.timeout)
		defer cancel()
		m, err := c.RoundTrip(ctx, c.client.Addr, &trimCall{topic: topic, partition: partition, before: before, client: c.kafka.ClientID,
			timeout: int32(c.timeout.Milliseconds())})
		if err != nil {
			return c.unreachable(err)
		}
		a := m.(*trimAnswer)
		if low = a.low; a.code != 0 {
			return fmt.Errorf("deleting the records of topic %s, partition %d, before offset %d: %w", topic, partition, before, kafka.Error(a.code))
		}
		return nil
	})
	return low, err
}

const (
	deleteRecords = protocol.ApiKey(21) // kafka-go only knows its name
	trimVersion   = 1                   // the last that is not flexible
)

// trimCall asks the leader of one partition to delete records.
type trimCall struct {
	topic     string
	partition int
	before    int64
	timeout   int32 // ms
	client    string

	version int16
}

type trimAnswer struct {
	low  int64
	code int16
}

func (*trimCall) ApiKey() protocol.ApiKey   { return deleteRecords }
func (*trimAnswer) ApiKey() protocol.ApiKey { return deleteRecords }

// Broker routes the call to the partition's leader, like a fetch.
func (t *trimCall) Broker(c protocol.Cluster) (protocol.Broker, error) {
	return (&fetchapi.Request{Topics: []fetchapi.RequestTopic{{Topic: t.topic,
		Partitions: []fetchapi.RequestPartition{{Partition: int32(t.partition)}}}}}).Broker(c)
}

// Required notes the version that the connection has negotiated.
func (t *trimCall) Required(versions map[protocol.ApiKey]int16) bool {
	t.version = min(versions[deleteRecords], trimVersion)
	return true
}

// RawExchange writes the request and reads the answer.
func (t *trimCall) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	return exchange(rw, deleteRecords, t.request(), parseTrim)
}

// request encodes: length int32 · key int16 · version int16 · correlation id int32 · client id; then an array of topics (name, array of
// partitions (partition int32, offset int64)) · timeout int32.
func (t *trimCall) request() []byte {
	b := newRequest(deleteRecords, t.version, t.client)
	b = binary.BigEndian.AppendUint32(b, 1)
	b = appendString(b, t.topic)
	b = binary.BigEndian.AppendUint32(b, 1)
	b = binary.BigEndian.AppendUint32(b, uint32(t.partition))
	b = binary.BigEndian.AppendUint64(b, uint64(t.before))
	return binary.BigEndian.AppendUint32(b, uint32(t.timeout))
}

// parseTrim decodes: throttle time int32 · an array of topics (name, array of partitions (partition int32, low watermark int64, error
// int16)), with one of each.
func parseTrim(b []byte) (*trimAnswer, error) {
	r := reader{b: b}
	r.skip(4)
	topics := r.int32()
	r.skip(int(r.int16()))
	partitions := r.int32()
	r.skip(4)
	a := &trimAnswer{low: r.int64(), code: r.int16()}
	if r.bad || topics != 1 || partitions != 1 {
		return nil, errors.New("the answer about deleted records is not for one partition")
	}
	return a, nil
}
