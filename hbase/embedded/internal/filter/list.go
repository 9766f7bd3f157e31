package filter

import (
	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"
)

func newList(raw []byte, depth int) (store.Filter, error) {
	m := new(hbasepb.FilterList)
	if err := unmarshal(raw, m); err != nil {
		return nil, err
	}
	l := make(list, 0, len(m.Filters))
	for _, f := range m.Filters {
		inner, err := decode(f, depth+1)
		if err != nil {
			return nil, err
		}
		l = append(l, inner)
	}
	switch {
	case len(l) == 0:
		return &store.FilterBase{}, nil
	case m.GetOperator() == hbasepb.FilterList_MUST_PASS_ONE:
		return &anyOf{list: l, last: make([]lastVerdict, len(l))}, nil
	}
	return &allOf{l}, nil
}

// list is the common part of both kinds of list.
type list []store.Filter

func (l list) Reset() {
	for _, f := range l {
		f.Reset()
	}
}

func (l list) DropCells(cells []store.Cell) []store.Cell {
	for _, f := range l {
		cells = f.DropCells(cells)
	}
	return cells
}

func (l list) WholeRow() bool {
	for _, f := range l {
		if f.WholeRow() {
			return true
		}
	}
	return false
}

// allOf includes what all its filters include. Once a filter excludes a cell, the remaining ones are not called for it, so that they do not
// count it; for a row all are called.
type allOf struct{ list }

func (l *allOf) Done() bool {
	for _, f := range l.list {
		if f.Done() {
			return true
		}
	}
	return false
}

func (l *allOf) SkipRow(row []byte) bool {
	skip := false
	for _, f := range l.list {
		if f.Done() {
			return true
		}
		if f.SkipRow(row) {
			skip = true
		}
	}
	return skip
}

func (l *allOf) Cell(c *store.Cell) store.Verdict {
	v := store.Include
	for _, f := range l.list {
		if f.Done() {
			return store.NextRow
		}
		if v = farther(v, f.Cell(c)); !v.Includes() {
			return v
		}
	}
	return v
}

// farther merges two verdicts: it excludes if one excludes, and advances as far as the farther one.
func farther(a, b store.Verdict) store.Verdict {
	reach := max(reachOf(a), reachOf(b))
	if a.Includes() && b.Includes() {
		return []store.Verdict{store.Include, store.IncludeAndNextColumn, store.IncludeAndNextRow}[reach]
	}
	return []store.Verdict{store.Skip, store.NextColumn, store.NextRow}[reach]
}

func reachOf(v store.Verdict) int {
	switch v {
	case store.IncludeAndNextColumn, store.NextColumn:
		return 1
	case store.IncludeAndNextRow, store.NextRow:
		return 2
	}
	return 0
}

func (l *allOf) Transform(c *store.Cell) {
	for _, f := range l.list {
		f.Transform(c)
	}
}

func (l *allOf) DropRow() bool {
	for _, f := range l.list {
		if f.DropRow() {
			return true
		}
	}
	return false
}

// anyOf includes what any of its filters includes. A filter that wanted to advance to the next column or row is not called again before
// that is reached, even if another filter made the scan advance less.
type anyOf struct {
	list
	last []lastVerdict
}

type lastVerdict struct {
	v                 store.Verdict
	family, qualifier []byte
	included          bool
}

func (l *anyOf) Reset() {
	l.list.Reset()
	clear(l.last)
}

func (l *anyOf) Done() bool {
	for _, f := range l.list {
		if !f.Done() {
			return false
		}
	}
	return true
}

func (l *anyOf) SkipRow(row []byte) bool {
	skip := true
	for _, f := range l.list {
		if !f.Done() && !f.SkipRow(row) {
			skip = false
		}
	}
	return skip
}

func (l *anyOf) Cell(c *store.Cell) store.Verdict {
	included, reach := false, 2
	asked := false
	for i, f := range l.list {
		p := &l.last[i]
		p.included = false
		if f.Done() {
			continue
		}
		v := p.again(c)
		if v == store.Include {
			v = f.Cell(c)
			p.v, p.included = v, v.Includes()
			p.family, p.qualifier = append(p.family[:0], c.Family...), append(p.qualifier[:0], c.Qualifier...)
		}
		asked = true
		included = included || v.Includes()
		reach = min(reach, reachOf(v))
	}
	switch {
	case !asked:
		return store.Skip
	case included:
		return []store.Verdict{store.Include, store.IncludeAndNextColumn, store.IncludeAndNextRow}[reach]
	}
	return []store.Verdict{store.Skip, store.NextColumn, store.NextRow}[reach]
}

// again returns the verdict from an earlier cell of the row that still applies, or Include if none does.
func (p *lastVerdict) again(c *store.Cell) store.Verdict {
	sameFamily := string(p.family) == string(c.Family)
	switch {
	case reachOf(p.v) == 2 && sameFamily:
		return store.NextRow
	case reachOf(p.v) == 1 && sameFamily && string(p.qualifier) == string(c.Qualifier):
		return store.NextColumn
	}
	return store.Include
}

func (l *anyOf) Transform(c *store.Cell) {
	for i, f := range l.list {
		if l.last[i].included {
			f.Transform(c)
		}
	}
}

func (l *anyOf) DropRow() bool {
	for _, f := range l.list {
		if !f.DropRow() {
			return false
		}
	}
	return true
}
