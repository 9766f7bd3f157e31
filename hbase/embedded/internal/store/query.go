package store

import (
	"bytes"
	"fmt"
	"math"
	"slices"
)

// Range is a range of rows in ascending order, from Start to Stop; a nil Stop means the end of the space.
type Range struct {
	Start, Stop    []byte
	StartExclusive bool
	StopInclusive  bool
}

// RowRange returns the range of one row.
func RowRange(row []byte) Range { return Range{Start: row, Stop: row, StopInclusive: true} }

func (r Range) lower(s Space) []byte {
	if len(r.Start) == 0 && !r.StartExclusive {
		return appendHead(nil, s)
	}
	k := appendRowKey(nil, s, r.Start)
	if r.StartExclusive {
		k = append(k, afterAll)
	}
	return k
}

func (r Range) upper(s Space) []byte {
	if len(r.Stop) == 0 && !r.StopInclusive {
		return appendHead(nil, s+1)
	}
	k := appendRowKey(nil, s, r.Stop)
	if r.StopInclusive {
		k = append(k, afterAll)
	}
	return k
}

// TimeRange is the range of timestamps [From, To).
type TimeRange struct{ From, To int64 }

// AllTime is the range of all timestamps.
var AllTime = TimeRange{From: math.MinInt64, To: math.MaxInt64}

// holds reports whether ts is in the range; AllTime includes MaxInt64.
func (t TimeRange) holds(ts int64) bool { return ts >= t.From && (ts < t.To || t.To == math.MaxInt64) }

// FamilyColumns selects a family: the given qualifiers, or all if there are none.
type FamilyColumns struct {
	Family     []byte
	Qualifiers [][]byte
}

// Query selects cells of rows.
type Query struct {
	Rows        Range
	Reverse     bool
	Columns     []FamilyColumns // nil means all families
	MaxVersions int             // at least 1
	Times       TimeRange
	FamilyTimes map[string]TimeRange // instead of Times, by family
	Raw         bool                 // include delete markers and the cells they hide
	StoreLimit  int                  // cells of one family of one row; negative means all
	StoreOffset int                  // cells of one family of one row to skip
	Filter      Filter               // may be nil
	MaxSkipped  int                  // rows without cells after which Next returns although there may be more; 0: no limit
	Now         int64                // ms since 1970; decides what has expired
}

// ErrNoFamily is returned for a family that the schema does not have.
type ErrNoFamily struct{ Family []byte }

func (e *ErrNoFamily) Error() string { return fmt.Sprintf("no such column family %q", e.Family) }

// plan is the part of a query that concerns one family.
type plan struct {
	family      *Family
	columns     [][]byte // as in keys, ascending; nil: all
	times       TimeRange
	checked     int // versions to check
	given       int // versions to return if a filter decides too
	oldest      int64
	now         int64
	raw         bool
	trackBehind bool // delete markers count only within the time range
}

func (q *Query) plans(schema Schema) ([]plan, error) {
	var plans []plan
	wanted := q.Columns
	if wanted == nil {
		for _, f := range schema {
			wanted = append(wanted, FamilyColumns{Family: f.Name})
		}
	}
	for _, w := range wanted {
		f := schema.Find(w.Family)
		if f == nil {
			return nil, &ErrNoFamily{Family: w.Family}
		}
		plans = append(plans, q.plan(f, w.Qualifiers))
	}
	slices.SortFunc(plans, func(a, b plan) int { return bytes.Compare(a.family.Name, b.family.Name) })
	return plans, nil
}

func (q *Query) plan(f *Family, qualifiers [][]byte) plan {
	p := plan{family: f, times: q.Times, given: min(q.MaxVersions, f.MaxVersions), oldest: f.oldest(q.Now), now: q.Now, raw: q.Raw,
		trackBehind: f.KeepDeleted}
	if t, ok := q.FamilyTimes[string(f.Name)]; ok {
		p.times = t
	}
	p.checked = p.given
	switch {
	case q.Raw:
		p.given, p.oldest = q.MaxVersions, math.MinInt64
		p.checked = p.given
		if q.Filter != nil {
			p.checked = math.MaxInt
		}
	case q.Filter != nil:
		p.checked = f.MaxVersions
	}
	for _, c := range qualifiers {
		p.columns = append(p.columns, appendEscaped(nil, c))
	}
	slices.SortFunc(p.columns, bytes.Compare)
	p.columns = slices.CompactFunc(p.columns, bytes.Equal)
	return p
}
