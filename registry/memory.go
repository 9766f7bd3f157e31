package registry

import (
	"sync"
	"sync/atomic"
)

// memory holds the last used schemas. A lookup writes shared memory at most once between two changes.
type memory struct {
	mu         sync.RWMutex
	entries    map[ID]*entry
	bytes      int64
	tick       atomic.Int64 // number of changes
	maxEntries int
	maxBytes   int64
}

type entry struct {
	schema *Schema
	size   int64
	used   atomic.Int64 // tick at the last use
}

func (m *memory) init(entries int, bytes int64) {
	m.entries, m.maxEntries, m.maxBytes = map[ID]*entry{}, entries, bytes
}

func (m *memory) get(id ID) (*Schema, bool) {
	m.mu.RLock()
	e := m.entries[id]
	m.mu.RUnlock()
	if e == nil {
		return nil, false
	}
	if now := m.tick.Load(); e.used.Load() != now {
		e.used.Store(now)
	}
	return e.schema, true
}

// put adds a schema and evicts the least recently used ones until the rest fits. The new one always stays.
func (m *memory) put(s *Schema) (schemas int, bytes int64, evicted int) {
	e := &entry{schema: s, size: s.size()}
	m.mu.Lock()
	defer m.mu.Unlock()
	e.used.Store(m.tick.Add(1))
	if old := m.entries[s.ID]; old != nil {
		m.bytes -= old.size
	}
	m.entries[s.ID] = e
	m.bytes += e.size
	for len(m.entries) > 1 && (len(m.entries) > m.maxEntries || m.bytes > m.maxBytes) {
		m.evict(s.ID)
		evicted++
	}
	return len(m.entries), m.bytes, evicted
}

// evict evicts the least recently used entry other than keep. It looks at all entries, which costs less than the preceding fetch.
func (m *memory) evict(keep ID) {
	var oldest ID
	var e *entry
	for id, other := range m.entries {
		if id != keep && (e == nil || other.used.Load() < e.used.Load()) {
			oldest, e = id, other
		}
	}
	m.bytes -= e.size
	delete(m.entries, oldest)
}
