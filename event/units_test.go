package event

import (
	"math"
	"math/big"
	"testing"
)

// Every conversion between units is exact arithmetic, rounded down.
func TestUnitsConvertExactly(t *testing.T) {
	counts := []int64{0, 1, -1, 999, 1000, 1001, -999, -1000, -1001, 86_399_999, 86_400_000, -86_400_001, 1357034220000123, -1357034220000123, math.MaxInt64, math.MinInt64}
	for u := Days; u <= Nanoseconds; u++ {
		for to := Days; to <= Nanoseconds; to++ {
			for _, count := range counts {
				want := new(big.Int).Mul(big.NewInt(count), big.NewInt(lengths[u]))
				want.Div(want, big.NewInt(lengths[to])) // Euclidean, which rounds down as the divisor is positive
				got, ok := u.in(to, count)
				if ok != want.IsInt64() || ok && got != want.Int64() {
					t.Errorf("%d of unit %d in unit %d: %d, %v, want %v", count, u, to, got, ok, want)
				}
			}
		}
	}
}
