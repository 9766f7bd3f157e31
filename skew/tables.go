package skew

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Tables holds a counter for each table. It is safe for concurrent use.
type Tables struct {
	now func() time.Time

	mu     sync.RWMutex
	tables map[string]*Counter
}

// NewTables makes an empty set.
func NewTables(now func() time.Time) *Tables {
	return &Tables{now: now, tables: make(map[string]*Counter)}
}

// Counter gives a table's counter; the first call for a table makes it, with this many salt buckets.
func (t *Tables) Counter(table string, buckets int) *Counter {
	t.mu.RLock()
	c := t.tables[table]
	t.mu.RUnlock()
	if c != nil {
		return c
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if c = t.tables[table]; c == nil {
		c = NewCounter(buckets, t.now)
		t.tables[table] = c
	}
	return c
}

// Reports measures every table.
func (t *Tables) Reports() map[string]Report {
	t.mu.RLock()
	tables := maps.Clone(t.tables)
	t.mu.RUnlock()
	out := make(map[string]Report, len(tables))
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		out[name] = tables[name].Report()
	}
	return out
}
