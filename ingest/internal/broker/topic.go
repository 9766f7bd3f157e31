package broker

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// topicID is Kafka's own id of a topic (2.8 and later): a topic that is deleted and recreated has the same name and
// another id. Zero where brokers do not say.
type topicID [16]byte

func (id topicID) String() string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// Topic is the state of a topic: what makes an assignment of its partitions out of date when it changes.
type Topic struct {
	id         topicID
	Partitions int // how many; they are numbered from 0
}

// IDs returns the partitions' numbers.
func (t Topic) IDs() []int {
	ids := make([]int, t.Partitions)
	for i := range ids {
		ids[i] = i
	}
	return ids
}

func (t Topic) String() string { return fmt.Sprintf("%d partitions, id %v", t.Partitions, t.id) }

// Mark is what the commits of a topic carry as their metadata, so that a topic that was recreated is not taken for the one
// that was read. Empty when the brokers have no topic ids.
func (t Topic) Mark() string {
	if t.id == (topicID{}) {
		return ""
	}
	return topicMark + t.id.String()
}

const topicMark = "topic-id="

// Recreated reports whether a mark is that of an earlier topic of this name.
func (t Topic) Recreated(mark string) bool {
	return strings.HasPrefix(mark, topicMark) && t.id != (topicID{}) && mark != t.Mark()
}

// metadataVersion is the first one with topic ids. kafka-go stops at version 8.
const metadataVersion = 10

// Topic asks for the state of a topic. It never makes the topic, as older look-ups do on some brokers. Its errors say what is
// missing and how it is fixed.
func (c *Cluster) Topic(ctx context.Context, name string) (Topic, error) {
	if !c.topicIDs {
		m, err := c.client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{name}})
		if err != nil {
			return Topic{}, c.unreachable(err)
		}
		t := m.Topics[0]
		return Topic{Partitions: len(t.Partitions)}, c.topicError(name, t.Error, len(t.Partitions))
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	m, err := c.RoundTrip(ctx, c.client.Addr, &topicCall{topic: name, client: c.kafka.ClientID})
	if err != nil {
		return Topic{}, c.unreachable(err)
	}
	a := m.(*topicAnswer)
	return a.state, c.topicError(name, a.err, a.state.Partitions)
}

// LearnVersions finds out whether the brokers have topic ids; Topic has none before.
func (c *Cluster) LearnVersions(ctx context.Context) error {
	r, err := c.client.ApiVersions(ctx, &kafka.ApiVersionsRequest{})
	if err == nil {
		err = r.Error
	}
	if err != nil {
		return c.unreachable(err)
	}
	for _, key := range r.ApiKeys {
		if key.ApiKey == int(protocol.Metadata) {
			c.topicIDs = key.MaxVersion >= metadataVersion
		}
	}
	return nil
}

// topicCall asks any broker for the metadata of one topic, in a version that kafka-go does not speak.
type topicCall struct{ topic, client string }

type topicAnswer struct {
	err   error
	state Topic
}

func (*topicCall) ApiKey() protocol.ApiKey                 { return protocol.Metadata }
func (*topicAnswer) ApiKey() protocol.ApiKey               { return protocol.Metadata }
func (*topicCall) Required(map[protocol.ApiKey]int16) bool { return true }

const topicCallID = 1 // one call at a time is pending on a connection; any number will do

// RawExchange writes the request and reads its answer.
func (t *topicCall) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	if _, err := rw.Write(t.request()); err != nil {
		return nil, err
	}
	answer, err := readAnswer(rw, topicCallID, spareAnswerBytes)
	if err != nil {
		return nil, err
	}
	defer answer.free()
	return parseTopic(answer.b)
}

// request is: length int32 · key int16 · version int16 · correlation id int32 · client id string · tags; then an array of
// topics (id uuid, nullable name, tags) · make it bool · include its operations, the cluster's bool · tags. Arrays and strings of the
// body are compact: their length plus one is a uvarint.
func (t *topicCall) request() []byte {
	b := make([]byte, 4, 64+len(t.topic))
	b = binary.BigEndian.AppendUint16(b, uint16(protocol.Metadata))
	b = binary.BigEndian.AppendUint16(b, metadataVersion)
	b = binary.BigEndian.AppendUint32(b, topicCallID)
	b = binary.BigEndian.AppendUint16(b, uint16(len(t.client)))
	b = append(b, t.client...)
	b = append(b, 0, 1+1)
	b = append(b, make([]byte, len(topicID{}))...)
	b = binary.AppendUvarint(b, uint64(len(t.topic)+1))
	b = append(b, t.topic...)
	b = append(b, 0, 0, 0, 0, 0)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// parseTopic reads a metadata answer of version 10, with one topic in it: tags · throttle time int32 · brokers (id int32, host,
// port int32, rack, tags) · cluster id · controller int32 · topics (error int16, name, id uuid, internal bool, partitions (error
// int16, index, leader and leader epoch int32, three arrays of int32, tags), operations int32, tags) · more.
func parseTopic(b []byte) (*topicAnswer, error) {
	r := reader{b: b}
	r.tags()
	r.skip(4)
	for n := r.length(); n > 0 && !r.bad; n-- {
		r.skip(4)
		r.bytes(r.length())
		r.skip(4)
		r.bytes(r.length())
		r.tags()
	}
	r.bytes(r.length())
	r.skip(4)
	if n := r.length(); n != 1 {
		return nil, fmt.Errorf("metadata answer of %d bytes with %d topics, expected 1", len(b), n)
	}
	a := &topicAnswer{}
	code := r.int16()
	r.bytes(r.length())
	copy(a.state.id[:], r.bytes(len(topicID{})))
	r.skip(1)
	a.state.Partitions = r.length()
	if r.bad {
		return nil, fmt.Errorf("metadata answer of %d bytes is cut off", len(b))
	}
	if code != 0 {
		a.err = kafka.Error(code)
	}
	return a, nil
}
