package locate

import (
	"bytes"
	"maps"
	"slices"
	"sync"
)

// regionCache holds the known locations of rows.
//
// Invariant: the regions of a table are ordered by start key, and no two overlap.
type regionCache struct {
	mu     sync.RWMutex
	tables map[string][]*Region
}

// find returns the region that contains row, or nil.
func (c *regionCache) find(table string, row []byte) *Region {
	c.mu.RLock()
	defer c.mu.RUnlock()
	rs := c.tables[table]
	if i := after(rs, row); i > 0 && rs[i-1].contains(row) {
		return rs[i-1]
	}
	return nil
}

// findBefore returns the region of the greatest rows less than row, or nil. A nil row means the end of the table.
func (c *regionCache) findBefore(table string, row []byte) *Region {
	c.mu.RLock()
	defer c.mu.RUnlock()
	rs := c.tables[table]
	i := len(rs)
	if row != nil {
		i, _ = slices.BinarySearchFunc(rs, row, byStart)
	}
	if i == 0 || !rs[i-1].reaches(row) {
		return nil
	}
	return rs[i-1]
}

// add replaces the regions that r overlaps, unless one of them is newer or the same: then that one stays. It returns the region that is now
// in the cache.
func (c *regionCache) add(r *Region) *Region {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tables == nil {
		c.tables = make(map[string][]*Region)
	}
	rs := c.tables[r.Table]
	from := after(rs, r.Start)
	if from > 0 && rs[from-1].overlaps(r) {
		from--
	}
	to := from
	for to < len(rs) && rs[to].overlaps(r) {
		if rs[to].NewerThan(r) || rs[to].sameAs(r) {
			return rs[to]
		}
		to++
	}
	// A copy, because readers may still use the old slice.
	c.tables[r.Table] = slices.Concat(rs[:from], []*Region{r}, rs[to:])
	return r
}

// addAll adds regions of one table, which must be ordered by start key and not overlap.
func (c *regionCache) addAll(table string, rs []*Region) {
	c.mu.Lock()
	if c.tables == nil {
		c.tables = make(map[string][]*Region)
	}
	first := len(c.tables[table]) == 0
	if first {
		c.tables[table] = rs
	}
	c.mu.Unlock()
	if first {
		return
	}
	for _, r := range rs {
		c.add(r)
	}
}

// drop forgets a region if it is still the cached one.
func (c *regionCache) drop(r *Region) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rs := c.tables[r.Table]
	if i, ok := slices.BinarySearchFunc(rs, r.Start, byStart); ok && rs[i] == r {
		c.tables[r.Table] = slices.Concat(rs[:i], rs[i+1:])
	}
}

// dropServer forgets all regions on a server.
func (c *regionCache) dropServer(addr string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for table, rs := range c.tables {
		if slices.ContainsFunc(rs, func(r *Region) bool { return r.Server == addr }) {
			c.tables[table] = slices.DeleteFunc(slices.Clone(rs), func(r *Region) bool { return r.Server == addr })
		}
	}
}

// servers returns the servers that have a cached region.
func (c *regionCache) servers() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	seen := make(map[string]struct{})
	for _, rs := range c.tables {
		for _, r := range rs {
			seen[r.Server] = struct{}{}
		}
	}
	return slices.Collect(maps.Keys(seen))
}

// dropTable forgets a table.
func (c *regionCache) dropTable(table string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tables, table)
}

// after returns the index of the first region that starts after row.
func after(rs []*Region, row []byte) int {
	i, found := slices.BinarySearchFunc(rs, row, byStart)
	if found {
		i++
	}
	return i
}

func byStart(r *Region, row []byte) int { return bytes.Compare(r.Start, row) }
