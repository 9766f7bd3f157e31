package broker

import (
	"encoding/binary"
	"errors"
)

// What the members of a group send each other through its coordinator, which does not look into it (integers big-endian, strings
// with an int16 length, bytes with an int32 length):
//
//	subscription: version int16 · topics: array of string · user data: bytes · more in later versions
//	assignment:   version int16 · array of topic string, partitions array of int32 · user data: bytes
//
// We write version 0, which every client reads, and skip what later ones add.

var errForeign = errors.New("what a member sent to the group cannot be read; is there another program in it?")

// subscription is what a member wants. Its user data says what it knows of the topic: the coordinator readmits a member without a
// rebalance only when nothing of this has changed.
func subscription(topic string, knows []byte) []byte {
	b := appendString([]byte{0, 0, 0, 0, 0, 1}, topic)
	b = binary.BigEndian.AppendUint32(b, uint32(len(knows)))
	return append(b, knows...)
}

// subscribed reads the topics of a subscription.
func subscribed(b []byte) ([]string, error) {
	r := reader{b: b}
	r.skip(2)
	var topics []string
	for n := r.int32(); n > 0 && !r.bad; n-- {
		topics = append(topics, string(r.bytes(int(r.int16()))))
	}
	if r.bad {
		return nil, errForeign
	}
	return topics, nil
}

// appointment writes a member's assignment.
func appointment(partitions map[string][]int) []byte {
	b := binary.BigEndian.AppendUint32([]byte{0, 0}, uint32(len(partitions)))
	for topic, ids := range partitions {
		b = appendString(b, topic)
		b = binary.BigEndian.AppendUint32(b, uint32(len(ids)))
		for _, id := range ids {
			b = binary.BigEndian.AppendUint32(b, uint32(id))
		}
	}
	return append(b, 0, 0, 0, 0)
}

// appointed reads the partitions of one topic out of an assignment. No bytes are no partitions.
func appointed(b []byte, topic string) ([]int, error) {
	if len(b) == 0 {
		return nil, nil
	}
	r := reader{b: b}
	r.skip(2)
	var ours []int
	for n := r.int32(); n > 0 && !r.bad; n-- {
		name := string(r.bytes(int(r.int16())))
		for n := r.int32(); n > 0 && !r.bad; n-- {
			if id := r.int32(); name == topic {
				ours = append(ours, int(id))
			}
		}
	}
	if r.bad {
		return nil, errForeign
	}
	return ours, nil
}

func appendString(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
}
