package skew

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// cpu returns the processor time of this process: on a busy machine it is more meaningful than the clock.
func cpu() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkAdd reports the cost per mutation in batches of 1,000, whose keys are all different, or a tenth the same.
func BenchmarkAdd(b *testing.B) {
	for _, tt := range []struct {
		name string
		head func(row []byte) int
		keys int
	}{
		{"distinct keys", func(row []byte) int { return 16 }, 50_000},
		{"few keys", func(row []byte) int { return 16 }, 100},
		{"no heads", nil, 50_000},
	} {
		b.Run(tt.name, func(b *testing.B) {
			c := NewCounter(Shape{Head: tt.head}, time.Now)
			all := make(stored, tt.keys)
			for i := range all {
				all[i] = fmt.Appendf(nil, "%016x|some more of the key", uint64(i)*0x9e3779b97f4a7c15)
			}
			batch := Batch{Region: Region{Name: "a"}, Count: Count{Rows: 1000, Bytes: 1000}}
			next, began := 0, cpu()
			b.ReportAllocs()
			for b.Loop() {
				if next += 1000; next+1000 > len(all) {
					next = 0
				}
				batch.Rows = all[next:min(len(all), next+1000)]
				batch.Count.Rows = int64(min(len(all), 1000))
				c.Add(batch)
			}
			b.ReportMetric(float64((cpu()-began).Nanoseconds())/float64(b.N)/float64(min(len(all), 1000)), "cpu-ns/mutation")
		})
	}
}

type stored [][]byte

func (s stored) Row(i int) []byte { return s[i] }

// BenchmarkCauses reports the cost of finding the causes of 30 hot regions among 1,000, which happens at most every ten seconds.
func BenchmarkCauses(b *testing.B) {
	w := newWorkload(byCourier.shape, even(1000), 1)
	w.run(60, 2000, func() string { return fmt.Sprintf("%04d|%s", 100*w.rnd.IntN(30), w.digits()) }, nil) // 30 hot regions
	b.ReportAllocs()
	began := cpu()
	for b.Loop() {
		w.c.causes = causes{} // otherwise it would be cached
		if w.c.Causes()[HeavyKey] != 30 {
			b.Fatal(w.c.Causes())
		}
	}
	b.ReportMetric(float64((cpu()-began).Microseconds())/float64(b.N), "cpu-µs/op")
}
