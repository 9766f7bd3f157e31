package skew

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// The heavy keys are found at any rate, with about their shares: exactly at a low rate, and from a part of the keys at a high one.
func TestHeavyKeysAreFoundAtAnyRate(t *testing.T) {
	for _, perSecond := range []int{100, 490, 20_000, 300_000} {
		clock := time.Unix(0, 0)
		looked := 0
		c := NewCounter(Shape{Head: func(row []byte) int { looked++; return len(row) }}, func() time.Time { return clock })
		rnd := rand.New(rand.NewPCG(3, uint64(perSecond)))
		heavy, all := 0, 0
		for range 10 {
			for range 10 {
				rows := make(stored, perSecond/10)
				for i := range rows {
					rows[i] = fmt.Appendf(nil, "%d", rnd.Uint64())
					if rnd.IntN(20) == 0 {
						rows[i] = []byte("courier 7")
						heavy++
					}
				}
				all += len(rows)
				c.Add(Batch{Region: Region{Name: "a"}, Count: Count{Rows: int64(len(rows))}, Rows: rows})
				clock = clock.Add(100 * time.Millisecond)
			}
		}
		got := c.Heavy()
		if len(got) == 0 || got[0].Key.String() != "courier 7" {
			t.Fatalf("%d rows a second: heavy are %v", perSecond, got)
		}
		low, share := float64(got[0].Rows-got[0].Error), float64(heavy)/float64(all)
		tolerance := 0.0
		if perSecond > everyKey {
			tolerance = 0.2 * float64(heavy)
		}
		if low > float64(heavy)+tolerance || float64(got[0].Rows) < float64(heavy)-tolerance || math.Abs(got[0].Share-share) > 0.02 {
			t.Errorf("%d rows a second: %d to %d rows, a share of %.3f; written were %d, %.3f", perSecond, got[0].Rows-got[0].Error, got[0].Rows, got[0].Share, heavy, share)
		}
		if perSecond <= everyKey && looked != all || looked > all || perSecond == 300_000 && looked > all/8 {
			t.Errorf("%d rows a second: %d keys of %d were looked at", perSecond, looked, all)
		}
	}
}
