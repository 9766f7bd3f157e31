package verify

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// TestSorterReturnsEachShardInOrder adds more than its buffer holds, in two parts, and reads after each.
func TestSorterReturnsEachShardInOrder(t *testing.T) {
	type entry struct {
		shard        int
		key, payload string
	}
	random := rand.New(rand.NewPCG(1, 2))
	const shards = 5
	s, err := newSorter(t.TempDir(), 1<<10, shards)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	var all []entry
	for range 2 {
		for range 500 {
			e := entry{2 * random.IntN(3), fmt.Sprintf("key%d\x00%s", random.IntN(50), bytes.Repeat([]byte("x"), random.IntN(40))), fmt.Sprint(random.Int())}
			if err := s.add(e.shard, []byte(e.key), []byte(e.payload)); err != nil {
				t.Fatal(err)
			}
			all = append(all, e)
		}
		if err := s.flush(); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(all, func(a, b entry) int {
			return cmp.Or(cmp.Compare(a.shard, b.shard), cmp.Compare(a.key, b.key), cmp.Compare(a.payload, b.payload))
		})
		var got []entry
		for shard := range shards {
			err := s.each(shard, 1<<10, func(key, payload []byte) error {
				got = append(got, entry{shard, string(key), string(payload)})
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, all) {
			t.Fatalf("%d entries in %d runs come back as %d", len(all), len(s.runs), len(got))
		}
	}
	if len(s.runs) < 10 {
		t.Errorf("%d runs: the buffer was never full", len(s.runs))
	}
}

// TestSorterReturnsEntriesOfEverySize sorts entries that are smaller and larger than the buffers for reading and than those for sorting.
func TestSorterReturnsEntriesOfEverySize(t *testing.T) {
	s, err := newSorter(t.TempDir(), 16<<10, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	sizes := []int{0, 1, 4<<10 - entryHead - 4, 4<<10 - entryHead - 3, 100, 9 << 10, 40 << 10}
	for round := range 3 {
		for i, size := range sizes {
			if err := s.add(0, fmt.Appendf(nil, "k%03d", i), bytes.Repeat([]byte{byte('a' + round)}, size)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.flush(); err != nil {
		t.Fatal(err)
	}
	n := 0
	err = s.each(0, 1, func(key, payload []byte) error {
		i, round := n/3, n%3
		if string(key) != fmt.Sprintf("k%03d", i) || !bytes.Equal(payload, bytes.Repeat([]byte{byte('a' + round)}, sizes[i])) {
			t.Errorf("entry %d is %s with %d bytes", n, key, len(payload))
		}
		n++
		return nil
	})
	if err != nil || n != 3*len(sizes) {
		t.Fatalf("%d entries, error %v", n, err)
	}
}

// TestATruncatedFileIsAnError truncates the temporary file at the end of an entry and elsewhere: entries that are missing would otherwise
// count as records that never were.
func TestATruncatedFileIsAnError(t *testing.T) {
	for _, left := range []int64{0, 3, 30, 60, 61} { // of entries of 30 bytes
		s, err := newSorter(t.TempDir(), 16<<10, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		for i := range 3 {
			if err := s.add(0, fmt.Appendf(nil, "k%01d", i), make([]byte, 20)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.flush(); err != nil || s.size != 90 {
			t.Fatalf("%d bytes, error %v", s.size, err)
		}
		if err := s.file.Truncate(left); err != nil {
			t.Fatal(err)
		}
		if err := s.each(0, 1<<20, func(_, _ []byte) error { return nil }); err == nil {
			t.Errorf("no error with %d bytes left of %d", left, s.size)
		}
	}
}

// TestDigestsAreThoseOfEarlierVersions checks that a cell's contribution to a digest is what it always was, so that digests can be compared
// with those of another day.
func TestDigestsAreThoseOfEarlierVersions(t *testing.T) {
	var h cellHasher
	for _, c := range []struct {
		key, column string
		version     int64
		value       uint64
	}{{"row", "e:s", 1357034220000, 7}, {"", ":", 0, 0}, {"r\x00w", "f:a rather long column", 1<<62 - 1, 1<<64 - 1}} {
		d := xxhash.New()
		number := func(n uint64) { _, _ = d.Write(binary.LittleEndian.AppendUint64(nil, n)) }
		for _, text := range []string{c.key, c.column} {
			number(uint64(len(text)))
			_, _ = d.WriteString(text)
		}
		number(uint64(c.version))
		number(c.value)
		h.begin([]byte(c.key))
		for range 2 {
			if got := h.cell([]byte(c.column), c.version, c.value); got != d.Sum64() {
				t.Errorf("%q %q: %x, expected %x", c.key, c.column, got, d.Sum64())
			}
		}
	}
}

// TestDamagedEntriesAreErrors truncates entries at every byte.
func TestDamagedEntriesAreErrors(t *testing.T) {
	head := appendEntry(nil, may, origin{source: 300, partition: 7, offset: 1 << 40})
	whole := appendOp(head, op{kind: put, column: []byte("f:q"), version: 1 << 41, ttl: 9, value: 5})
	for n := range len(whole) {
		e, err := readEntry(whole[:n])
		if err == nil && n > len(head) {
			_, _, err = nextOp(e.ops)
		}
		if err == nil && n != len(head) {
			t.Errorf("no error in %d of %d bytes", n, len(whole))
		}
	}
	e, err := readEntry(whole)
	if err != nil || e.flags != may || e.origin != (origin{source: 300, partition: 7, offset: 1 << 40}) {
		t.Fatalf("%+v, error %v", e, err)
	}
	o, rest, err := nextOp(e.ops)
	if err != nil || len(rest) > 0 || o.kind != put || string(o.column) != "f:q" || o.version != 1<<41 || o.ttl != 9 || o.value != 5 {
		t.Fatalf("%+v, %d bytes left, error %v", o, len(rest), err)
	}
}
