package skew

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func sqrt(x float64) float64 { return math.Sqrt(x) }

func sortedText(names []string) string { return strings.Join(slices.Sorted(slices.Values(names)), " ") }

// TestChanceIsWhatChanceMakes distributes rows at random, many times, and compares the mean of the indices.
func TestChanceIsWhatChanceMakes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct{ places, rows, times int }{
		{2, 40, 2000}, {16, 16, 2000}, {16, 1000, 1000}, {100, 20, 1000}, {300, 30_000, 100}, {1000, 500, 200}, {4, 400_000, 20},
	} {
		var sum Indices
		for range tt.times {
			counts := make([]float64, tt.places)
			for range tt.rows {
				counts[rnd.IntN(tt.places)]++
			}
			x := Measure(counts)
			sum.MaxMean += x.MaxMean
			sum.CV += x.CV
			sum.Gini += x.Gini
			sum.Entropy += x.Entropy
			sum.TopShare += x.TopShare
		}
		want := Chance(tt.places, float64(tt.rows))
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"max/mean", sum.MaxMean, want.MaxMean}, {"CV", sum.CV, want.CV}, {"Gini", sum.Gini, want.Gini},
			{"entropy", sum.Entropy, want.Entropy}, {"top share", sum.TopShare, want.TopShare},
		} {
			if got := c.got / float64(tt.times); math.Abs(got-c.want) > 0.12*c.want+1e-5 {
				t.Errorf("%+v: %s is %.4f in the mean, %.4f was expected", tt, c.name, got, c.want)
			}
		}
	}
}

func TestFewWritesDoNotLookUneven(t *testing.T) {
	few := make([]float64, 16)
	for i := range 8 {
		few[i]++
	}
	few[3]++
	x := Measure(few)
	if beyond := x.Beyond(Chance(16, 9)); x.MaxMean < 3 || beyond.MaxMean > 1.1 || beyond.CV > 0.1 || beyond.Gini > 0.1 {
		t.Errorf("%+v, beyond chance %+v", x, beyond)
	}
	many := Measure([]float64{299292, 245744, 515290, 240297})
	if beyond := many.Beyond(Chance(4, 1300623)); math.Abs(beyond.MaxMean-many.MaxMean) > 0.005 {
		t.Errorf("of many writes nearly all is beyond chance: %+v", beyond)
	}
	for _, n := range []int{0, 1, 5} {
		if x := Chance(n, 0); x.MaxMean != 1 || x.Gini != 0 {
			t.Errorf("no writes on %d places: %+v", n, x)
		}
	}
}
