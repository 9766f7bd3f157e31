package verify_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/hbase/embedded"
	"brine/indexer"
	"brine/mask"
	"brine/sink"
	"brine/verify"
)

// silent is a Writer that never settles batches with a record that contains part.
type silent struct {
	event.Writer
	part string
}

func (w *silent) Submit(ctx context.Context, batch *event.Batch) event.Flight {
	for _, ev := range batch.Events {
		if strings.Contains(string(ev.Record.Value), w.part) {
			return never{}
		}
	}
	return w.Writer.Submit(ctx, batch)
}

// never is a flight that is never settled.
type never struct{}

func (never) Wait(ctx context.Context, _ event.Until) (event.Outcome, error) {
	<-ctx.Done()
	return event.Outcome{}, ctx.Err()
}

// patience is more than a busy machine takes to settle what can be settled.
const patience = 15 * time.Second

// patient verifies the world, whose table is empty, with that patience for its repair.
func (w *world) patient(most int) *verify.Check {
	w.t.Helper()
	o := w.options()
	o.MaxFindings = most
	o.Sources[0].Patience, o.Sources[0].Cause = patience, func() string { return "10.0.0.7:16020: connection refused" }
	c, r := w.verify(o)
	if r.Fixable(verify.ByRepair) == 0 {
		w.t.Fatal("nothing is missing")
	}
	return c
}

// TestARepairThatIsGivenUpSaysWhatItDid repairs with a store that never answers for one partition: the repair ends with what it waited for,
// and counts what it has written in the others, whether it writes single records or all.
func TestARepairThatIsGivenUpSaysWhatItDid(t *testing.T) {
	t.Parallel()
	for _, most := range []int{100, 2} {
		t.Run(fmt.Sprintf("%d findings", most), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, embeddedHBase)
			w.send(someOrders...)
			c := w.patient(most)
			records, err := c.Repair(t.Context(), []event.Writer{&silent{w.sink(), `"o2"`}})
			if !errors.Is(err, context.DeadlineExceeded) || records != 6 {
				t.Errorf("%d records, %v", records, err)
			}
			for _, part := range []string{"3 offsets are left", "nothing was settled for 15s", "last: 10.0.0.7:16020: connection refused"} {
				if err != nil && !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not in %v", part, err)
				}
			}
		})
	}
}

