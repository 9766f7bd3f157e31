package measure

import (
	"math"
	"math/rand/v2"
	"testing"
)

// times returns loads of one row that took so much CPU.
func times(cpu ...float64) (loads []Load) {
	for _, c := range cpu {
		loads = append(loads, Load{Rows: 1, Seconds: 1, ClientCPU: c})
	}
	return loads
}

func TestSpreadIsThatOfTheSameBinary(t *testing.T) {
	theirs, ones := times(100, 100, 100, 100), times(50, 50, 50, 50)
	for _, c := range []struct {
		name  string
		again []Load
		want  Estimate
	}{
		{"a calm machine", times(50, 50, 50, 50), Estimate{0.5, 0}},
		{"a tenth either way", times(55, 50/1.1, 55, 50/1.1), Estimate{0.5, 0.5 * 2 * math.Sqrt(math.Pi/2) * math.Log(1.1) / 2}},
		{"never run again", nil, Estimate{0.5, 0.5}},
	} {
		got := Compared(ones, theirs, ones, c.again, Load.ClientMicros)
		if math.Abs(got.Value-c.want.Value) > 1e-12 || math.Abs(got.Spread-c.want.Spread) > 1e-12 {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestWhatIsAddedIsHeldAgainstTheSameWithout(t *testing.T) {
	without := []float64{1, 2, 1, 2}
	for _, c := range []struct {
		name  string
		again []float64
		want  Estimate
	}{
		{"a calm machine", without, Estimate{0.5, 0}},
		{"one that takes 1 more or less", []float64{2, 1, 2, 1}, Estimate{0.5, 2 * math.Sqrt(math.Pi/2) / 2}},
	} {
		got := Added([]float64{1.5, 2.5, 1.5, 2.5}, without, c.again)
		if math.Abs(got.Value-c.want.Value) > 1e-12 || math.Abs(got.Spread-c.want.Spread) > 1e-12 {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestSpreadHoldsTheTruth draws runs of a machine with known noise: about 19 of 20 medians are within their spread.
func TestSpreadHoldsTheTruth(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const runs, rounds = 2000, 9
	within := 0
	for range runs {
		var v []float64
		for range rounds {
			v = append(v, 10+r.NormFloat64())
		}
		if e := Repeated(v); math.Abs(e.Value-10) < e.Spread {
			within++
		}
	}
	if share := float64(within) / runs; share < 0.9 || share > 0.98 {
		t.Errorf("%.3f of the medians lie within their spread", share)
	}
}

func TestOnceSaysNothingOfItsSpread(t *testing.T) {
	if e := Repeated([]float64{7}); e != (Estimate{7, 7}) {
		t.Errorf("got %+v", e)
	}
	few := Milliseconds{1, 2, 3}
	if e := few.Estimate(0.5); e != (Estimate{2, 2}) {
		t.Errorf("got %+v of three", e)
	}
}

func TestSharesAreHeldAgainstThoseOfFifths(t *testing.T) {
	var calm, drifting Milliseconds
	for i := range 500 {
		calm = append(calm, float64(i%100))
		drifting = append(drifting, float64(i%100)+float64(i/100)*50)
	}
	if e := calm.Estimate(0.99); e != (Estimate{98, 0}) {
		t.Errorf("a calm run: %+v", e)
	}
	if e := drifting.Estimate(0.99); e.Spread < 50 {
		t.Errorf("a run that became slower: %+v", e)
	}
	if calm[0] != 0 || calm[99] != 99 {
		t.Error("the order is lost")
	}
}

func TestRatiosOfEstimates(t *testing.T) {
	e := Estimate{10, 3}.Over(Estimate{20, 8})
	if e.Value != 0.5 || math.Abs(e.Spread-0.25) > 1e-12 {
		t.Errorf("got %+v", e)
	}
	if e := (Estimate{10, 3}).Minus(Estimate{8, 4}); e != (Estimate{2, 5}) {
		t.Errorf("got %+v", e)
	}
	if e := (Estimate{1.04, 0.01}).Plus(-1).Times(100); math.Abs(e.Value-4) > 1e-9 || math.Abs(e.Spread-1) > 1e-9 {
		t.Errorf("got %+v", e)
	}
}
