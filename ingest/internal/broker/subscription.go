package broker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// What the members of a group send each other through its coordinator, which does not look into it (integers big-endian, strings
// with an int16 length, bytes with an int32 length):
//
//	subscription: version int16 · topics: array of string · user data: bytes · more in later versions
//	assignment:   version int16 · array of topic string, partitions array of int32 · user data: bytes
//
// We write version 0, which every client reads, and skip what later ones add.

var errForeign = errors.New("cannot read a member's subscription; is another program in the group?")

// subscription encodes what a member wants. Its user data is what the member knows of each topic. The coordinator readmits a member without
// a rebalance only if none of this has changed, and a leader whose broker does not know a topic yet takes the partitions from there.
func subscription(topics map[string]Topic) []byte {
	b := binary.BigEndian.AppendUint32([]byte{0, 0}, uint32(len(topics)))
	var knows []byte
	for _, name := range slices.Sorted(maps.Keys(topics)) {
		b = appendString(b, name)
		knows = fmt.Appendf(knows, "%s: %v\n", name, topics[name])
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(knows)))
	return append(b, knows...)
}

// subscribed decodes a subscription: its topics, each with the partitions that the member knows of, or 0 if it does not say.
func subscribed(b []byte) (map[string]int, error) {
	r := reader{b: b}
	r.skip(2)
	topics := map[string]int{}
	for n := r.int32(); n > 0 && !r.bad; n-- {
		topics[string(r.bytes(int(r.int16())))] = 0
	}
	if r.bad {
		return nil, errForeign
	}
	for line := range strings.Lines(string(r.bytes(int(r.int32())))) {
		name, knows, _ := strings.Cut(line, ": ")
		if _, wanted := topics[name]; !wanted {
			continue
		}
		var partitions int
		if n, _ := fmt.Sscanf(knows, topicForm, &partitions); n == 1 && partitions > 0 && partitions <= maxPartitions {
			topics[name] = partitions
		}
	}
	return topics, nil
}

// maxPartitions is more than any topic has.
const maxPartitions = 1 << 20

// appointment encodes a member's assignment.
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

// appointed decodes the partitions of an assignment. No bytes mean no partitions.
func appointed(b []byte) (map[string][]int, error) {
	ours := map[string][]int{}
	if len(b) == 0 {
		return ours, nil
	}
	r := reader{b: b}
	r.skip(2)
	for n := r.int32(); n > 0 && !r.bad; n-- {
		name := string(r.bytes(int(r.int16())))
		for n := r.int32(); n > 0 && !r.bad; n-- {
			ours[name] = append(ours[name], int(r.int32()))
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