// TestARepairEndsWhenHBaseDied makes HBase die on the first call of a repair. The repair must end within its patience with the error of the
// last try.
func TestARepairEndsWhenHBaseDied(t *testing.T) {
	t.Parallel()
	var server *embedded.Server
	w := newWorld(t, func(t *testing.T) string {
		var err error
		if server, err = embedded.Start(embedded.Options{Dir: t.TempDir()}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Close() })
		return "rpc://" + server.Addr()
	})
	w.send(someOrders...)
	c := w.patient(100)
	client, err := hbase.Open(t.Context(), hbase.Options{Connect: "rpc://" + server.Addr(), Patience: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	mutator, err := client.Mutator(hbase.MutatorOptions{Autoflush: true})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := sink.New(sink.HBase(mutator), *w.rows)
	if err != nil {
		t.Fatal(err)
	}
	server.Control("Multi", func(*embedded.Request) *embedded.Outcome {
		go server.Master().Kill()
		return &embedded.Outcome{Silent: true}
	})
	records, err := c.Repair(t.Context(), []event.Writer{rows})
	if !errors.Is(err, context.DeadlineExceeded) || records != 0 {
		t.Fatalf("%d records, %v", records, err)
	}
	for _, part := range []string{"9 offsets are left", "nothing was settled for 15s", server.Addr(), "connection refused"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
	_ = server.Master().Restart("") // for the clean-up
}

// lazyStore fails to delete, like a store that is gone.
type lazyStore struct {
	verify.Store
	calls int
	err   error
}

func (s *lazyStore) Remove(ctx context.Context, key []byte, cells []verify.Cell) error {
	if s.calls++; s.calls > 1 {
		return s.err
	}
	return s.Store.Remove(ctx, key, cells)
}

// A masked key of what could not be deleted is in no error, whatever the store says of it.
func TestErrorsOfWhatCannotBeDeletedShowNoMaskedKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, embeddedHBase)
	w.indexed(indexer.Whole)
	w.send(someOrders[:2]...)
	w.write()
	for _, id := range []string{"xa", "xb"} {
		w.put(id, "f", "total", 9, "extra")
		w.putDocument(id, 9, `"status":"extra"`)
	}
	for _, c := range []struct {
		masks *mask.Rules
		shown bool
	}{{nil, true}, {new(mask.Rules), true}, {masking(w), false}} {
		o := w.options()
		o.Full, o.Masks = true, c.masks
		for i := range o.Tables {
			o.Tables[i].Store = refusing{o.Tables[i].Store, o.Tables[i].Documents}
		}
		check, _ := w.verify(o)
		_, err := check.DeleteExtra(t.Context())
		if err == nil || strings.Count(err.Error(), "verify: ") != 4 {
			t.Fatal(err)
		}
		for _, key := range []string{"xa", "xb"} {
			if got := strings.Contains(err.Error(), key); got != c.shown {
				t.Errorf("it is %v that the error shows %s: %v", got, key, err)
			}
		}
		if !strings.Contains(strings.ReplaceAll(err.Error(), "_", " "), "version conflict") || !strings.Contains(err.Error(), "WrongRegionException") {
			t.Errorf("the error does not say why: %v", err)
		}
		if got := strings.Contains(err.Error(), "is not in the region from neighbour on"); got != c.shown {
			t.Errorf("it is %v that the error shows another row, which the server quotes: %v", got, err)
		}
	}
}

// refusing refuses to delete, and names the key.
type refusing struct {
	verify.Store
	documents bool
}

func (s refusing) Remove(_ context.Context, key []byte, _ []verify.Cell) error {
	if s.documents {
		return &indexer.RequestError{Status: 409, Kind: "version_conflict_engine_exception", Reason: fmt.Sprintf("[%s]: version conflict", key)}
	}
	return &hbase.Error{Op: "delete", Server: "rs1:16020", Class: "org.apache.hadoop.hbase.regionserver.WrongRegionException",
		Err: fmt.Errorf("WrongRegionException: row %s is not in the region from neighbour on", key)}
}

// masking returns rules that mask the keys of all that a world writes.
func masking(w *world) *mask.Rules {
	r := new(mask.Rules)
	r.Field("orders", "id")
	r.Key(w.table, "id")
	for _, t := range w.options().Tables {
		r.Key(t.Name, "id")
	}
	return r
}

// TestDeletingWhatIsExtraEndsWithAStoreThatDoesNotAnswer deletes extra rows until the store does not answer: what was done is counted, and
// the other rows do not each wait as long.
func TestDeletingWhatIsExtraEndsWithAStoreThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err   error
		calls int
	}{{context.DeadlineExceeded, 2}, {errors.New("access denied"), 14}} {
		w := newWorld(t, embeddedHBase)
		w.send(someOrders...)
		w.write()
		for i := range 14 {
			w.put("x"+string(rune('a'+i)), "f", "total", 9, "extra")
		}
		o := w.options()
		o.Full = true
		store := &lazyStore{Store: o.Tables[0].Store, err: c.err}
		o.Tables[0].Store = store
		check, _ := w.verify(o)
		rows, err := check.DeleteExtra(t.Context())
		if rows != 1 || !errors.Is(err, c.err) || store.calls != c.calls {
			t.Errorf("%d rows, %d calls, %v", rows, store.calls, err)
		}
		if more := "3 more could not be deleted"; strings.Contains(err.Error(), more) != (c.calls == 14) {
			t.Errorf("%q: %v", more, err)
		}
	}
}
