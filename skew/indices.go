package skew

import (
	"math"
	"slices"
)

type Indices struct {
	MaxMean   float64 `json:"max_mean"`   // largest share over mean share; 1 is even, n is all in one place
	CV        float64 `json:"cv"`         // coefficient of variation: population standard deviation over mean
	Gini      float64 `json:"gini"`       // Σ|xi−xj| / (2 n² mean): 0 is even, 1−1/n is all in one place
	Entropy   float64 `json:"entropy"`    // 1 − H/ln n: 0 is even, 1 is all in one place
	P99Mean   float64 `json:"p99_mean"`   // the 99th percentile (nearest rank) over the mean
	TopShare  float64 `json:"top_share"`  // share of the top 1 % of the places (at least one)
	HBaseCost float64 `json:"hbase_cost"` // the deviation that HBase's stochastic balancer scales to 0…1; it acts above 0.025
}

func Measure(counts []float64) Indices {
	n := float64(len(counts))
	total := 0.0
	for _, x := range counts {
		total += x
	}
	if n < 2 || total <= 0 {
		return Indices{MaxMean: 1, P99Mean: 1, TopShare: math.Ceil(n/100) / max(1, n)}
	}
	mean := total / n
	sorted := slices.Sorted(slices.Values(counts))
	var squares, weighted, entropy, top float64
	for i, x := range sorted {
		squares += (x - mean) * (x - mean)
		weighted += float64(2*i+1) * x
		if x > 0 {
			p := x / total
			entropy -= p * math.Log(p)
		}
	}
	for _, x := range sorted[len(sorted)-top1(len(sorted)):] {
		top += x
	}
	return Indices{
		MaxMean:   sorted[len(sorted)-1] / mean,
		CV:        math.Sqrt(squares/n) / mean,
		Gini:      max(0, weighted/(n*total)-1), // sorted form of the definition above
		Entropy:   max(0, 1-entropy/math.Log(n)),
		P99Mean:   sorted[p99(len(sorted))] / mean,
		TopShare:  top / total,
		HBaseCost: balancerCost(math.Sqrt(squares), n, total),
	}
}

func top1(n int) int { return (n + 99) / 100 }

func p99(n int) int { return (99*n+99)/100 - 1 }

func balancerCost(deviation, n, total float64) float64 {
	mean := total / n
	largest := math.Sqrt((n-1)*mean*mean + (total-mean)*(total-mean))
	smallest := 0.0
	if n > total {
		smallest = math.Sqrt(total*(1-mean)*(1-mean) + (n-total)*mean*mean)
	} else {
		high := math.Floor(total - math.Floor(mean)*n)
		low := n - high
		smallest = math.Sqrt(high*sq(math.Ceil(mean)-mean) + low*sq(mean-math.Floor(mean)))
	}
	if largest <= smallest {
		return 0
	}
	return min(1, max(0, (deviation-smallest)/(largest-smallest)))
}

func sq(x float64) float64 { return x * x }
