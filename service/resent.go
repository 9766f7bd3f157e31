package service

import (
	"sync"

	"brine/config"
	"brine/hbase"
)

// resent counts what the HBase client sends again. It counts by table, because the client knows no pipelines.
type resent struct {
	mu     sync.Mutex
	tables map[string]*resentTable
	times  int
}

type resentTable struct {
	mutations int64
	reason    string // of the last retry
	last      int    // value of times at the last retry
}

// watch wraps the client's hooks to count retries.
func (r *resent) watch(hooks hbase.Hooks) hbase.Hooks {
	next := hooks.Retry
	hooks.Retry = func(i hbase.RetryInfo) {
		next(i)
		r.count(i)
	}
	return hooks
}

func (r *resent) count(i hbase.RetryInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tables == nil {
		r.tables = map[string]*resentTable{}
	}
	t := r.tables[i.Table]
	if t == nil {
		t = new(resentTable)
		r.tables[i.Table] = t
	}
	t.mutations += int64(max(i.Mutations, 1)) // a lookup has none
	r.times++
	t.reason, t.last = i.Reason(), r.times
}

// of returns the sum over the tables that a pipeline writes, and the reason of the last retry.
func (r *resent) of(p *config.Pipeline) (mutations int64, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := 0
	for _, rows := range p.Rows {
		if t := r.tables[rows.Table]; t != nil {
			mutations += t.mutations
			if t.last > last {
				reason, last = t.reason, t.last
			}
		}
	}
	return mutations, reason
}
