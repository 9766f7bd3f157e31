package plan

import (
	"bytes"
	"errors"
	"math"
	"slices"

	"brine/rowkey"
	"brine/skew"
)

// even is the largest max/mean that does not justify quantiles: they fit the sample, while boundaries also fit future rows.
const even = 1.1

// enough is the number of rows per region from which their spread is significant.
const enough = 20

// tooFew reports whether chance, not the key, determines the distribution of the sample's rows over n regions: there are few rows, or few
// values of what the key hashes, whose rows are adjacent.
func (f *Forecast) tooFew(n int) bool {
	return f.Rows < enough*n || f.values > 0 && f.values < enough*n
}

// propose finds a split into n regions: on the key's boundaries if the rows are spread evenly between them, otherwise at quantiles. It
// never splits within a time, because all future rows would be on one side.
func (f *Forecast) propose(t *Table, rows [][]byte, n int) error {
	if n < 2 || len(rows) == 0 {
		return nil
	}
	// rows holds at most maxKept rows; the counts shown are of rows of the sample.
	scale := float64(f.Rows) / float64(len(rows))
	split := func(points [][]byte) *Split {
		counts := spreadOf(rows, points)
		for i := range counts {
			counts[i] = math.Round(counts[i] * scale)
		}
		s := newSplit(points, counts)
		return &s
	}
	points, err := t.Key.Splits(n)
	var cannot *rowkey.UsageError
	if err != nil && !errors.As(err, &cannot) {
		return err
	}
	if err == nil {
		f.Proposed, f.Kind = split(points), "boundaries"
		f.values = leadingValues(t.Key, rows)
		if f.tooFew(n) || f.Proposed.Indices.MaxMean <= even+noise(float64(f.Rows), n) {
			return nil
		}
	}
	if f.tooFew(n) {
		return nil
	}
	points, timed := quantiles(t.Key, rows, n)
	if uneven := split(points); len(points) > 0 && (f.Proposed == nil || uneven.largest() < f.Proposed.largest()) {
		f.Proposed, f.Kind = uneven, "quantiles"
	}
	if timed && len(points) < n-1 {
		f.timed = &timedSplit{asked: n}
		if cannot != nil && cannot.Field == "" { // it spreads, but not enough
			f.timed.fix = cannot.Fix
		}
	}
	return nil
}

// timedSplit is a split that is not proposed because it would be within times.
type timedSplit struct {
	asked int
	fix   string // of the key; empty if it spreads well enough
}

// largest returns the share of the largest region.
func (s *Split) largest() float64 {
	return slices.MaxFunc(s.Regions, func(a, b Region) int { return a.Rows - b.Rows }).Share
}

// noise returns how much chance alone adds to max/mean if rows are distributed over n regions: three standard deviations of one of them.
func noise(rows float64, n int) float64 { return 3 * math.Sqrt(float64(n)/max(1, rows)) }

// hot is the multiple of the mean from which a region is worth splitting.
const hot = 1.2

// findHot finds the regions with many more rows than the mean, and splits them so that each part has about the mean. The result is measured
// once, with all of them split.
func (f *Forecast) findHot(t *Table, rows [][]byte) {
	regions := f.Split.Regions
	if len(regions) < 2 || f.tooFew(len(regions)) {
		return
	}
	all := slices.Clone(t.Splits)
	for i, r := range regions {
		times := r.Share * float64(len(regions))
		if times <= hot+noise(float64(f.Rows), len(regions)) {
			continue
		}
		var end []byte
		if i < len(t.Splits) {
			end = t.Splits[i]
		}
		h := HotRegion{Start: r.Start, Share: r.Share, Times: times}
		points, _ := quantiles(t.Key, within(rows, r.Start, end), max(2, int(math.Round(times))))
		for _, p := range points {
			h.SplitAt = append(h.SplitAt, p)
		}
		all = append(all, points...)
		f.Hot = append(f.Hot, h)
	}
	slices.SortFunc(all, bytes.Compare)
	counts := spreadOf(rows, all)
	after, largest := skew.Measure(counts), slices.Max(counts)/max(1, float64(len(rows)))
	for i := range f.Hot {
		f.Hot[i].After, f.Hot[i].Largest = after, largest
	}
}
