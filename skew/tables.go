package skew

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Tables holds one counter per table. It is safe for concurrent use.
type Tables struct {
	now func() time.Time

	mu      sync.RWMutex
	tables  map[string]*Counter
	servers map[string]*hotState // by name
	live    []string             // the cluster's servers; nil: unknown
}

// NewTables returns an empty set.
func NewTables(now func() time.Time) *Tables {
	return &Tables{now: now, tables: make(map[string]*Counter), servers: make(map[string]*hotState)}
}

// Counter returns a table's counter. The first call for a table creates it with this shape of keys.
func (t *Tables) Counter(table string, shape Shape) *Counter {
	t.mu.RLock()
	c := t.tables[table]
	t.mu.RUnlock()
	if c != nil {
		return c
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if c = t.tables[table]; c == nil {
		c = NewCounter(shape, t.now)
		t.tables[table] = c
	}
	return c
}

// Known returns a table's counter, or nil if there is none.
func (t *Tables) Known(table string) *Counter {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.tables[table]
}

// Names returns the tables, sorted.
func (t *Tables) Names() []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Sorted(maps.Keys(t.tables))
}

// Recent measures every table as Counter.Recent does.
func (t *Tables) Recent() map[string]Report {
	out := make(map[string]Report)
	for name, c := range t.all() {
		out[name] = c.Recent()
	}
	return out
}

func (t *Tables) all() map[string]*Counter {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return maps.Clone(t.tables)
}

// SetServers sets the live servers of the cluster, so that those without regions count.
func (t *Tables) SetServers(names []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live = names
}

// Keep closes the columns of the history if their minute is over. A process that calls Observe does not need it.
func (t *Tables) Keep() {
	for _, c := range t.all() {
		c.mu.Lock()
		c.advance()
		c.past.keep(c.at, c.now(), c.regions.sorted)
		c.mu.Unlock()
	}
}

// Observe must be called once per second. It updates which regions and servers are hot, and keeps the history. It reports whether any is
// hot.
func (t *Tables) Observe() (hot bool) {
	sums := make(map[string]*place)
	for _, c := range t.all() {
		hot = c.observe(sums) || hot
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range t.live {
		if sums[name] == nil {
			sums[name] = &place{}
		}
	}
	places := make([]place, 0, len(sums))
	for name, p := range sums {
		if t.servers[name] == nil {
			t.servers[name] = &hotState{}
		}
		p.state = t.servers[name]
		places = append(places, *p)
	}
	maps.DeleteFunc(t.servers, func(name string, _ *hotState) bool { return sums[name] == nil })
	return observe(places, t.now()) || hot
}
