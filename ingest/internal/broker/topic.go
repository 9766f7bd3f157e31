package broker

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// topicID is Kafka's own id of a topic (2.8 and later). A topic that is deleted and recreated has the same name and a different id. Zero if
// the brokers do not send it.
type topicID [16]byte

func (id topicID) String() string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// Topic is the state of a topic. When it changes, an assignment of the topic's partitions is out of date.
type Topic struct {
	id         topicID
	Partitions int // the number of them; they are numbered from 0
}

// IDs returns the partitions' numbers.
func (t Topic) IDs() []int {
	ids := make([]int, t.Partitions)
	for i := range ids {
		ids[i] = i
	}
	return ids
}

const topicForm = "%d partitions" // the start of String, which other members read

func (t Topic) String() string { return fmt.Sprintf(topicForm+", id %v", t.Partitions, t.id) }

// Mark returns what commits of a topic carry as metadata, so that a recreated topic is not taken for the one that was read. It is empty if
// the brokers have no topic ids.
func (t Topic) Mark() string {
	if t.id == (topicID{}) {
		return ""
	}
	return topicMark + t.id.String()
}

const topicMark = "topic-id="

// Is reports whether both are states of the same topic, as far as the brokers reveal.
func (t Topic) Is(other Topic) bool { return t.id == other.id }

// Recreated reports whether a mark belongs to an earlier topic of this name.
func (t Topic) Recreated(mark string) bool {
	return strings.HasPrefix(mark, topicMark) && t.id != (topicID{}) && mark != t.Mark()
}

// metadataVersion is the first version with topic ids. kafka-go stops at version 8.
const metadataVersion = 10

// Topic asks for the state of a topic. It never creates the topic, unlike older lookups on some brokers. Its errors name what is missing
// and the fix.
func (c *Cluster) Topic(ctx context.Context, name string) (Topic, error) {
	topics, err := c.Topics(ctx, []string{name})
	return topics[name], err
}

// Topics is Topic for several topics at once. It returns the error of the first, by name, that has one.
func (c *Cluster) Topics(ctx context.Context, names []string) (map[string]Topic, error) {
	if len(names) == 0 {
		return map[string]Topic{}, nil
	}
	found, err := c.describe(ctx, names)
	if err != nil {
		return nil, err
	}
	topics := make(map[string]Topic, len(names))
	for _, name := range slices.Sorted(slices.Values(names)) {
		t := found[name]
		if err := c.topicError(name, t.err, t.state.Partitions); err != nil {
			return nil, err
		}
		topics[name] = t.state
	}
	return topics, nil
}

// Matching asks for the state of all topics that match, except Kafka's own. If a broker cannot describe a topic now, its known state
// stands; a topic without a known state is left out until it can.
func (c *Cluster) Matching(ctx context.Context, match func(name string) bool, known map[string]Topic) (map[string]Topic, error) {
	found, err := c.describe(ctx, nil)
	if err != nil {
		return nil, err
	}
	topics := map[string]Topic{}
	for name, t := range found {
		if !t.internal && match(name) {
			t.add(name, topics, known)
		}
	}
	return topics, nil
}

// Still is Matching for the known topics: it returns those that still exist.
func (c *Cluster) Still(ctx context.Context, known map[string]Topic) (map[string]Topic, error) {
	topics := map[string]Topic{}
	if len(known) == 0 {
		return topics, nil
	}
	found, err := c.describe(ctx, slices.Collect(maps.Keys(known)))
	if err != nil {
		return nil, err
	}
	for name, t := range found {
		t.add(name, topics, known)
	}
	return topics, nil
}

// add adds a topic unless it is missing or nothing is known of it.
func (d described) add(name string, topics, known map[string]Topic) {
	former, was := known[name]
	switch {
	case NoTopic(d.err):
	case d.err == nil && d.state.Partitions > 0:
		topics[name] = d.state
	case was:
		topics[name] = former
	}
}

// described is a broker's description of a topic.
type described struct {
	state    Topic
	internal bool // Kafka's own
	err      error
}

// describe asks any broker for the metadata of topics; nil means all.
func (c *Cluster) describe(ctx context.Context, names []string) (map[string]described, error) {
	if !c.topicIDs.Load() {
		m, err := c.client.Metadata(ctx, &kafka.MetadataRequest{Topics: names})
		if err != nil {
			return nil, c.unreachable(err)
		}
		found := make(map[string]described, len(m.Topics))
		for _, t := range m.Topics {
			found[t.Name] = described{Topic{Partitions: len(t.Partitions)}, t.Internal, t.Error}
		}
		return found, nil
	}
	return c.identify(ctx, names)
}

