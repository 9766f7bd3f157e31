package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"brine/skew"
)

// byTable caches the counters of the writes to each table: every region of every call asks for them, and looking up labels costs more than
// counting. It is safe for concurrent use.
type byTable struct {
	rows, bytes *prometheus.CounterVec // by table
	tables      *skew.Tables

	mu    sync.RWMutex
	known map[string]*tableSeries
}

type tableSeries struct {
	rows, bytes prometheus.Counter
	skew        *skew.Counter
}

func (b *byTable) of(table string) *tableSeries {
	b.mu.RLock()
	s := b.known[table]
	b.mu.RUnlock()
	if s != nil {
		return s
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s = &tableSeries{b.rows.WithLabelValues(table), b.bytes.WithLabelValues(table), b.tables.Counter(table, skew.Shape{})}
	b.known[table] = s
	return s
}
