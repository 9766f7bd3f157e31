package plan

import (
	"bytes"
	"sort"

	"brine/rowkey"
)

// slack is how far a cut may be from its quantile, as a fraction of a region, if a shorter split point is there.
const slack = 0.05

// farSlack is how far it may be if all closer points contain part of a time.
const farSlack = 0.5

// quantiles cuts sorted rows into n parts of equal numbers. Near the cuts it prefers short split points: those lie between two values of
// the key's first parts (two hex digits, two users) and not within one. No point contains part of a time; timed reports whether this moved
// or omitted a point. It then returns fewer points, as it does if there are fewer rows.
func quantiles(key *rowkey.Key, rows [][]byte, n int) (points [][]byte, timed bool) {
	last := 0
	part := float64(len(rows)) / float64(n)
	for i := 1; i < n; i++ {
		ideal := i * len(rows) / n
		best := -1
		for _, reach := range []float64{slack, farSlack} {
			for at := max(last+1, ideal-int(reach*part)); at <= min(len(rows)-1, ideal+int(reach*part)); at++ {
				if best >= 0 && !better(rows, at, best, ideal) {
					continue
				}
				if key.HoldsTime(rows[at], common(rows[at-1], rows[at])+1) {
					timed = true
					continue
				}
				best = at
			}
			if best >= 0 {
				break
			}
		}
		if best < 0 {
			continue
		}
		points = append(points, separator(rows[best-1], rows[best]))
		last = best
	}
	return points, timed
}

// better reports whether a cut before rows[a] is preferable to one before rows[b].
func better(rows [][]byte, a, b, ideal int) bool {
	la, lb := common(rows[a-1], rows[a]), common(rows[b-1], rows[b])
	if la != lb {
		return la < lb
	}
	return abs(a-ideal) < abs(b-ideal)
}

// separator returns the shortest key k with before < k ≤ after: their common prefix, and one more byte of after. It is a prefix of a row,
// so it never falls between bytes that a row cannot have, such as those that are not hex digits.
func separator(before, after []byte) []byte { return bytes.Clone(after[:common(before, after)+1]) }

// common returns the length of the common prefix of two different rows, of which the first is the smaller.
func common(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return len(a)
}

func abs(n int) int { return max(n, -n) }

// within returns the rows in [start, end); an empty end is the end of the table.
func within(rows [][]byte, start, end []byte) [][]byte {
	from := sort.Search(len(rows), func(i int) bool { return bytes.Compare(rows[i], start) >= 0 })
	to := len(rows)
	if len(end) > 0 {
		to = sort.Search(len(rows), func(i int) bool { return bytes.Compare(rows[i], end) >= 0 })
	}
	return rows[from:to]
}

// spreadOf counts sorted rows by region.
func spreadOf(rows, splits [][]byte) []float64 {
	counts := make([]float64, len(splits)+1)
	for i := range counts {
		var start, end []byte
		if i > 0 {
			start = splits[i-1]
		}
		if i < len(splits) {
			end = splits[i]
		}
		counts[i] = float64(len(within(rows, start, end)))
	}
	return counts
}
