package skew

import "math"

// Chance returns the expected indices of an even spread if that many rows fall at random on n places. With few rows per place, chance alone
// looks uneven. The rows of a place are then Poisson-distributed, to a good approximation.
func Chance(n int, rows float64) Indices {
	even := Measure(make([]float64, n))
	if n < 2 || rows <= 0 {
		return even
	}
	mean := rows / float64(n)
	cv := deviation(float64(n)) / math.Sqrt(mean)
	most, top, p := extremes(n, mean)
	if p99(n) == n-1 {
		p = most
	}
	return Indices{
		MaxMean:   min(float64(n), max(1, most/mean)),
		CV:        cv,
		Gini:      min(1-1/float64(n), giniOfPoisson(mean)*(1-1/float64(n))),
		Entropy:   entropyOfPoisson(n, mean),
		P99Mean:   min(float64(n), max(1, p/mean)),
		TopShare:  min(1, max(even.TopShare, top/rows)),
		HBaseCost: balancerCost(cv*mean*math.Sqrt(float64(n)), float64(n), rows),
	}
}

// Beyond returns the indices without the part that chance explains. No index gets better than even.
func (x Indices) Beyond(chance Indices) Indices {
	return Indices{
		MaxMean: 1 + max(0, x.MaxMean-chance.MaxMean), CV: max(0, x.CV-chance.CV), Gini: max(0, x.Gini-chance.Gini),
		Entropy: max(0, x.Entropy-chance.Entropy), P99Mean: 1 + max(0, x.P99Mean-chance.P99Mean),
		TopShare: max(0, x.TopShare-chance.TopShare), HBaseCost: max(0, x.HBaseCost-chance.HBaseCost),
	}
}

// deviation returns the expected standard deviation of n normally distributed values whose population has 1.
func deviation(n float64) float64 {
	if n > 100 {
		return math.Sqrt(1 - 1/n)
	}
	a, _ := math.Lgamma(n / 2)
	b, _ := math.Lgamma((n - 1) / 2)
	return math.Sqrt(2/n) * math.Exp(a-b)
}

// extremes returns the expected maximum of n places of a Poisson mean, the expected sum of their top 1 %, and their 99th percentile. An
// expectation is the sum over k of the probability of more than k, which far from the mean is 1 or 0.
func extremes(n int, mean float64) (most, top, p float64) {
	const sigmas = 12
	k := max(0, math.Floor(mean-sigmas*math.Sqrt(mean)))
	end := mean + sigmas*math.Sqrt(mean) + 40
	places, first := float64(n), float64(top1(n))
	below := 0.0 // probability of at most k
	most, top, p = k, k*first, -1
	step := max(1, math.Floor(math.Sqrt(mean)/500)) // for large means, some thousand steps are enough
	for ; k < end; k += step {
		below = poissonBelow(mean, k, below, step)
		more := 1 - math.Pow(below, places)
		most += step * more
		top += step * min(first, max(more, places*(1-below)))
		if p < 0 && below >= 0.99 {
			p = k
		}
	}
	return most, top, p
}

// poissonBelow returns the probability of at most k, given that of at most k−step. For large means, it uses the normal distribution.
func poissonBelow(mean, k, before, step float64) float64 {
	if mean > 1000 || step > 1 {
		return 0.5 * math.Erfc(-(k+0.5-mean)/math.Sqrt(2*mean))
	}
	return min(1, before+poisson(mean, k))
}

func poisson(mean, k float64) float64 {
	gamma, _ := math.Lgamma(k + 1)
	return math.Exp(k*math.Log(mean) - mean - gamma)
}

// giniOfPoisson returns exp(−2λ)(I0(2λ)+I1(2λ)), the mean difference of two places over twice the mean.
func giniOfPoisson(mean float64) float64 {
	if mean > 50 {
		return 1 / math.Sqrt(math.Pi*mean)
	}
	var i0, i1 float64
	term0, term1 := 1.0, mean
	for k := 1.0; k < 400; k++ {
		i0, i1 = i0+term0, i1+term1
		term0 *= mean * mean / (k * k)
		term1 *= mean * mean / (k * (k + 1))
	}
	return math.Exp(-2*mean) * (i0 + i1)
}

// entropyOfPoisson returns 1 − H/ln n. H falls short of the entropy of an even spread by E[x ln x]/mean − ln mean, less what is certain
// because the sum of all places is.
func entropyOfPoisson(n int, mean float64) float64 {
	sure := 1 - 1/float64(n)
	if mean > 1000 {
		return sure / (2 * mean) / math.Log(float64(n))
	}
	sum := 0.0
	for k := 2.0; k < mean+12*math.Sqrt(mean)+40; k++ {
		sum += poisson(mean, k) * k * math.Log(k)
	}
	return min(1, max(0, sure*(sum/mean-math.Log(mean))/math.Log(float64(n))))
}
