package measure

import "math"

// Again marks the second load of the same binary in a round: the difference between the two is due to the machine.
const Again = "-again"

// Estimate is a measured value, and its spread: how much the same binary, measured in the same run, differs from itself. A difference
// within the spread is undecided.
type Estimate struct{ Value, Spread float64 }

// Exactly returns the estimate of something that does not vary, such as a count.
func Exactly(v float64) Estimate { return Estimate{Value: v} }

// Times returns the estimate in another unit.
func (e Estimate) Times(f float64) Estimate { return Estimate{e.Value * f, e.Spread * math.Abs(f)} }

// Plus returns the estimate plus a number that does not vary.
func (e Estimate) Plus(v float64) Estimate { return Estimate{e.Value + v, e.Spread} }

// Minus returns the difference of two estimates with independent spreads.
func (e Estimate) Minus(o Estimate) Estimate {
	return Estimate{e.Value - o.Value, math.Hypot(e.Spread, o.Spread)}
}

// Over returns the ratio of two estimates with independent spreads.
func (e Estimate) Over(o Estimate) Estimate {
	v := e.Value / o.Value
	return Estimate{v, math.Abs(v) * math.Hypot(e.Spread/e.Value, o.Spread/o.Value)}
}

// medianError is the standard error of the median of n normally distributed values, in their standard deviations, times √n: √(π/2).
var medianError = math.Sqrt(math.Pi / 2)

// spreadOf returns twice the standard error of a median of n values with that variance.
func spreadOf(variance float64, n int) float64 {
	return 2 * medianError * math.Sqrt(variance/float64(n))
}

// Repeated returns the median of repeated measurements of the same thing. A single measurement has an unknown spread, which is taken to be
// the whole value.
func Repeated(values []float64) Estimate {
	e := Estimate{Value: Middle(values)}
	n := len(values)
	if n < 2 {
		e.Spread = math.Abs(e.Value)
		return e
	}
	var sum, squares float64
	for _, v := range values {
		sum += v
	}
	for _, v := range values {
		squares += (v - sum/float64(n)) * (v - sum/float64(n))
	}
	e.Spread = spreadOf(squares/float64(n-1), n)
	return e
}

// Added returns the median over the rounds of the difference between something with an addition and without. Its spread comes from again,
// each round's second measurement without, which differs from the first only because of the machine. All three must have a value per round,
// and at least one.
func Added(with, without, again []float64) Estimate {
	var added []float64
	squares, n := 0.0, min(len(with), len(without), len(again))
	for i := range n {
		added = append(added, with[i]-without[i])
		squares += (again[i] - without[i]) * (again[i] - without[i])
	}
	return Estimate{Middle(added), spreadOf(squares/float64(n), n)}
}

// RepeatedLoads is Repeated for a number of loads.
func RepeatedLoads(loads []Load, of func(Load) float64) Estimate {
	var v []float64
	for _, l := range loads {
		v = append(v, of(l))
	}
	return Repeated(v)
}

// Compared returns the median over the rounds of ours against theirs, as Ratio does. Its spread comes from again, the rounds' second loads
// of the same binary as ones: the logarithm of their ratio is zero except for the machine's noise.
func Compared(ours, theirs, ones, again []Load, of func(Load) float64) Estimate {
	v := Ratio(ours, theirs, of)
	n := min(len(ones), len(again))
	if n == 0 {
		return Estimate{v, math.Abs(v)}
	}
	squares := 0.0
	for i := range n {
		d := math.Log(of(again[i]) / of(ones[i]))
		squares += d * d
	}
	return Estimate{v, math.Abs(v) * spreadOf(squares/float64(n), n)}
}
