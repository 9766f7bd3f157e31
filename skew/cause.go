package skew

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"
)

// inside is the sampled rows of one region.
type inside struct {
	rows   []drawn
	weight float64
	share  float64 // of the table's rows
	row    group   // the most written row
	head   group   // the most frequent head
	newer  float64 // fraction of (older, newer) pairs in which the newer key sorts last: 0.5 if time does not matter
}

// group is a set of rows with something in common.
type group struct {
	key   []byte
	share float64 // of the region's rows
}

// since keeps only the rows that were written while region i was hot. The region may have been hot only at the end of the first span, so
// the rows of that span are dropped.
func (e *evidence) since(hot time.Time, i int) (evidence, inside) {
	from := hot.Add(hotSpan * time.Second).Sub(e.began)
	first, _ := slices.BinarySearchFunc(e.rows, from, func(d drawn, from time.Duration) int { return cmp.Compare(d.at, from) })
	of, all := *e, e.rows[first:]
	of.rows = all[max(0, len(all)-enoughRows):]
	in := of.within(i)
	if len(in.rows) < fewRows && len(of.rows) < len(all) {
		of.rows = all
		in = of.within(i)
	}
	return of, in
}

func (e *evidence) within(i int) inside {
	var in inside
	total := 0.0
	for _, d := range e.rows {
		total += d.weight
		if e.regions[i].Region.holds(d.row) {
			in.rows = append(in.rows, d)
			in.weight += d.weight
		}
	}
	if len(in.rows) == 0 {
		return in
	}
	in.share = in.weight / total
	in.row = in.largest(func(row []byte) []byte { return row })
	in.head = in.largest(func(row []byte) []byte { return row[:e.shape.head(row)] })
	in.newer = newer(in.rows)
	return in
}

func (s *Shape) head(row []byte) int {
	if s.Head == nil {
		return 0
	}
	return min(s.Head(row), len(row))
}

// largest returns the key that most rows have in common. It ignores empty keys.
func (in *inside) largest(of func(row []byte) []byte) group {
	weights := make(map[string]float64)
	for _, d := range in.rows {
		if key := of(d.row); len(key) > 0 {
			weights[string(key)] += d.weight
		}
	}
	var g group
	for key, w := range weights {
		if share := w / in.weight; share > g.share || share == g.share && key < string(g.key) {
			g = group{[]byte(key), share}
		}
	}
	return g
}

// newer compares the newer half of the rows with the older half (Mann and Whitney's U over the number of pairs). Equal rows count half.
func newer(rows []drawn) float64 {
	half := len(rows) / 2
	type ranked struct {
		row   []byte
		newer bool
	}
	all := make([]ranked, len(rows))
	for i, d := range rows {
		all[i] = ranked{d.row, i >= half}
	}
	slices.SortFunc(all, func(a, b ranked) int { return bytes.Compare(a.row, b.row) })
	behind, older := 0.0, 0.0
	for i := 0; i < len(all); {
		same, olderHere := 0.0, 0.0
		j := i
		for ; j < len(all) && bytes.Equal(all[j].row, all[i].row); j++ {
			if all[j].newer {
				same++
			} else {
				olderHere++
			}
		}
		behind += same * (older + olderHere/2)
		older += olderHere
		i = j
	}
	return behind / max(1, float64(half)*float64(len(rows)-half))
}

const (
	oneSided = 0.95 // value of newer from which (or 1 − value, down to which) new rows lie on one side
	most     = 0.5  // share of a region's rows that causes its heat
)

func (in *inside) monotonic() bool { return in.newer >= oneSided || in.newer <= 1-oneSided }

// explain sets the cause, and why it is the cause.
func (e *evidence) explain(h *HotSpot, in inside) {
	used, buckets := e.usedBuckets()
	ofTable := in.head.share * in.share
	switch {
	case len(in.rows) < fewRows:
		h.Values = Values{"rows": float64(len(in.rows))}
		h.Cause, h.Why = Unknown, fmt.Sprintf("too few of its rows were seen to tell (%d)", len(in.rows))
	case in.row.share >= most:
		h.Cause, h.Heavy = HeavyRow, e.heavyOf(in.row, in)
		h.Values = Values{"percent": 100 * in.row.share}
		h.Why = fmt.Sprintf("%.0f %% of the region's writes go to one row, %s", 100*in.row.share, h.Heavy.Name())
	case buckets > 0 && used <= buckets/2:
		h.Cause = FewBuckets
		h.Values = Values{"used": float64(used), "buckets": float64(buckets)}
		h.Why = fmt.Sprintf("only %d of the %d salt buckets get rows: the salt's input has too few values", used, buckets)
	case in.monotonic() && (e.shape.Timed || in.head.share < most || ofTable > 0.9):
		h.Cause = Monotonic
		h.Values = Values{"after": 100 * in.newer}
		h.Why = fmt.Sprintf("%.0f %% of the newer rows sort after the older ones: the key grows with time, so all writes go to its end",
			100*in.newer)
		if in.newer < 0.5 {
			h.Values = Values{"before": 100 * (1 - in.newer)}
			h.Why = fmt.Sprintf("%.0f %% of the newer rows sort before the older ones: the key counts down with time, so all writes go to its "+
				"start", 100*(1-in.newer))
		}
	case in.head.share >= most && !e.shape.Timed:
		h.Cause, h.Heavy = HeavyKey, e.heavyOf(in.head, in)
		h.Values = Values{"percent": 100 * in.head.share, "of_table": 100 * ofTable}
		h.Why = fmt.Sprintf("%.0f %% of the region's rows, %.0f %% of the table's, begin with %s", 100*in.head.share, 100*ofTable, h.Heavy.Name())
	default:
		h.Cause = UnevenSplits
		h.Values = Values{"times": h.Times}
		h.Why = fmt.Sprintf("its range holds %.1f times the mean number of written keys", h.Times)
	}
}

// usedBuckets returns how many salt buckets get a considerable number of rows. It returns 0, 0 if there is no salt, or too few rows.
func (e *evidence) usedBuckets() (used, of int) {
	const rows, rowsForEach, mention = 64, 4, 0.1 // with so many rows, chance does not leave half of the buckets empty
	n := e.shape.Buckets
	if n < 2 || e.shape.Bucket == nil || len(e.rows) < rows+rowsForEach*n {
		return 0, 0
	}
	weights, total := make([]float64, n), 0.0
	for _, d := range e.rows {
		if b := e.shape.Bucket(d.row); b >= 0 && b < n {
			weights[b] += d.weight
			total += d.weight
		}
	}
	for _, w := range weights {
		if w > mention*total/float64(n) {
			used++
		}
	}
	return used, n
}

// heavyOf returns what the sketch knows of a group, or else what the sample knows.
func (e *evidence) heavyOf(g group, in inside) *Heavy {
	for _, k := range e.heads {
		if bytes.Equal(k.Key, g.key) {
			return &k
		}
	}
	return &Heavy{Key: g.key, Text: e.shape.text(g.key), Share: g.share * in.share}
}

// Name returns the key as people read it: its fields, or else its bytes.
func (h *Heavy) Name() string { return cmp.Or(h.Text, h.Key.String()) }
