package skew

import (
	"bytes"
	"slices"
	"time"
)

// Metric is what a map shows.
type Metric string

// The metrics.
const (
	MetricRows     Metric = "rows"     // written by brine, per second
	MetricBytes    Metric = "bytes"    // the same
	MetricRequests Metric = "requests" // reads and writes of all clients, per second, as the cluster reports them
	MetricLatency  Metric = "latency"  // mean duration of brine's write calls, in ms

	MetricReadLatency Metric = "read_latency" // the same of its reads
)

// Metrics lists all metrics.
var Metrics = []Metric{MetricRows, MetricBytes, MetricRequests, MetricLatency, MetricReadLatency}

// HeatMap is what happens to key ranges over time. It holds the metrics that were asked for.
type HeatMap struct {
	Starts   []Key       `json:"starts"` // of the key ranges, in order
	Times    []time.Time `json:"times"`  // ends of the columns
	Rows     [][]float64 `json:"rows"`   // by range, then by time
	Bytes    [][]float64 `json:"bytes"`
	Requests [][]float64 `json:"requests,omitempty"`
	Latency  [][]float64 `json:"latency,omitempty"`
	Unknown  []int       `json:"unknown,omitempty"` // columns of which the requests are unknown
	Most     float64     `json:"most"`              // largest value: that of the brightest colour; of Rows, if there are several metrics

	ReadLatency [][]float64 `json:"read_latency,omitempty"`
}

// Of returns the values of a metric.
func (m *HeatMap) Of(metric Metric) *[][]float64 {
	switch metric {
	case MetricBytes:
		return &m.Bytes
	case MetricRequests:
		return &m.Requests
	case MetricLatency:
		return &m.Latency
	case MetricReadLatency:
		return &m.ReadLatency
	default:
		return &m.Rows
	}
}

// HeatMap draws the rows and bytes of the last span of time with at most the given numbers of ranges and columns; neighbours are added
// up. The ranges are those of the newest column. What an older column has for a wider range is divided evenly.
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
