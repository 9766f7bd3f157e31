package pipeline

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Whatever is added at either end and cut off, a fifo holds the same as a plain slice.
func TestFifoIsASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q fifo
		var want []int32
		next := int32(0)
		fresh := func(n int) (es []entry) {
			for range n {
				es = append(es, entry{index: next})
				next++
			}
			return es
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			n := rapid.IntRange(0, 5).Draw(t, "n")
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				for _, e := range fresh(n) {
					q.push(e)
					want = append(want, e.index)
				}
			case 1:
				n = min(n, len(want))
				cut := indexes(q.cut(nil, n))
				if !slices.Equal(cut, want[:n]) {
					t.Fatalf("cut %v, want %v", cut, want[:n])
				}
				want = want[n:]
			case 2:
				es := fresh(n)
				q.pushFront(es)
				want = slices.Concat(indexes(es), want)
			case 3:
				n = min(n, len(want))
				q.replace(q.items()[n:])
				want = want[n:]
			}
			if got := indexes(q.items()); !slices.Equal(got, want) || q.len() != len(want) {
				t.Fatalf("%v, want %v", got, want)
			}
		}
	})
}

func indexes(es []entry) []int32 {
	out := make([]int32, 0, len(es))
	for _, e := range es {
		out = append(out, e.index)
	}
	return out
}

// In a steady state, a fifo allocates nothing.
func TestFifoKeepsItsMemory(t *testing.T) {
	var q fifo
	var cut []entry
	if n := testing.AllocsPerRun(100, func() {
		for range 1000 {
			q.push(entry{})
		}
		for q.len() > 500 {
			cut = q.cut(cut[:0], 100)
			q.pushFront(cut[:10])
		}
	}); n > 1 {
		t.Errorf("%v allocations", n)
	}
}
