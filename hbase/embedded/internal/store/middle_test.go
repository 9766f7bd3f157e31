package store

import (
	"fmt"
	"testing"
)

// Half of the cells are before the middle row, give or take the distance of the samples. It is never the first row.
func TestMiddleRow(t *testing.T) {
	for _, rows := range []int{0, 1, 2, 3, 1000, 5000} {
		s := open(t)
		b := s.NewBatch()
		for i := range rows {
			if err := b.Add(space, fmt.Appendf(nil, "%06d\x00", i), []byte("e"), []byte("q"), 1, Put, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
		row, err := s.MiddleRow(space, Range{})
		if err != nil {
			t.Fatal(err)
		}
		if rows < 2 {
			if row != nil {
				t.Errorf("of %d rows: %q", rows, row)
			}
		} else {
			var n int
			if _, err := fmt.Sscanf(string(row), "%06d\x00", &n); err != nil {
				t.Fatalf("%q: %v", row, err)
			}
			if off := n - rows/2; n == 0 || off < -rows/500 || off > rows/500 {
				t.Errorf("of %d rows: %d", rows, n)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
