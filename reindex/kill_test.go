package reindex

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"brine/indexer"
	"brine/indexer/elastic"
	bleve "brine/indexer/embedded"
	"brine/internal/testenv"
)

func embeddedIndex(t *testing.T) (indexer.Engine, string) {
	t.Helper()
	engine, err := bleve.Open(bleve.Options{Dir: filepath.Join(t.TempDir(), "index")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	return engine, ""
}

func realElasticsearch(t *testing.T) (indexer.Engine, string) {
	t.Helper()
	server := testenv.Elasticsearch(t)
	engine, err := elastic.Open(elastic.Options{Addresses: []string{server}, Replicas: elastic.NoReplicas})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	return engine, server
}

// TestKilledAtEveryStepWhileChangesComeIn checks that a reindex that is killed at each of its steps in turn, and resumed, while the
// pipeline writes, ends with the documents that the topic makes, and that the swap loses nothing.
func TestKilledAtEveryStepWhileChangesComeIn(t *testing.T) {
	for name, open := range map[string]func(*testing.T) (indexer.Engine, string){"embedded": embeddedIndex, "real Elasticsearch": realElasticsearch} {
		for _, from := range []From{FromHBase, FromTopic} {
			for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
				t.Run(name+"/"+string(from)+"/"+string(changes), func(t *testing.T) {
					t.Parallel() // it mostly waits for the leases of killed runs
					w := newWorld(t, open, changes)
					killed(t, w, from)
				})
			}
		}
	}
}

func killed(t *testing.T, w *world, from From) {
	stop := w.live()
	defer stop()
	r := rand.New(rand.NewPCG(1, 2))
	w.publish(r, 1500)
	w.settled()
	ctx, end := context.WithCancel(t.Context())
	var publishing sync.WaitGroup
	publishing.Go(func() { // as much as can be written, however slow the machine
		for w.keptUp(ctx, 0) == nil {
			w.publish(r, 20)
		}
	})
	steps := map[string]bool{}
	kills := 0
	closely := 100 // the number of kills one step apart; then ever farther apart
	if w.server != "" || testenv.Race {
		closely = 0 // each resumption waits for a lease, which is long with a server
	}
	for at := 0; ; at += 1 + max(0, at-closely)/2 {
		if at > 5000 {
			t.Fatalf("not done after %d kills; the steps were %v", kills, steps)
		}
		var mu sync.Mutex
		calls := 0
		o := w.options(from)
		o.rest = func(step string) error {
			mu.Lock()
			defer mu.Unlock()
			steps[step] = true
			if calls++; calls > at {
				return errKilled
			}
			return nil
		}
		err := w.reindex(o).Run(t.Context())
		if err == nil {
			break
		}
		if !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		kills++
	}
	end()
	publishing.Wait()
	w.settled()
	stop()
	t.Logf("%d kills, at %d kinds of step", kills, len(steps))
	for _, step := range []string{"swap", "swapped", string(Finishing), string(Done)} {
		if !steps[step] {
			t.Errorf("no step %s: %v", step, steps)
		}
	}
	same(t, w.documents(w.name), w.expected())
}
