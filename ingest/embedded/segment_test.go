package embedded

import (
	"bytes"
	"testing"
)

// FuzzSegment: whatever is in a segment and its index, the batches read lie within it, and the completed index has an entry for each batch
// and does not change when completed again.
func FuzzSegment(f *testing.F) {
	f.Add([]byte{}, []byte{})
	f.Add(make([]byte, batchHead), make([]byte, entryBytes))
	f.Fuzz(func(t *testing.T, segment, index []byte) {
		batches, to, then := readBatches(segment, 0)
		if to > len(segment) || then == whole && to != len(segment) {
			t.Fatalf("read to %d of %d: %v", to, len(segment), then)
		}
		done := completeIndex(index, batches)
		if len(done) != len(batches)*entryBytes || !bytes.Equal(completeIndex(done, batches), done) {
			t.Errorf("an index of %d bytes for %d batches", len(done), len(batches))
		}
		if to, then := readableTo(segment); to > len(segment) || then == whole && to != len(segment) {
			t.Errorf("readable to %d of %d: %v", to, len(segment), then)
		}
	})
}