// identify is describe with the topics' ids, for brokers that have them.
func (c *Cluster) identify(ctx context.Context, names []string) (map[string]described, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	m, err := c.RoundTrip(ctx, c.client.Addr, &topicCall{topics: names, client: c.kafka.ClientID})
	if err != nil {
		return nil, c.unreachable(err)
	}
	return m.(*topicAnswer).topics, nil
}

// LearnVersions finds out whether the brokers have topic ids and the consumer protocol. Before that, a Topic has no id. Any goroutine may
// call it again; an error changes nothing.
func (c *Cluster) LearnVersions(ctx context.Context) error {
	topicIDs, consumers, err := c.versions(ctx)
	if err == nil {
		c.topicIDs.Store(topicIDs)
		c.consumers.Store(int32(consumers))
	}
	return err
}

// HasConsumers reports whether the brokers have the consumer protocol. Only a member learns that it is turned off.
func (c *Cluster) HasConsumers(ctx context.Context) (bool, error) {
	_, consumers, err := c.versions(ctx)
	return consumers != noConsumers, err
}

func (c *Cluster) versions(ctx context.Context) (topicIDs bool, consumers int16, err error) {
	r, err := c.client.ApiVersions(ctx, &kafka.ApiVersionsRequest{})
	if err == nil {
		err = r.Error
	}
	if err != nil {
		return false, noConsumers, c.unreachable(err)
	}
	consumers = noConsumers
	commits := false
	for _, key := range r.ApiKeys {
		switch protocol.ApiKey(key.ApiKey) {
		case protocol.Metadata:
			topicIDs = key.MaxVersion >= metadataVersion
		case protocol.OffsetCommit:
			commits = key.MaxVersion >= epochCommitVersion
		case consumerBeatKey:
			consumers = int16(min(key.MaxVersion, consumerVersion))
		}
	}
	if !commits || !topicIDs {
		consumers = noConsumers
	}
	return topicIDs, consumers, nil
}

// topicCall asks any broker for the metadata of topics (nil: all), in a version that kafka-go does not speak.
type topicCall struct {
	topics []string
	client string
}

type topicAnswer struct{ topics map[string]described }

func (*topicCall) ApiKey() protocol.ApiKey                 { return protocol.Metadata }
func (*topicAnswer) ApiKey() protocol.ApiKey               { return protocol.Metadata }
func (*topicCall) Required(map[protocol.ApiKey]int16) bool { return true }

// RawExchange writes the request and reads the answer.
func (t *topicCall) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	return exchange(rw, protocol.Metadata, t.request(), parseTopics)
}

// request encodes: length int32 · key int16 · version int16 · correlation id int32 · client id string · tags; then an array of topics,
// null: all (id uuid, nullable name, tags) · create it bool · include its operations, the cluster's bool · tags. Arrays and strings of the
// body are compact: their length plus one is a uvarint.
func (t *topicCall) request() []byte {
	b := append(newRequest(protocol.Metadata, metadataVersion, t.client), 0)
	if t.topics == nil {
		b = append(b, 0)
	} else {
		b = binary.AppendUvarint(b, uint64(len(t.topics)+1))
	}
	for _, name := range t.topics {
		b = append(b, make([]byte, len(topicID{}))...)
		b = binary.AppendUvarint(b, uint64(len(name)+1))
		b = append(b, name...)
		b = append(b, 0)
	}
	return append(b, 0, 0, 0, 0)
}

// parseTopics decodes a metadata answer of version 10: tags · throttle time int32 · brokers (id int32, host, port int32, rack, tags) ·
// cluster id · controller int32 · topics (error int16, name, id uuid, internal bool, partitions (error int16, index, leader and leader
// epoch int32, three arrays of int32, tags), operations int32, tags) · more.
func parseTopics(b []byte) (*topicAnswer, error) {
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
	a := &topicAnswer{topics: map[string]described{}}
	for n := r.length(); n > 0 && !r.bad; n-- {
		name, t := parseTopic(&r)
		a.topics[name] = t
	}
	if r.bad {
		return nil, fmt.Errorf("metadata answer of %d bytes is cut off", len(b))
	}
	return a, nil
}

func parseTopic(r *reader) (name string, t described) {
	if code := r.int16(); code != 0 {
		t.err = kafka.Error(code)
	}
	name = string(r.bytes(r.length()))
	copy(t.state.id[:], r.bytes(len(topicID{})))
	internal := r.bytes(1)
	t.internal = len(internal) == 1 && internal[0] != 0
	t.state.Partitions = r.length()
	for n := t.state.Partitions; n > 0 && !r.bad; n-- {
		r.skip(2 + 4 + 4 + 4)
		for range 3 {
			r.skip(4 * r.length())
		}
		r.tags()
	}
	r.skip(4)
	r.tags()
	return name, t
}
