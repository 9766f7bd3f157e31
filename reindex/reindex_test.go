package reindex

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/indexer"
	"brine/search"
)

// TestTwoAtOnce checks that while one process builds an index a second one is refused, and that when the first stops properly the second
// continues at once.
func TestTwoAtOnce(t *testing.T) {
	w := filled(t, indexer.Partial, 2000)
	ctx, cancel := context.WithCancel(t.Context())
	o := w.options(FromHBase)
	o.Lease = 10 * time.Second // however slow the machine is at the moment
	resting := make(chan struct{}, 1)
	o.rest = func(string) error {
		select {
		case resting <- struct{}{}:
		default:
		}
		<-ctx.Done()
		return ctx.Err()
	}
	first := w.reindex(o)
	ended := make(chan error, 1)
	go func() { ended <- first.Run(ctx) }()
	<-resting
	o.rest = nil
	second := w.reindex(o)
	if err := second.Run(t.Context()); !errors.Is(err, ErrTaken) || !strings.Contains(err.Error(), "process") {
		t.Errorf("beside another: %v", err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the first ended with %v", err)
	}
	if err := w.reindex(w.options(FromTopic)).Run(t.Context()); !errors.Is(err, ErrBegun) {
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

// TestTakenOver checks that a process that was considered dead can no longer save, and stops without doing harm.
func TestTakenOver(t *testing.T) {
	w := filled(t, indexer.Whole, 1000)
	o := w.options(FromHBase)
	slept, wake := make(chan struct{}), make(chan struct{})
	o.rest = func(step string) error {
		if step == "swap" { // just before the new index takes its place
			close(slept)
			<-wake
		}
		return nil
	}
	asleep := w.reindex(o)
	asleep.keeper.lease = time.Hour // it shows no sign of life
	ended := make(chan error, 1)
	go func() { ended <- asleep.Run(t.Context()) }()
	<-slept
	if err := w.reindex(w.options(FromHBase)).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(wake)
	if err := <-ended; !errors.Is(err, search.ErrNoIndex) && !errors.Is(err, ErrTaken) {
		t.Errorf("the one that slept ended with %v", err)
	}
	same(t, w.documents(w.name), w.expected())
}

// TestRefusals checks that what cannot be built, or is in the way, is reported, and that the index stays as it is.
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

// garbage writes a row into the table that brine cannot have written, and returns its key.
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

// refusing is an engine that does not accept the documents of one order: it refuses them, denies them or fails, and quotes the document.
type refusing struct {
	indexer.Engine
	indexer.Rebuilder
	order  string
	status int
}

func (e *refusing) Bulk(ctx context.Context, ops []indexer.Op, results []indexer.Result) error {
	err := e.Engine.Bulk(ctx, ops, results)
	for i := range ops {
		if string(ops[i].ID) == e.order {
			results[i] = indexer.Result{Status: e.status, Kind: "mapper_parsing_exception", Reason: "Preview of field's value: '" + e.order + "'"}
		}
	}
	return err
}

// TestMaskedRowsAreNotNamed checks that a reindex neither names the rows, nor repeats what an index says about their documents, nor what is
// wrong with their columns, if the key has a masked field.
func TestMaskedRowsAreNotNamed(t *testing.T) {
	for _, c := range []struct {
		from   From
		status int
		masked bool
	}{{FromHBase, 400, true}, {FromTopic, 400, true}, {FromHBase, 403, true}, {FromHBase, 400, false}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			w := filled(t, indexer.Whole, 200)
			w.garbage() // o999, whose columns cannot be read
			var order string
			for id := range w.expected() {
				order = max(order, id)
			}
			o := w.options(c.from)
			o.Engine = &refusing{w.engine, w.engine.(indexer.Rebuilder), order, c.status}
			if c.masked {
				for _, s := range []*event.Schema{&o.Sources[0].Documents.Schema, &o.Sources[0].Ingest.Schema, &o.Sources[0].Rows.Schema} {
					s.Masked = []int{0}
				}
			}
			run := w.reindex(o)
			err := run.Run(t.Context())
			if err == nil {
				t.Fatal("the documents were accepted")
			}
			said := err.Error() + "\n" + strings.Join(run.Progress().Examples, "\n")
			t.Log(said)
			for _, row := range []string{order, "o999", "Preview"} {
				if (c.masked || row == order) && strings.Contains(said, row) == c.masked {
					t.Errorf("%s: %s", row, said)
				}
			}
		})
	}
}

// TestRefusedDocuments checks that an index that refuses documents does not take the other's place, unless that is allowed.
func TestRefusedDocuments(t *testing.T) {
	w := filled(t, indexer.Whole, 500)
	bad := w.garbage()
	o := w.options(FromHBase)
	if err := w.reindex(o).Run(t.Context()); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), bad) {
		t.Fatalf("error %v", err)
	}
	if _, err := w.engine.Mapping(t.Context(), indexer.Beside(w.name)); err != nil {
		t.Errorf("the new index is gone: %v", err)
	}
	o.SkipRefused = true
	run := w.reindex(o)
	if err := run.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p := run.Progress(); p.Refused != 1 || len(p.Former) != 1 || p.Phase != Done {
		t.Errorf("progress %+v", p)
	}
	same(t, w.documents(w.name), w.expected())
}
