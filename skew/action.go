package skew

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// act adds the actions that help against a cause, with the effect that each would have had on the sampled rows.
func (e *evidence) act(h *HotSpot, i int, in inside) {
	if h.Cause == Unknown {
		h.Actions = []Action{{Kind: Split, Table: e.table, Region: e.regions[i].Region.Name,
			Text: "split the region at a row that the servers choose"}}
		return
	}
	if split, ok := e.split(i, in); ok && h.Cause != FewBuckets {
		h.Actions = append(h.Actions, split)
	}
	switch h.Cause {
	case Monotonic, FewBuckets:
		h.Actions = append(h.Actions, e.salt(h.Cause))
	case HeavyKey:
		h.Actions = append(h.Actions, e.ownTable(i, in.head, h.Heavy), e.salt(h.Cause))
	case HeavyRow:
		h.Actions = append(h.Actions, e.ownTable(i, in.row, h.Heavy))
	}
}

// leastRelief is the largest part of a region's rows that the larger half of a split may keep. Above it, a split is not worth its cost.
const leastRelief = 0.75

// split finds the row at which a split divides the region's rows most evenly. There is none if new rows all lie on one side, because that
// side would take all of them.
func (e *evidence) split(i int, in inside) (Action, bool) {
	if in.newer < 0.15 || in.newer > 0.85 {
		return Action{}, false
	}
	at, before := bestSplit(in.rows, in.weight)
	if at == nil || max(before, 1-before) > leastRelief {
		return Action{}, false
	}
	after := slices.Insert(slices.Clone(e.now), i+1, e.now[i]*(1-before))
	after[i] = e.now[i] * before
	a := Action{Kind: Split, Table: e.table, Region: e.regions[i].Region.Name, At: at, Effect: effect(e.now, after)}
	a.Text = fmt.Sprintf("split the region at %s", at)
	if text := e.shape.text(at); text != "" {
		a.AtText = text
		a.Text += " (" + text + ")"
	}
	return a, true
}

// bestSplit returns the shortest key that divides the rows most evenly, and the part of them before it.
func bestSplit(rows []drawn, weight float64) (at Key, before float64) {
	sorted := slices.SortedFunc(slices.Values(rows), func(a, b drawn) int { return bytes.Compare(a.row, b.row) })
	sum, best := 0.0, 1.0
	for i, d := range sorted[:max(0, len(sorted)-1)] {
		sum += d.weight
		next := sorted[i+1].row
		if part := sum / weight; !bytes.Equal(d.row, next) && max(part, 1-part) < best {
			best, before, at = max(part, 1-part), part, separator(d.row, next)
		}
	}
	return at, before
}

// separator returns the shortest key that is greater than a and at most b; a < b.
func separator(a, b []byte) Key {
	n := 0
	for n < len(a) && a[n] == b[n] {
		n++
	}
	return bytes.Clone(b[:n+1])
}

// saltBuckets is the least number of buckets that is advised.
const saltBuckets = 16

// salt simulates a table whose key begins with a salt over all of its fields, with one region per bucket: a hash distributes the sampled
// rows.
func (e *evidence) salt(why Cause) Action {
	n := max(saltBuckets, e.shape.Buckets)
	for n < len(e.now) && n < 256 {
		n *= 2
	}
	counts := make([]float64, n)
	for _, d := range e.rows {
		h := fnv.New64a()
		_, _ = h.Write(d.row) // never fails
		counts[mixed(h.Sum64())%uint64(n)] += d.weight
	}
	// Subtract what chance contributes in the sample, and add what it contributes in the rows themselves.
	after := Measure(counts).MaxMean - Chance(n, float64(len(e.rows))).MaxMean
	after = max(0, after) + Chance(n, e.total).MaxMean
	b := Measure(e.now).MaxMean
	fields := "all fields of the key"
	if len(e.shape.Fields) > 0 {
		fields = strings.Join(e.shape.Fields, ", ")
	}
	a := Action{Kind: Salt, Table: e.table, Buckets: n, Fields: e.shape.Fields}
	a.Text = fmt.Sprintf("begin the key of a new table with salt(%d, %s) and split it at the buckets", n, fields)
	if why == HeavyKey {
		a.Text += "; reading one such value then asks each bucket"
	}
	a.Effect = &Effect{Before: b, After: after, LargestBefore: b / float64(len(e.now)), LargestAfter: after / float64(n)}
	return a
}

// mixed spreads a hash over its low bits (the last step of splitmix64).
func mixed(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// ownTable simulates the table without the rows of one value.
func (e *evidence) ownTable(i int, g group, heavy *Heavy) Action {
	after := slices.Clone(e.now)
	after[i] *= 1 - g.share
	a := Action{Kind: OwnTable, Table: e.table, Key: g.key, Effect: effect(e.now, after)}
	a.Text = fmt.Sprintf("write the rows of %s into a table of their own, which no pipeline can do yet unless they have a topic of their own",
		heavy.Name())
	return a
}
