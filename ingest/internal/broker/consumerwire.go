package broker

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// The requests of the consumer protocol (KIP-848), which kafka-go does not know, and commits in the first version with epochs. All are
// flexible: strings and arrays are compact (their length plus one is a uvarint, 0 is null), and each structure ends with tagged fields.
const (
	consumerBeatKey     protocol.ApiKey = 68
	consumerDescribeKey protocol.ApiKey = 69

	consumerVersion    = 1  // of heartbeats: the first in which members choose their ids
	noConsumers        = -1 // brokers without the protocol
	epochCommitVersion = 9
)

// Errors of the consumer protocol that kafka-go has no names for.
const (
	fencedEpoch         kafka.Error = 110 // the member's epoch is not the group's: it owns nothing any more
	unreleasedInstance  kafka.Error = 111 // another member has the instance id and has not left
	unsupportedAssignor kafka.Error = 112
	staleEpoch          kafka.Error = 113 // of a commit: the member has a newer epoch, which it will learn
	invalidRegex        kafka.Error = 128
)

// flexible is a request that is encoded and decoded here, in one version.
type flexible interface {
	protocol.Message
	fixed() int16                              // the version
	body(b []byte) []byte                      // appends the request, after its header
	answer(r *reader) (protocol.Message, bool) // reads the answer, after its header; false if it is malformed
}

// exchangeFlexible writes length int32 · key int16 · version int16 · correlation id int32 · client id · tags · body. It reads, after length
// and correlation id, tags · body.
func exchangeFlexible(rw io.ReadWriter, m flexible, client string) (protocol.Message, error) {
	b := m.body(append(newRequest(m.ApiKey(), m.fixed(), client), 0))
	return exchange(rw, m.ApiKey(), b, func(answer []byte) (protocol.Message, error) { return parseFlexible(m, answer) })
}

func parseFlexible(m flexible, b []byte) (protocol.Message, error) {
	r := reader{b: b}
	r.tags()
	if a, ok := m.answer(&r); ok && !r.bad {
		return a, nil
	}
	return nil, fmt.Errorf("the answer to request %d, of %d bytes, cannot be read", m.ApiKey(), len(b))
}

func appendCompact(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s)+1)), s...)
}

// appendCompactOrNull writes an empty string as null.
func appendCompactOrNull(b []byte, s string) []byte {
	if s == "" {
		return append(b, 0)
	}
	return appendCompact(b, s)
}

// held are partitions by topic id.
type held map[topicID][]int32

// consumerBeat joins a group (epoch 0), stays in it, or leaves it (−1, or −2 for a static member that returns). A nil or zero value of the
// last four fields means no change.
type consumerBeat struct {
	version       int16
	group, member string
	epoch         int32
	instance      string
	timeout       time.Duration // of a rebalance
	topics        []string
	owned         held // empty and nil differ
}

// consumerAnswer is the coordinator's answer to a member.
type consumerAnswer struct {
	code     int16
	message  string
	member   string // empty: none
	epoch    int32
	interval time.Duration
	assigned held // nil: unchanged
}

func (*consumerBeat) ApiKey() protocol.ApiKey   { return consumerBeatKey }
func (*consumerAnswer) ApiKey() protocol.ApiKey { return consumerBeatKey }
func (q *consumerBeat) fixed() int16            { return q.version }

// body writes: group · member · epoch int32 · instance, null for none · rack, null · rebalance timeout int32, −1: unchanged · topics, null:
// unchanged · from version 1 on a regular expression, null · assignor, null · owned, null: unchanged · tags.
func (q *consumerBeat) body(b []byte) []byte {
	b = appendCompact(appendCompact(b, q.group), q.member)
	b = binary.BigEndian.AppendUint32(b, uint32(q.epoch))
	b = append(appendCompactOrNull(b, q.instance), 0)
	timeout := int32(-1)
	if q.timeout > 0 {
		timeout = int32(q.timeout.Milliseconds())
	}
	b = binary.BigEndian.AppendUint32(b, uint32(timeout))
	if q.topics == nil {
		b = append(b, 0)
	} else {
		b = binary.AppendUvarint(b, uint64(len(q.topics)+1))
	}
	for _, name := range q.topics {
		b = appendCompact(b, name)
	}
	if q.version >= 1 {
		b = append(b, 0)
	}
	b = append(b, 0)
	if q.owned == nil {
		return append(b, 0, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(q.owned)+1))
	for id, partitions := range q.owned {
		b = append(b, id[:]...)
		b = binary.AppendUvarint(b, uint64(len(partitions)+1))
		for _, p := range partitions {
			b = binary.BigEndian.AppendUint32(b, uint32(p))
		}
		b = append(b, 0)
	}
	return append(b, 0)
}

// answer reads: throttle time int32 · error int16 · message · member · epoch int32 · interval int32 · assignment, after one byte, which is
// −1 for null · tags.
func (*consumerBeat) answer(r *reader) (protocol.Message, bool) {
	r.skip(4)
	a := &consumerAnswer{code: r.int16(), message: string(r.bytes(r.length())), member: string(r.bytes(r.length())), epoch: r.int32()}
	a.interval = time.Duration(r.int32()) * time.Millisecond
	if there := r.bytes(1); len(there) == 1 && int8(there[0]) >= 0 {
		a.assigned = readHeld(r)
		r.tags()
	}
	r.tags()
	return a, true
}

