package plan

import (
	"cmp"
	"slices"

	"brine/skew"
)

// Forecast is what is predicted for a table.
type Forecast struct {
	Events     int          `json:"events"`        // of the sample that have a row
	Rows       int          `json:"rows"`          // distinct rows
	Exact      bool         `json:"exact"`         // Rows and the regions' rows are counted, not estimated
	Collisions int          `json:"collided_rows"` // rows that different events share, in a table whose rows are events
	Ties       int          `json:"ties"`          // rows that tie, among the measured events of a table whose rows are entities
	FirstTie   *Tie         `json:"first_tie,omitempty"`
	Split      Split        `json:"split"`          // the actual or configured one
	Proposed   *Split       `json:"proposed"`       // for the same number of regions or the requested one; nil for one region
	Kind       string       `json:"proposed_kind"`  // boundaries: of salt, hash and hex digits; quantiles: of the sample
	Row        RowSize      `json:"row_size"`       // the size of a row
	Packing    []Packing    `json:"packing"`        // its compression, by family
	Advice     []Advice     `json:"advice"`         // what a person should know
	Hot        []HotRegion  `json:"hot,omitempty"`  // regions with many more rows than the mean
	Lead       *LeadingPart `json:"lead,omitempty"` // the most frequent value of the key's first field, if it is frequent

	collided []uint64    // hashes of the first collided rows of the sample
	asked    int         // the number of regions of the proposed split
	values   int         // the number of values of the first field that the key holds, if a hash or salt spreads them; 0 if none does
	timed    *timedSplit // set if the proposed split lacks regions because they would be cut within times
}

// Split is a way to split the table, with its result.
type Split struct {
	Regions []Region     `json:"regions"`
	Indices skew.Indices `json:"indices"` // of rows over regions
}

// Region is a region's part of the sample.
type Region struct {
	Start  skew.Key `json:"start"`
	Rows   int      `json:"rows"`
	Writes int64    `json:"writes,omitempty"` // of rows, including repeated ones; not counted for a proposed split
	Share  float64  `json:"share"`            // of the rows
}

// HotRegion is a region with many more rows than the mean, and where to split it.
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

// Advice is something that a person should know, with the fix.
type Advice struct {
	Rule string `json:"rule"`
	Msg  string `json:"message"`
	Fix  string `json:"fix,omitempty"`
}

// maxCollided is the number of collided rows that are shown with their events.
const maxCollided = 3

// Forecast returns the prediction. regions is the number of regions in the proposed split; 0 means the current number.
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
	f.asked = cmp.Or(regions, len(t.writes))
	if err := f.propose(&t.table, rows, f.asked); err != nil {
		return nil, err
	}
	f.findHot(&t.table, rows)
	f.findLead(t.table.Key, rows)
	if f.Lead != nil {
		f.Lead.Value = cmp.Or(t.table.Masked, f.Lead.Value)
	}
	f.Row, f.Packing = t.cells.size(), t.cells.pack()
	f.Ties, f.FirstTie = t.ties.tied()
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
