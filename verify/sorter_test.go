package verify

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
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
