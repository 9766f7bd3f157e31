package plan

import (
	"fmt"
	"math"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// Beyond the bound on memory distinct rows are estimated: within five standard deviations, and independently of their distribution.
func TestManyRowsAreEstimated(t *testing.T) {
	const limit, rows = 4096, 100_000
	one, two := newDistinct(limit), newDistinct(limit)
	for twice := range 2 {
		for i := range rows {
			hash := xxhash.Sum64String(fmt.Sprint(i))
			one.add(hash, mark{at: int64(i), region: uint32(i % 2)})
			if i%4 == twice || i%4 > 1 {
				two.add(hash, mark{at: int64(i), region: uint32(i % 2)})
			}
		}
		if len(one.rows) > limit {
			t.Fatalf("%d rows are held, over the limit %d", len(one.rows), limit)
		}
	}
	got, off := len(one.rows)*one.scale(), 5*rows/math.Sqrt(limit/2)
	if one.level == 0 || math.Abs(float64(got-rows)) > off {
		t.Errorf("%d rows at level %d, want %d ± %.0f", got, one.level, rows, off)
	}
	empty := newDistinct(limit)
	empty.merge(&two)
	if len(empty.rows) != len(one.rows) || empty.level != one.level {
		t.Errorf("merged: %d rows at level %d, want %d at %d", len(empty.rows), empty.level, len(one.rows), one.level)
	}
	regions := [2]int{}
	for _, m := range one.rows {
		if regions[m.region]++; m.differs {
			t.Fatal("the same content differs")
		}
	}
	if share := float64(regions[0]) / float64(len(one.rows)); math.Abs(share-0.5) > 0.06 {
		t.Errorf("half of the rows lie in each region; estimated are %v", regions)
	}
}

// The rows with the smallest hashes of all are kept, in whatever order and wherever they were added.
func TestKeptRowsAreTheSameInAnyOrder(t *testing.T) {
	const limit, rows = 64, 5000
	up, down, odd := kept{limit: limit}, kept{limit: limit}, kept{limit: limit}
	add := func(k *kept, i int) {
		row := fmt.Appendf(nil, "%05d", i)
		k.add(xxhash.Sum64(row), row)
	}
	for i := range rows {
		add(&up, i)
		add(&up, i)
		if j := rows - 1 - i; j%2 == 0 {
			add(&down, j)
		} else {
			add(&odd, j)
		}
	}
	down.merge(&odd)
	a, b := up.sorted(), down.sorted()
	if fmt.Sprintf("%s", a) != fmt.Sprintf("%s", b) || len(a) != limit {
		t.Errorf("%d rows %s\n%d rows %s", len(a), a, len(b), b)
	}
}
