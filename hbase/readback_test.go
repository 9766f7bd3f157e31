package hbase

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/internal/testenv"
)

// onServers runs a test on the embedded server and on a real one, if there is one, with its own table that is split at "m".
func onServers(t *testing.T, test func(t *testing.T, c *Client, table string)) {
	t.Run("embedded", func(t *testing.T) {
		c := open(t, patient("rpc://"+startEmbedded(t, embedded.Options{}).Addr()))
		createTable(t, c, "t", "m")
		test(t, c, "t")
	})
	t.Run("real", func(t *testing.T) {
		c := open(t, Options{Connect: testenv.HBase(t)})
		table := testenv.Name(t)
		createTable(t, c, table, "m")
		t.Cleanup(func() {
			if err := c.DisableTable(context.Background(), table); err != nil {
				t.Error(err)
			} else if err := c.DeleteTable(context.Background(), table); err != nil {
				t.Error(err)
			}
		})
		test(t, c, table)
	})
}

// cell returns a batch of one cell, always with the same timestamp: of two writes, readers see the one applied last.
func cell(table, row, value string) *Batch {
	b := NewBatch(table)
	b.Mutate([]byte(row))
	b.Put([]byte("e"), []byte("q"), 1700000000000, []byte(value))
	return b
}

// read returns the value of a row's only cell, or "".
func read(t *testing.T, c *Client, table, row string) string {
	t.Helper()
	r, err := c.Get(t.Context(), table, Get{Row: []byte(row)})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Cells) == 0 {
		return ""
	}
	return string(r.Cells[0].Value)
}

// With autoflush, everything that a flight reports as done can be read. Without it, nothing can be read before the flush, and everything
// afterwards.
func TestReadBack(t *testing.T) {
	onServers(t, func(t *testing.T, c *Client, table string) {
		auto := mutator(t, c, MutatorOptions{Autoflush: true})
		for i := range 20 {
			row, value := fmt.Sprintf("%c", 'a'+i), fmt.Sprint("auto ", i)
			if failed, err := auto.Submit(t.Context(), cell(table, row, value)).Wait(t.Context()); err != nil || failed != nil {
				t.Fatal(failed, err)
			}
			if got := read(t, c, table, row); got != value {
				t.Fatalf("row %s is %q after its flight, want %q", row, got, value)
			}
		}
		buffered := mutator(t, c, MutatorOptions{Linger: time.Hour})
		var flights []*Flight
		for i := range 20 {
			flights = append(flights, buffered.Submit(t.Context(), cell(table, fmt.Sprintf("%c2", 'a'+i), "buffered")))
		}
		for i, f := range flights {
			if got := read(t, c, table, fmt.Sprintf("%c2", 'a'+i)); got != "" || isDone(f) {
				t.Fatalf("before the flush row %c2 is %q; its flight is done: %v", 'a'+i, got, isDone(f))
			}
		}
		if err := buffered.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, f := range flights {
			if got := read(t, c, table, fmt.Sprintf("%c2", 'a'+i)); got != "buffered" || !isDone(f) {
				t.Fatalf("after the flush row %c2 is %q; its flight is done: %v", 'a'+i, got, isDone(f))
			}
		}
	})
}

// Mutators of both modes write the same rows with the same timestamp: readers must see what was submitted last.
func TestOrderInARowHoldsAcrossMutators(t *testing.T) {
	onServers(t, func(t *testing.T, c *Client, table string) {
		one := cell(table, "a", "0000").Bytes()
		mutators := []*Mutator{
			mutator(t, c, MutatorOptions{Autoflush: true}),
			mutator(t, c, MutatorOptions{Linger: time.Millisecond}),
			mutator(t, c, MutatorOptions{Linger: time.Hour, WriteBuffer: 7 * one}),
			mutator(t, c, MutatorOptions{Linger: time.Hour}),
		}
		seed := rand.Uint64()
		t.Log("seed", seed)
		r := rand.New(rand.NewPCG(seed, 0))
		last := map[string]string{}
		for i := range 2000 {
			row, value := string(rune('a'+r.IntN(26))), fmt.Sprintf("%04d", i)
			mutators[r.IntN(len(mutators))].Submit(t.Context(), cell(table, row, value))
			last[row] = value
		}
		for _, m := range mutators {
			if err := m.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for row, want := range last {
			if got := read(t, c, table, row); got != want {
				t.Errorf("row %s is %s, submitted last was %s", row, got, want)
			}
		}
	})
}