// readHeld reads partitions, without duplicates.
func readHeld(r *reader) held {
	h, all := held{}, map[topicID]map[int32]bool{}
	for n := r.length(); n > 0 && !r.bad; n-- {
		var id topicID
		copy(id[:], r.bytes(len(id)))
		seen := all[id]
		if seen == nil {
			seen = map[int32]bool{}
			all[id] = seen
		}
		for n := r.length(); n > 0 && !r.bad; n-- {
			if p := r.int32(); !r.bad && p >= 0 && !seen[p] {
				seen[p] = true
				h[id] = append(h[id], p)
			}
		}
		r.tags()
	}
	return h
}

// epochCommit commits offsets of one topic as a member with an epoch.
type epochCommit struct {
	claim   Claim
	topic   string
	commits map[int]Commit
}

// epochCommitAnswer is the result for each partition.
type epochCommitAnswer struct{ codes map[int]int16 }

func (*epochCommit) ApiKey() protocol.ApiKey       { return protocol.OffsetCommit }
func (*epochCommitAnswer) ApiKey() protocol.ApiKey { return protocol.OffsetCommit }
func (*epochCommit) fixed() int16                  { return epochCommitVersion }

// body writes: group · epoch int32 · member · instance, null for none · topics (name, partitions (index int32, offset int64, leader epoch
// int32, metadata, tags), tags) · tags.
func (q *epochCommit) body(b []byte) []byte {
	b = appendCompact(b, q.claim.Group)
	b = binary.BigEndian.AppendUint32(b, uint32(q.claim.Generation))
	b = appendCompactOrNull(appendCompact(b, q.claim.Member), q.claim.Instance)
	b = appendCompact(append(b, 2), q.topic)
	b = binary.AppendUvarint(b, uint64(len(q.commits)+1))
	for p, c := range q.commits {
		b = binary.BigEndian.AppendUint32(b, uint32(p))
		b = binary.BigEndian.AppendUint64(b, uint64(c.Offset))
		b = binary.BigEndian.AppendUint32(b, ^uint32(0))
		b = append(appendCompact(b, c.Metadata), 0)
	}
	return append(b, 0, 0)
}

// answer reads: throttle time int32 · topics (name, partitions (index int32, error int16, tags), tags) · tags.
func (*epochCommit) answer(r *reader) (protocol.Message, bool) {
	r.skip(4)
	a := &epochCommitAnswer{codes: map[int]int16{}}
	for n := r.length(); n > 0 && !r.bad; n-- {
		r.bytes(r.length())
		for n := r.length(); n > 0 && !r.bad; n-- {
			p := int(r.int32())
			a.codes[p] = r.int16()
			r.tags()
		}
		r.tags()
	}
	r.tags()
	return a, true
}

// describeConsumers asks for the members of a group of the consumer protocol.
type describeConsumers struct{ group string }

// describedConsumers are a group's members. Partitions are those that the members own, by topic name.
type describedConsumers struct {
	code    int16
	members []describedConsumer
}

type describedConsumer struct {
	id, client, host string
	assigned         []assignedTopic
}

type assignedTopic struct {
	id         topicID
	name       string // empty from brokers that give only the id
	partitions []int
}

func (*describeConsumers) ApiKey() protocol.ApiKey  { return consumerDescribeKey }
func (*describedConsumers) ApiKey() protocol.ApiKey { return consumerDescribeKey }
func (*describeConsumers) fixed() int16             { return 0 }

// body writes: groups · include operations bool · tags.
func (q *describeConsumers) body(b []byte) []byte {
	return append(appendCompact(append(b, 2), q.group), 0, 0)
}

// answer reads: throttle time int32 · groups (error int16, message, group, state, epoch and assignment epoch int32, assignor, members,
// operations int32, tags) · tags.
func (*describeConsumers) answer(r *reader) (protocol.Message, bool) {
	r.skip(4)
	groups := r.length()
	a := &describedConsumers{code: r.int16()}
	for range 3 {
		r.bytes(r.length())
	}
	r.skip(4 + 4)
	r.bytes(r.length())
	for n := r.length(); n > 0 && !r.bad; n-- {
		a.members = append(a.members, readConsumer(r))
	}
	r.skip(4)
	r.tags()
	r.tags()
	return a, groups == 1
}

// readConsumer reads: member · instance · rack · epoch int32 · client · host · topics, an array of names · regular expression ·
// assignment and target (partitions (topic id, name, array of int32, tags), tags) · tags.
func readConsumer(r *reader) (m describedConsumer) {
	m.id = string(r.bytes(r.length()))
	r.bytes(r.length())
	r.bytes(r.length())
	r.skip(4)
	m.client, m.host = string(r.bytes(r.length())), string(r.bytes(r.length()))
	for n := r.length(); n > 0 && !r.bad; n-- {
		r.bytes(r.length())
	}
	r.bytes(r.length())
	m.assigned = readNamed(r)
	readNamed(r)
	r.tags()
	return m
}

func readNamed(r *reader) (all []assignedTopic) {
	for n := r.length(); n > 0 && !r.bad; n-- {
		var t assignedTopic
		copy(t.id[:], r.bytes(len(t.id)))
		t.name = string(r.bytes(r.length()))
		for n := r.length(); n > 0 && !r.bad; n-- {
			t.partitions = append(t.partitions, int(r.int32()))
		}
		r.tags()
		all = append(all, t)
	}
	r.tags()
	return all
}
