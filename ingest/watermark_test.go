package ingest

import (
	"testing"

	"pgregory.net/rapid"
)

// In any order of opening and settling, the low edge is the end of the longest run of settled flights, and it never falls.
func TestWatermarkIsTheContiguousEdge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type opened struct {
			number  int
			end     int64
			settled bool
		}
		var w watermark
		start := rapid.Int64Range(0, 1000).Draw(t, "start")
		w.reset(start)
		var all []opened
		end, before := start, start
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(all) == 0 || rapid.Bool().Draw(t, "open") {
				end += rapid.Int64Range(1, 20).Draw(t, "length") // with holes or without
				all = append(all, opened{number: w.open(end, 0), end: end})
			} else if i := rapid.IntRange(0, len(all)-1).Draw(t, "which"); !all[i].settled {
				all[i].settled = true
				w.settle(all[i].number)
			}
			want := start
			for _, o := range all {
				if !o.settled {
					break
				}
				want = o.end
			}
			if got := w.edge(); got != want || got < before {
				t.Fatalf("edge %d after %d, expected %d", got, before, want)
			}
			before = w.edge()
		}
	})
}

func TestWatermarkForgetsFlightsFromBeforeAReset(t *testing.T) {
	var w watermark
	w.reset(10)
	old := w.open(20, 0)
	w.reset(10)
	w.open(15, 0)
	if low, moved := w.settle(old); low != 10 || moved {
		t.Errorf("a forgotten flight moved the edge to %d", low)
	}
}
