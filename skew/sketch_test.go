package skew

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestSketchBoundsHoldForAnyKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 20).Draw(t, "counters")
		a, b := newSketch(k), newSketch(k)
		exact := map[string]int64{}
		keys := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 2), 1, 30).Draw(t, "keys")
		n := int64(0)
		for range rapid.IntRange(1, 400).Draw(t, "adds") {
			key := keys[rapid.IntRange(0, len(keys)-1).Draw(t, "key")]
			times := rapid.SampledFrom([]int64{1, 1, 2, 16, 17}).Draw(t, "times")
			exact[string(key)] += times
			n += times
			if rapid.Bool().Draw(t, "which") {
				a.addTimes(key, times)
			} else {
				b.addTimes(key, times)
			}
		}
		found := map[string]bool{}
		for _, h := range heavy(a, b, 0) {
			found[string(h.Key)] = true
			if rows := exact[string(h.Key)]; rows > h.Rows || rows < h.Rows-h.Error {
				t.Fatalf("%q: %d ± %d, exactly %d", h.Key, h.Rows, h.Error, rows)
			}
		}
		for key, rows := range exact {
			if !found[key] && rows > n/int64(k) {
				t.Fatalf("%q has %d of %d and is not found with %d counters", key, rows, n, k)
			}
		}
	})
}

func TestSketchForgets(t *testing.T) {
	s := newSketch(4)
	for i := range 100 {
		s.add(fmt.Append(nil, i%7))
	}
	s.reset()
	if s.total != 0 || s.missing() != 0 || len(heavy(s, newSketch(4), 0)) != 0 {
		t.Error("something is left")
	}
	s.add([]byte("a"))
	if rows, bound := s.of("a"); rows != 1 || bound != 0 {
		t.Errorf("%d ± %d", rows, bound)
	}
}

func TestSketchFindsHeavyKeysAmongMillions(t *testing.T) {
	s := newSketch(sketchCounters)
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 1_000_000 {
		if rnd.IntN(100) < 3 {
			s.add([]byte("courier 7"))
		} else {
			s.add(fmt.Append(nil, rnd.Uint64()))
		}
	}
	got := heavy(s, newSketch(sketchCounters), leastShare)
	if len(got) != 1 || string(got[0].Key) != "courier 7" || got[0].Share < 0.029 || got[0].Share > 0.034 {
		t.Errorf("%+v", got)
	}
}
