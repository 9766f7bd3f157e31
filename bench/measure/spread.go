package measure

import "math"

// Again marks the second load of the same binary in a round: what differs between the two is the machine's.
const Again = "-again"

// Estimate is what was measured, and its spread: by how much the same binary, measured in the same run, differs from itself. Whatever lies
// within it is not decided.
type Estimate struct{ Value, Spread float64 }

// Exactly is an estimate of what does not vary, such as a count.
func Exactly(v float64) Estimate { return Estimate{Value: v} }

// Times returns the estimate in another unit.
func (e Estimate) Times(f float64) Estimate { return Estimate{e.Value * f, e.Spread * math.Abs(f)} }

// Plus returns the estimate moved by a number that does not vary.
func (e Estimate) Plus(v float64) Estimate { return Estimate{e.Value + v, e.Spread} }

// Minus returns the difference of two estimates, whose spreads do not depend on each other.
func (e Estimate) Minus(o Estimate) Estimate {
	return Estimate{e.Value - o.Value, math.Hypot(e.Spread, o.Spread)}
}

// Over returns a ratio of two estimates, whose spreads do not depend on each other.
func (e Estimate) Over(o Estimate) Estimate {
	v := e.Value / o.Value
	return Estimate{v, math.Abs(v) * math.Hypot(e.Spread/e.Value, o.Spread/o.Value)}
}

// medianError is the standard error of a median of n values of a normal distribution, in their standard deviations, times √n: √(π/2).
var medianError = math.Sqrt(math.Pi / 2)

// spreadOf is twice the standard error of a median of n values with that variance.
func spreadOf(variance float64, n int) float64 {
	return 2 * medianError * math.Sqrt(variance/float64(n))
}

// Repeated is the median of the same thing measured several times. Of a single time nothing is known: its spread is all of it.
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

// Added is the median over the rounds of what something takes with an addition beyond what it takes without. Its spread comes from again,
// each round's second time without: what those differ by is the machine's. All three have a value of each of at least one round.
func Added(with, without, again []float64) Estimate {
	var added []float64
	squares, n := 0.0, min(len(with), len(without), len(again))
	for i := range n {
		added = append(added, with[i]-without[i])
		squares += (again[i] - without[i]) * (again[i] - without[i])
	}
	return Estimate{Middle(added), spreadOf(squares/float64(n), n)}
}

// RepeatedLoads is Repeated of a number of loads.
func RepeatedLoads(loads []Load, of func(Load) float64) Estimate {
	var v []float64
	for _, l := range loads {
		v = append(v, of(l))
	}
	return Repeated(v)
}

// Compared is the median over the rounds of ours against theirs, as Ratio. Its spread comes from again, the rounds' second loads of
// the same binary as ones: their logarithms' ratio is zero except for the machine's noise.
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
