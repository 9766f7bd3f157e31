package plan

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"

	"brine/rowkey"
	"brine/skew"
)

// Forecast is what is foreseen of a table.
type Forecast struct {
	Events     int          `json:"events"`         // of the sample that have a row
	Rows       int          `json:"rows"`           // distinct ones
	Exact      bool         `json:"exact"`          // whether Rows and the regions' rows are counted, not estimated
	Collisions int          `json:"collided_rows"`  // rows that different events share, in a table whose rows are events
	Split      Split        `json:"split"`          // as it is, or as it is configured
	Proposed   *Split       `json:"proposed"`       // for the same number of regions or the one asked for; nil for one region
	Kind       string       `json:"proposed_kind"`  // boundaries: of salt, hash and hex digits; quantiles: of the sample
	Row        RowSize      `json:"row_size"`       // what a row takes
	Packing    []Packing    `json:"packing"`        // what compression makes of it, by family
	Advice     []Advice     `json:"advice"`         //
	Hot        []HotRegion  `json:"hot,omitempty"`  // regions that take much more than the mean
	Lead       *LeadingPart `json:"lead,omitempty"` // the value of the key's first field that most rows have, when it is much

	collided []uint64 // hashes of the first collided rows of the sample
}

// Split is a way to split the table and what comes of it.
type Split struct {
	Regions []Region     `json:"regions"`
	Indices skew.Indices `json:"indices"` // of rows over regions
}

// Region is a region's part of the sample.
type Region struct {
	Start  skew.Key `json:"start"`
	Rows   int      `json:"rows"`
	Writes int64    `json:"writes,omitempty"` // events; of a proposed split they are not counted
	Share  float64  `json:"share"`            // of the rows
}

// HotRegion is a region that takes much more than the mean, and where to split it.
type HotRegion struct {
	Start   skew.Key     `json:"start"`
	Share   float64      `json:"share"`
	Times   float64      `json:"times_mean"`
	SplitAt []skew.Key   `json:"split_at,omitempty"`
	After   skew.Indices `json:"after"`         // of all regions, once all hot ones are split
	Largest float64      `json:"largest_after"` // share of the largest region then
}

// LeadingPart is a value of the first field that the key holds.
type LeadingPart struct {
	Field string  `json:"field"`
	Value string  `json:"value"`
	Share float64 `json:"share"`
}

// Advice is something that a person should know, and the mend.
type Advice struct {
	Rule string `json:"rule"`
	Msg  string `json:"message"`
	Mend string `json:"mend,omitempty"`
}

// maxCollided is how many collided rows are shown with their events.
const maxCollided = 3

// Forecast says what is foreseen. The proposed split has so many regions; 0 means as many as there are.
func (t *Tally) Forecast(regions int) (*Forecast, error) {
	f := &Forecast{Events: t.events, Exact: t.seen.level == 0}
	counts := make([]float64, len(t.writes))
	var collided []collidedRow
	for hash, m := range t.seen.rows {
		counts[m.region]++
		if m.differs && t.table.EventRows {
			collided = append(collided, collidedRow{hash, m.at})
		}
	}
	for i := range counts {
		counts[i] *= float64(t.seen.scale())
	}
	f.Rows, f.Collisions = len(t.seen.rows)*t.seen.scale(), len(collided)*t.seen.scale()
	slices.SortFunc(collided, func(a, b collidedRow) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.hash, b.hash)) })
	for _, c := range collided[:min(maxCollided, len(collided))] {
		f.collided = append(f.collided, c.hash)
	}
	f.Split = newSplit(t.table.Splits, counts)
	for i := range f.Split.Regions {
		f.Split.Regions[i].Writes = t.writes[i]
	}
	rows := t.kept.sorted()
	if err := f.propose(&t.table, rows, cmp.Or(regions, len(t.writes))); err != nil {
		return nil, err
	}
	f.findHot(t.table.Splits, rows)
	f.findLead(t.table.Key, rows)
	f.Row, f.Packing = t.cells.size(), t.cells.pack()
	f.advise(&t.table)
	return f, nil
}

type collidedRow struct {
	hash uint64
	at   int64
}

func newSplit(splits [][]byte, counts []float64) Split {
	s := Split{Indices: skew.Measure(counts)}
	total := 0.0
	for _, n := range counts {
		total += n
	}
	for i, n := range counts {
		r := Region{Rows: int(n), Share: n / max(1, total)}
		if i > 0 {
			r.Start = splits[i-1]
		}
		s.Regions = append(s.Regions, r)
	}
	return s
}

// even is the largest max/mean that is not worth quantiles: those fit the sample, boundaries what is to come as well.
const even = 1.1

// propose finds a split into n regions: on the key's boundaries if the rows lie evenly between them, at quantiles otherwise.
func (f *Forecast) propose(t *Table, rows [][]byte, n int) error {
	if n < 2 || len(rows) == 0 {
		return nil
	}
	// Counts of rows kept are of maxKept rows at most; shown are rows of the sample.
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
		if f.Proposed.Indices.MaxMean <= even+noise(float64(f.Rows), n) {
			return nil
		}
	}
	if uneven := split(quantiles(rows, n)); f.Proposed == nil || uneven.Indices.MaxMean < f.Proposed.Indices.MaxMean {
		f.Proposed, f.Kind = uneven, "quantiles"
	}
	return nil
}

// noise is what chance alone adds to max/mean when rows are dealt out to n regions: three standard deviations of one of them.
func noise(rows float64, n int) float64 { return 3 * math.Sqrt(float64(n)/max(1, rows)) }

// hot is the multiple of the mean from which on a region is worth splitting.
const hot = 1.2

// findHot finds the regions that take much more than the mean, and splits them so that each part takes about the mean. What
// comes of it is measured once, with all of them split.
func (f *Forecast) findHot(splits, rows [][]byte) {
	regions := f.Split.Regions
	all := slices.Clone(splits)
	for i, r := range regions {
		times := r.Share * float64(len(regions))
		if len(regions) < 2 || times <= hot+noise(float64(f.Rows), len(regions)) {
			continue
		}
		var end []byte
		if i < len(splits) {
			end = splits[i]
		}
		h := HotRegion{Start: r.Start, Share: r.Share, Times: times}
		points := quantiles(within(rows, r.Start, end), max(2, int(math.Round(times))))
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
