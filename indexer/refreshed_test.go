package indexer_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"brine/indexer"
)

// refreshed is a memory whose searches show the state of the last refresh, as Elasticsearch's do.
type refreshed struct {
	*memory
	every time.Duration // 0: it is never refreshed
	epoch time.Time

	mu    sync.Mutex
	asked []time.Time
	down  bool // searches fail
	hang  bool // searches end with their context
	wrote map[string][]written
}

type written struct {
	at      time.Time
	version int64
}

func newRefreshed(every time.Duration) *refreshed {
	return &refreshed{memory: newMemory(), every: every, epoch: time.Now(), wrote: map[string][]written{}}
}

func (r *refreshed) Bulk(ctx context.Context, ops []indexer.Op, results []indexer.Result) error {
	err := r.memory.Bulk(ctx, ops, results)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, o := range ops {
		if version, fault := indexer.VersionOf(o.Source); fault == nil && results[i].Status == 200 {
			r.wrote[string(o.ID)] = append(r.wrote[string(o.ID)], written{time.Now(), version})
		}
	}
	return err
}

func (r *refreshed) Shown(ctx context.Context, ref indexer.Ref) (int64, error) {
	r.mu.Lock()
	r.asked = append(r.asked, time.Now())
	hang := r.hang
	r.mu.Unlock()
	if hang {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.down {
		return 0, errors.New("connection refused")
	}
	shown := int64(-1)
	if r.every > 0 {
		last := r.epoch.Add(time.Since(r.epoch).Truncate(r.every))
		for _, w := range r.wrote[string(ref.ID)] {
			if !w.at.After(last) {
				shown = w.version
			}
		}
	}
	return shown, nil
}

func (r *refreshed) searches() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.asked)
}

// heal ends the faults.
func (r *refreshed) heal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down, r.hang, r.every = false, false, time.Second
}
