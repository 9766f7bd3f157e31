// Package skew says how evenly writes are spread: over the regions of a table and over the salt buckets of its key. It
// turns counts into indices and keeps the counts of the last minute. metrics and query import it; it imports nothing of ours.
//
// The invariant: the indices are pure functions of the counts, a region without writes counts as zero, and memory is
// bounded by the number of regions.
package skew

import (
	"math"
	"slices"
)

// Indices measure how unevenly a quantity is spread over n places. All are dimensionless. A table without writes, or with
// fewer than two regions, is even: MaxMean 1 and the rest 0.
type Indices struct {
	MaxMean   float64 `json:"max_mean"`   // the largest share over the mean share; 1 is even, n is all in one place
	CV        float64 `json:"cv"`         // coefficient of variation: population standard deviation over mean
	Gini      float64 `json:"gini"`       // Σ|xi−xj| / (2 n² mean): 0 is even, 1−1/n is all in one place
	Entropy   float64 `json:"entropy"`    // 1 − H/ln n: 0 is even, 1 is all in one place
	HBaseCost float64 `json:"hbase_cost"` // the deviation that HBase's stochastic balancer scales to 0…1; it acts above 0.025
}

// Measure computes the indices of counts.
func Measure(counts []float64) Indices {
	n := float64(len(counts))
	total := 0.0
	for _, x := range counts {
		total += x
	}
	if n < 2 || total <= 0 {
		return Indices{MaxMean: 1}
	}
	mean := total / n
	sorted := slices.Sorted(slices.Values(counts))
	var squares, weighted, entropy float64
	for i, x := range sorted {
		squares += (x - mean) * (x - mean)
		weighted += float64(2*i+1) * x
		if x > 0 {
			p := x / total
			entropy -= p * math.Log(p)
		}
	}
	return Indices{
		MaxMean:   sorted[len(sorted)-1] / mean,
		CV:        math.Sqrt(squares/n) / mean,
		Gini:      max(0, weighted/(n*total)-1), // the sorted form of the definition above
		Entropy:   max(0, 1-entropy/math.Log(n)),
		HBaseCost: balancerCost(math.Sqrt(squares), n, total),
	}
}

// balancerCost scales a deviation √Σ(x−mean)² between the smallest and the largest that n places and this total allow, as
// HBase's DoubleArrayCost does. The largest is all in one place; the smallest spreads whole units as evenly as they go.
func balancerCost(deviation, n, total float64) float64 {
	mean := total / n
	largest := math.Sqrt((n-1)*mean*mean + (total-mean)*(total-mean))
	smallest := 0.0
	if n > total {
		smallest = math.Sqrt(total*(1-mean)*(1-mean) + (n-total)*mean*mean)
	} else {
		high := total - math.Floor(mean)*n
		low := n - high
		smallest = math.Sqrt(high*sq(math.Ceil(mean)-mean) + low*sq(mean-math.Floor(mean)))
	}
	if largest <= smallest {
		return 0
	}
	return min(1, max(0, (deviation-smallest)/(largest-smallest)))
}

func sq(x float64) float64 { return x * x }
