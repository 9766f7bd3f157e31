package store

import "bytes"

// matcher decides about the cells of one family of one row, which it gets in key order. Delete markers first hide what follows them; then
// come time range, columns and versions, and then the filter. It follows HBase's ScanQueryMatcher and its trackers of deletes and columns,
// in their default (not "new version") behaviour: a marker hides older cells even if they were put after it.
type matcher struct {
	plan *plan

	familyDeleted  bool
	familyDeleteTS int64
	versionDeletes []int64 // timestamps of DeleteFamilyVersion

	column     []byte // the current column, as in the key
	columnMark Type   // Delete or DeleteColumn seen in the current column; 0: none
	columnTS   int64  // its timestamp
	versions   int    // versions checked in the current column
	given      int    // versions of these included after the filter
	wanted     int    // index of the next column in plan.columns
	inRow      int    // cells of this family and row so far, for store limit and offset
}

func (m *matcher) begin(p *plan) {
	m.plan, m.column = p, m.column[:0]
	m.familyDeleted, m.versionDeletes = false, m.versionDeletes[:0]
	m.columnMark, m.versions, m.given, m.wanted, m.inRow = 0, 0, 0, 0, 0
}

// enter resets the state of the column if the column changes.
func (m *matcher) enter(column []byte) {
	if !bytes.Equal(column, m.column) {
		m.column = append(m.column[:0], column...)
		m.columnMark, m.versions, m.given = 0, 0, 0
	}
}

// match decides about a cell without the filter.
func (m *matcher) match(column []byte, ts int64, t Type, ttl int64) Verdict {
	p := m.plan
	m.enter(column)
	if p.columns != nil && m.wanted >= len(p.columns) {
		return NextRow
	}
	if p.family.MinVersions <= 0 && ts < p.oldest {
		return NextColumn
	}
	if over(ts, ttl, p.now) {
		return Skip
	}
	if !p.raw {
		if t.IsDelete() {
			if p.trackBehind && p.times.holds(ts) || !p.trackBehind && ts >= p.times.From {
				m.mark(ts, t)
			}
			return Skip
		}
		if v := m.deleted(ts); v != Include {
			return v
		}
	}
	switch {
	case p.times.holds(ts):
	case ts < p.times.From:
		return NextColumn
	default:
		return Skip
	}
	if p.columns == nil {
		return m.anyColumn(ts, t)
	}
	return m.wantedColumn(ts)
}

// mark records a delete marker.
func (m *matcher) mark(ts int64, t Type) {
	if m.familyDeleted && ts <= m.familyDeleteTS {
		return
	}
	switch t {
	case DeleteFamily:
		m.familyDeleted, m.familyDeleteTS = true, ts
	case DeleteFamilyVersion:
		m.versionDeletes = append(m.versionDeletes, ts)
	default:
		if m.columnMark == 0 || t >= m.columnMark {
			m.columnMark, m.columnTS = t, ts
		}
	}
}

// deleted returns the verdict on a put of the current column under the markers seen so far.
func (m *matcher) deleted(ts int64) Verdict {
	if m.familyDeleted && ts <= m.familyDeleteTS {
		return NextColumn
	}
	for _, v := range m.versionDeletes {
		if v == ts {
			return Skip
		}
	}
	switch {
	case m.columnMark == DeleteColumn:
		return NextColumn
	case m.columnMark == Delete && m.columnTS == ts:
		return Skip
	}
	m.columnMark = 0 // the Delete was for a newer version
	return Include
}

// anyColumn counts versions if all columns are wanted. Delete markers of a raw scan do not count.
func (m *matcher) anyColumn(ts int64, t Type) Verdict {
	if !t.IsDelete() {
		m.versions++
	}
	if m.versions > m.plan.checked || m.versions > m.plan.family.MinVersions && ts < m.plan.oldest {
		return NextColumn
	}
	return Include
}

// wantedColumn counts versions if columns are named.
func (m *matcher) wantedColumn(ts int64) Verdict {
	p := m.plan
	for {
		c := bytes.Compare(m.column, p.columns[m.wanted])
		if c == 0 {
			break
		}
		if c < 0 {
			return NextColumn
		}
		if m.wanted++; m.wanted == len(p.columns) {
			return NextRow
		}
	}
	m.versions++
	if m.versions < p.checked && (m.versions < p.family.MinVersions || ts >= p.oldest) {
		return Include
	}
	if m.wanted++; m.wanted == len(p.columns) {
		return IncludeAndNextRow
	}
	return IncludeAndNextColumn
}

// filtered merges the filter's verdict with the matcher's, which included the cell, and counts versions again.
func (m *matcher) filtered(v, filter Verdict) Verdict {
	switch filter {
	case Skip:
		return v.excluded()
	case NextColumn:
		if v == IncludeAndNextRow {
			return NextRow
		}
		m.leaveColumn(v)
		return NextColumn
	case NextRow:
		return NextRow
	case IncludeAndNextRow:
		v = IncludeAndNextRow
	case IncludeAndNextColumn:
		if v == Include {
			m.leaveColumn(v)
			v = IncludeAndNextColumn
		}
	}
	if m.given++; m.given > m.plan.given {
		m.leaveColumn(v)
		return v.excluded().atLeast(NextColumn)
	}
	return v
}

// leaveColumn moves on to the next wanted column if the filter, not the number of versions, ended this one.
func (m *matcher) leaveColumn(v Verdict) {
	if v == Include && m.plan.columns != nil && m.wanted < len(m.plan.columns) {
		m.wanted++
	}
}

// excluded returns the verdict that advances equally far without including the cell.
func (v Verdict) excluded() Verdict {
	switch v {
	case IncludeAndNextColumn:
		return NextColumn
	case IncludeAndNextRow:
		return NextRow
	case Include:
		return Skip
	}
	return v
}

func (v Verdict) atLeast(w Verdict) Verdict { return max(v, w) }
