package skew

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"time"
)

// workload writes rows to the regions of a table, second by second.
type workload struct {
	clock  *clock
	tables *Tables
	c      *Counter
	list   []Region
	rnd    *rand.Rand
	n      int // rows written
}

func newWorkload(shape Shape, list []Region, seed uint64) *workload {
	clock := newClock()
	w := &workload{clock: clock, tables: NewTables(clock.now), list: list, rnd: rand.New(rand.NewPCG(seed, 0))}
	w.c = w.tables.Counter("t", shape)
	w.c.SetRegions(list)
	return w
}

// run writes rate rows per second, each batch at once, until stop returns true.
func (w *workload) run(seconds, rate int, row func() string, stop func() bool) (after int) {
	for second := range seconds {
		w.write(rate, row)
		w.clock.pass(time.Second)
		w.tables.Observe()
		if stop != nil && stop() {
			return second + 1
		}
	}
	return seconds
}

// write writes the given number of rows, those of a region in one batch.
func (w *workload) write(rows int, row func() string) {
	batches := make([]stored, len(w.list))
	for range rows {
		key := []byte(row())
		i := sort.Search(len(w.list), func(i int) bool { return w.list[i].reaches(key) })
		batches[i] = append(batches[i], key)
		w.n++
	}
	for i, rows := range batches {
		if len(rows) > 0 {
			w.c.Add(Batch{Region: w.list[i], Count: Count{Rows: int64(len(rows)), Bytes: int64(100 * len(rows))}, Rows: rows})
		}
	}
}

func (w *workload) digits() string { return fmt.Sprintf("%04d", w.rnd.IntN(10000)) }

// salted returns n regions that begin at the buckets of a salt of one byte.
func salted(n int) []Region {
	out := make([]Region, n)
	for i := range out {
		out[i] = Region{Name: fmt.Sprintf("b%02d", i), ID: 1, Server: fmt.Sprintf("s%d", i%4)}
		if i > 0 {
			out[i].Start = Key{byte(i)}
			out[i-1].End = out[i].Start
		}
	}
	return out
}
