package command

import (
	"hash/crc32"
	"hash/fnv"
)

// Partitioner maps keys to partitions.
type Partitioner string

// The partitioners. A command's record must go to the same partition as the shop's own records of that key.
const (
	Murmur2 Partitioner = "murmur2" // Kafka's Java clients
	CRC32   Partitioner = "crc32"   // librdkafka (consistent)
	FNV1a   Partitioner = "fnv1a"   // Sarama
)

// Partitioners are all partitioners.
var Partitioners = []Partitioner{Murmur2, CRC32, FNV1a}

// Partition returns the partition of a key among n.
func (p Partitioner) Partition(key []byte, n int) int {
	switch p {
	case CRC32:
		return int(crc32.ChecksumIEEE(key) % uint32(n))
	case FNV1a:
		h := fnv.New32a()
		h.Write(key)
		part := int32(h.Sum32()) % int32(n)
		return int(max(part, -part))
	}
	return int((murmur2(key) & 0x7fffffff) % uint32(n))
}

// murmur2 is the hash of Kafka's Java clients.
func murmur2(data []byte) uint32 {
	const m, r = 0x5bd1e995, 24
	h := uint32(0x9747b28c) ^ uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		k := uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16 | uint32(data[3])<<24
		k *= m
		k ^= k >> r
		h = h*m ^ k*m
	}
	switch len(data) {
	case 3:
		h ^= uint32(data[2]) << 16
		fallthrough
	case 2:
		h ^= uint32(data[1]) << 8
		fallthrough
	case 1:
		h = (h ^ uint32(data[0])) * m
	}
	h ^= h >> 13
	h *= m
	return h ^ h>>15
}
