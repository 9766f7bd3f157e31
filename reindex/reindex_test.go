package reindex

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/hbase"
	"brine/indexer"
	"brine/indexer/elastic"
	bleve "brine/indexer/embedded"
	"brine/internal/testenv"
	"brine/search"
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

// garbage puts a row into the table that brine cannot have written, and gives its key.
func (w *world) garbage() string {
	w.t.Helper()
	mutator, err := w.client.Mutator(hbase.MutatorOptions{Autoflush: true})
	if err != nil {
		w.t.Fatal(err)
	}
	b := hbase.NewBatch(w.name)
	b.Mutate([]byte("o999"))
	b.Put([]byte("f"), []byte("t"), 1, []byte("12"))
	if failed, err := mutator.Submit(w.t.Context(), b).Wait(w.t.Context()); err != nil || len(failed) > 0 {
		w.t.Fatal(failed, err)
	}
	return "o999"
}

// TestKilledAtEveryStepWhileChangesComeIn: a reindex that is killed at each of its steps, one after another, and gone on with, while the
// pipeline writes, ends with the documents that the topic makes; nothing is lost by the swap.
func TestKilledAtEveryStepWhileChangesComeIn(t *testing.T) {
	for name, open := range map[string]func(*testing.T) (indexer.Engine, string){"embedded": embeddedIndex, "real Elasticsearch": realElasticsearch} {
		for _, from := range []From{FromHBase, FromTopic} {
			for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
				t.Run(name+"/"+string(from)+"/"+string(changes), func(t *testing.T) {
					t.Parallel() // most of it is waiting for the lease of the killed
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
	next, most := func(at int) int { return at + 1 }, 200
	if w.server != "" || testenv.Race {
		most = 5000
		next = func(at int) int { return at + 1 + at/2 } // each resumption waits for a lease, which a server makes long
	}
	for at := 0; ; at = next(at) {
		if at > most {
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
		run, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		if err = run.Run(t.Context()); err == nil {
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

// TestTwoAtOnce: while one process builds an index a second one is refused; when the first stops in order the second goes on at once.
func TestTwoAtOnce(t *testing.T) {
	w := newWorld(t, embeddedIndex, indexer.Partial)
	stop := w.live()
	defer stop()
	w.publish(rand.New(rand.NewPCG(1, 1)), 2000)
	w.settled()
	ctx, cancel := context.WithCancel(t.Context())
	o := w.options(FromHBase)
	o.Lease = 2 * time.Second // however slow the machine is just now
	resting := make(chan struct{}, 1)
	o.rest = func(string) error {
		select {
		case resting <- struct{}{}:
		default:
		}
		<-ctx.Done()
		return ctx.Err()
	}
	first, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- first.Run(ctx) }()
	<-resting
	o.rest = nil
	second, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Run(t.Context()); !errors.Is(err, ErrTaken) || !strings.Contains(err.Error(), "process") {
		t.Errorf("beside another: %v", err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the first ended with %v", err)
	}
	other := w.options(FromTopic)
	if third, err := New(other); err != nil {
		t.Error(err)
	} else if err := third.Run(t.Context()); !errors.Is(err, ErrBegun) {
		t.Errorf("of something else: %v", err)
	}
	plan, err := second.Plan(t.Context())
	if err != nil || !plan.Resumed || plan.Phase != Scanning {
		t.Errorf("the plan of the second is %+v, error %v", plan, err)
	}
	if err := second.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, w.documents(w.name), w.expected())
}

// TestTakenOver: a process that was thought dead cannot save any more, and stops without doing harm.
func TestTakenOver(t *testing.T) {
	w := newWorld(t, embeddedIndex, indexer.Whole)
	stop := w.live()
	defer stop()
	w.publish(rand.New(rand.NewPCG(1, 1)), 1000)
	w.settled()
	o := w.options(FromHBase)
	slept, wake := make(chan struct{}), make(chan struct{})
	o.rest = func(step string) error {
		if step == "swap" { // just before the new index takes its place
			close(slept)
			<-wake
		}
		return nil
	}
	asleep, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	asleep.keeper.lease = time.Hour // it gives no sign of life
	ended := make(chan error, 1)
	go func() { ended <- asleep.Run(t.Context()) }()
	<-slept
	second, err := New(w.options(FromHBase))
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(wake)
	if err := <-ended; !errors.Is(err, search.ErrNoIndex) && !errors.Is(err, ErrTaken) {
		t.Errorf("the one that slept ended with %v", err)
	}
	same(t, w.documents(w.name), w.expected())
}

// TestRefusals: what cannot be built, or is in the way, is said, and the index stays as it is.
func TestRefusals(t *testing.T) {
	w := newWorld(t, embeddedIndex, indexer.Partial)
	run := func(change func(*Options)) error {
		o := w.options(FromHBase)
		o.Sources = []Source{w.source}
		change(&o)
		r, err := New(o)
		if err != nil {
			return err
		}
		return r.Run(t.Context())
	}
	beside := w.source.writing(indexer.Beside(w.name)).Mappings()[0]
	if err := w.engine.EnsureIndex(t.Context(), beside); err != nil {
		t.Fatal(err)
	}
	if err := run(func(*Options) {}); !errors.Is(err, ErrInTheWay) {
		t.Errorf("with an index in the way: %v", err)
	}
	if err := run(func(o *Options) { o.Again = true }); err != nil {
		t.Errorf("again: %v", err)
	}
	absent := func(o *Options) {
		o.Index, o.Sources[0].Documents = "absent", o.Sources[0].writing("absent")
	}
	if err := run(absent); !errors.Is(err, search.ErrNoIndex) {
		t.Errorf("an index that is not there: %v", err)
	}
	lost := errors.New("killed")
	if err := run(func(o *Options) { o.rest = func(string) error { return errors.Join(lost, errKilled) } }); !errors.Is(err, lost) {
		t.Fatal(err)
	}
	if err := w.engine.(indexer.Rebuilder).Discard(t.Context(), w.name); err != nil {
		t.Fatal(err)
	}
	if err := run(func(*Options) {}); !errors.Is(err, search.ErrNoIndex) || !strings.Contains(err.Error(), "what was built is gone") {
		t.Errorf("what was built is gone: %v", err)
	}
}

// TestRefusedDocuments: an index that does not take all documents does not take the other's place, unless that is wanted.
func TestRefusedDocuments(t *testing.T) {
	w := newWorld(t, embeddedIndex, indexer.Whole)
	stop := w.live()
	defer stop()
	w.publish(rand.New(rand.NewPCG(1, 1)), 500)
	w.settled()
	bad := w.garbage()
	o := w.options(FromHBase)
	run, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Run(t.Context()); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), bad) {
		t.Fatalf("error %v", err)
	}
	if _, err := w.engine.Mapping(t.Context(), indexer.Beside(w.name)); err != nil {
		t.Errorf("the new index is gone: %v", err)
	}
	o.SkipRefused = true
	if run, err = New(o); err != nil {
		t.Fatal(err)
	}
	if err := run.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p := run.Progress(); p.Refused != 1 || len(p.Former) != 1 || p.Phase != Done {
		t.Errorf("progress %+v", p)
	}
	same(t, w.documents(w.name), w.expected())
}
