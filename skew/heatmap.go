package skew

import (
	"bytes"
	"slices"
	"time"
)

// HeatMap is the rows per second of key ranges over time.
type HeatMap struct {
	Starts []Key       `json:"starts"` // of the key ranges, in order
	Times  []time.Time `json:"times"`  // ends of the columns
	Rows   [][]float64 `json:"rows"`   // per second: by range, then by time
	Bytes  [][]float64 `json:"bytes"`
	Most   float64     `json:"most"` // largest of Rows: the value of the brightest colour
}

// HeatMap draws the history of the last span of time with at most the given numbers of ranges and columns; neighbours are added up. The
// ranges are those of the newest column. What an older column has for a wider range is divided evenly.
func (c *Counter) HeatMap(span time.Duration, ranges, columns int) HeatMap {
	c.mu.Lock()
	c.advance()
	all := c.past.ordered()
	now := c.open()
	c.mu.Unlock()
	if now.To.After(now.From) {
		all = append(all, now)
	}
	all = slices.DeleteFunc(all, func(col Column) bool { return col.To.Before(now.To.Add(-span)) })
	if len(all) == 0 || len(now.Starts) == 0 || ranges < 1 || columns < 1 {
		return HeatMap{}
	}
	m := HeatMap{Starts: thinned(now.Starts, ranges)}
	for _, group := range grouped(all, columns) {
		m.addColumn(group)
	}
	return m
}

// thinned reduces the starts to at most most, evenly distributed.
func thinned(starts []Key, most int) []Key {
	if len(starts) <= most {
		return starts
	}
	out := make([]Key, most)
	for i := range out {
		out[i] = starts[i*len(starts)/most]
	}
	return out
}

// grouped joins neighbouring columns until there are few enough.
func grouped(all []Column, most int) (groups [][]Column) {
	n := (len(all) + most - 1) / most
	for len(all) > 0 {
		first := max(1, len(all)%n) // keeps the newest group whole
		if len(all)%n == 0 {
			first = n
		}
		groups = append(groups, all[:first])
		all = all[first:]
	}
	return groups
}

func (m *HeatMap) addColumn(group []Column) {
	seconds := 0.0
	rows, bytes := make([]float64, len(m.Starts)), make([]float64, len(m.Starts))
	for _, col := range group {
		seconds += col.To.Sub(col.From).Seconds()
		for i, start := range col.Starts {
			from, to := m.rangeOf(start), len(m.Starts)
			if i+1 < len(col.Starts) {
				to = max(from+1, m.firstFrom(col.Starts[i+1]))
			}
			part := 1 / float64(to-from)
			for r := from; r < to; r++ {
				rows[r] += float64(col.Rows[i]) * part
				bytes[r] += float64(col.Bytes[i]) * part
			}
		}
	}
	m.Times = append(m.Times, group[len(group)-1].To)
	if len(m.Rows) == 0 {
		m.Rows, m.Bytes = make([][]float64, len(m.Starts)), make([][]float64, len(m.Starts))
	}
	for r := range m.Starts {
		perSecond := rows[r] / max(1, seconds)
		m.Rows[r] = append(m.Rows[r], perSecond)
		m.Bytes[r] = append(m.Bytes[r], bytes[r]/max(1, seconds))
		m.Most = max(m.Most, perSecond)
	}
}

// Within returns the ranges [from, to) that hold rows from start up to end, or up to the last if end is empty.
func (m *HeatMap) Within(start, end Key) (from, to int) {
	from, to = m.rangeOf(start), len(m.Starts)
	if len(end) > 0 {
		to = m.firstFrom(end)
	}
	return from, max(from+1, to)
}

// rangeOf returns the range that holds a row.
func (m *HeatMap) rangeOf(row Key) int {
	i := m.firstFrom(row)
	if i == len(m.Starts) || !bytes.Equal(m.Starts[i], row) {
		i--
	}
	return max(0, i)
}

// firstFrom returns the first range that begins at or after a row.
func (m *HeatMap) firstFrom(row Key) int {
	i, _ := slices.BinarySearchFunc(m.Starts, row, func(a, b Key) int { return bytes.Compare(a, b) })
	return i
}
