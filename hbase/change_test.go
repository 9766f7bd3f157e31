package hbase_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
)

// A hard delete that the replay of an older put must not undo: the family is deleted below the version and put at it, atomically.
func TestMutateRowIsAtomic(t *testing.T) {
	onBoth(t, func(t *testing.T, c *hbase.Client, table string) {
		create(t, c, table)
		put(t, c, table, "r e:a 5 old", "r e:b 5 old", "r f:a 5 kept")
		b := hbase.NewBatch(table)
		b.Mutate([]byte("r"))
		b.Delete(hbase.DeleteFamily, []byte("e"), nil, 9)
		b.Mutate([]byte("r"))
		b.Put([]byte("e"), []byte("a"), 10, []byte("new"))
		for range 2 { // applying it twice has the same effect
			if err := c.MutateRow(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			if got := read(t, c, table, hbase.Scan{MaxVersions: 5}); got != "r e:a=new, r f:a=kept" {
				t.Error(got)
			}
		}
		b = batch(t, table, "r e:a 11 x", "r nofamily:a 11 x")
		if err := c.MutateRow(t.Context(), b); !errors.Is(err, hbase.ErrNoFamily) {
			t.Errorf("no such family: %v", err)
		}
		if got := read(t, c, table, hbase.Scan{}); got != "r e:a=new, r f:a=kept" {
			t.Errorf("after half a failure: %s", got)
		}
		for want, b := range map[string]*hbase.Batch{
			"must be for one": batch(t, table, "r e:a 1 x", "s e:a 1 x"), "is empty": hbase.NewBatch(table),
		} {
			if err := c.MutateRow(t.Context(), b); err == nil || !contains(err.Error(), want) {
				t.Errorf("%s: %v", want, err)
			}
		}
		if err := c.MutateRow(t.Context(), batch(t, table+"_no", "r e:a 1 x")); !errors.Is(err, hbase.ErrNoTable) {
			t.Errorf("no such table: %v", err)
		}
	})
}

func TestCheckAndMutate(t *testing.T) {
	onBoth(t, func(t *testing.T, c *hbase.Client, table string) {
		create(t, c, table)
		put(t, c, table, "r e:a 5 m", "r e:b 5 zz")
		f, a := columnOf("e", "a")
		_, none := columnOf("e", "none")
		for i, tt := range []struct {
			name      string
			condition hbase.Condition
			want      bool
		}{
			{"equals", hbase.IfEquals(f, a, []byte("m")), true},
			{"equals another", hbase.IfEquals(f, a, []byte("x")), false},
			{"absent, but there", hbase.IfAbsent(f, a), false},
			{"absent", hbase.IfAbsent(f, none), true},
			{"stored less", hbase.IfValue(f, a, hbase.Less, []byte("n")), true},
			{"stored not less", hbase.IfValue(f, a, hbase.Less, []byte("m")), false},
			{"stored less or equal", hbase.IfValue(f, a, hbase.LessOrEqual, []byte("m")), true},
			{"stored greater", hbase.IfValue(f, a, hbase.Greater, []byte("l")), true},
			{"stored not greater", hbase.IfValue(f, a, hbase.Greater, []byte("n")), false},
			{"stored greater or equal", hbase.IfValue(f, a, hbase.GreaterOrEqual, []byte("n")), false},
			{"not equal", hbase.IfValue(f, a, hbase.NotEqual, []byte("x")), true},
			{"not equal, but equal", hbase.IfValue(f, a, hbase.NotEqual, []byte("m")), false},
			{"nothing to compare", hbase.IfValue(f, none, hbase.Less, []byte("x")), false},
			{"filter of a prefix", hbase.IfFilter(hbase.SingleColumnValueFilter{Family: f, Qualifier: []byte("b"), With: hbase.Prefix("z")}), true},
			{"filter", hbase.IfFilter(hbase.SingleColumnValueFilter{Family: f, Qualifier: a, With: hbase.Bytes("m")}), true},
			{"filter takes nothing", hbase.IfFilter(hbase.ColumnPrefixFilter{Prefix: []byte("x")}), false},
			{"outside of its times", hbase.Condition{Family: f, Qualifier: a, Value: []byte("m"), From: 6, To: 9}, false},
		} {
			mark := fmt.Sprintf("mark%02d", i)
			done, err := c.CheckAndMutate(t.Context(), batch(t, table, "r f:"+mark+" 5 x", "r f:"+mark+"b 5 x"), tt.condition)
			if err != nil || done != tt.want {
				t.Errorf("%s: %v %v", tt.name, done, err)
			}
			row, err := c.Get(t.Context(), table, hbase.Get{Row: []byte("r"), Columns: []hbase.Column{{Family: []byte("f"), Qualifier: []byte(mark)}}})
			if err != nil || (len(row.Cells) == 1) != tt.want {
				t.Errorf("%s: row has %v %v", tt.name, row.Cells, err)
			}
		}
		b := hbase.NewBatch(table)
		b.Mutate([]byte("r"))
		b.Delete(hbase.DeleteFamily, []byte("e"), nil, 100)
		if done, err := c.CheckAndMutate(t.Context(), b, hbase.IfEquals(f, a, []byte("m"))); err != nil || !done {
			t.Errorf("delete: %v %v", done, err)
		}
		if got := read(t, c, table, hbase.Scan{Columns: []hbase.Column{{Family: f}}}); got != "" {
			t.Errorf("deleted: %s", got)
		}
	})
}

func TestIncrementAndAppend(t *testing.T) {
	onBoth(t, func(t *testing.T, c *hbase.Client, table string) {
		create(t, c, table)
		f, n := columnOf("e", "n")
		for _, by := range []int64{5, -2, 1 << 40} {
			if _, err := c.Increment(t.Context(), table, []byte("r"), hbase.Amount{Family: f, Qualifier: n, By: by}); err != nil {
				t.Fatal(err)
			}
		}
		row, err := c.Increment(t.Context(), table, []byte("r"), hbase.Amount{Family: f, Qualifier: n, By: 1}, hbase.Amount{Family: f, Qualifier: []byte("o"), By: 7})
		if err != nil || len(row.Cells) != 2 || counter(row.Cells[0]) != 4+1<<40 || counter(row.Cells[1]) != 7 {
			t.Errorf("%v %v", row, err)
		}
		for _, s := range []string{"ab", "cd"} {
			if row, err = c.Append(t.Context(), table, []byte("r"), hbase.Suffix{Family: f, Qualifier: []byte("s"), Value: []byte(s)}); err != nil {
				t.Fatal(err)
			}
		}
		if len(row.Cells) != 1 || string(row.Cells[0].Value) != "abcd" {
			t.Errorf("%v", row)
		}
		var e *hbase.Error
		if _, err := c.Increment(t.Context(), table, []byte("r"), hbase.Amount{Family: f, Qualifier: []byte("s"), By: 1}); !errors.As(err, &e) || errors.Is(err, hbase.ErrUnknownOutcome) {
			t.Errorf("not a counter: %v", err)
		}
		if _, err := c.Append(t.Context(), table, []byte("r")); err == nil {
			t.Error("append of nothing")
		}
	})
}

func counter(c hbase.Cell) int64 {
	if len(c.Value) != 8 {
		return -1
	}
	return int64(binary.BigEndian.Uint64(c.Value))
}

// An answer is lost after the change was applied: increments and row mutations are sent again and applied once; a checked mutation is not
// sent again, and the error says so.
func TestLostAnswers(t *testing.T) {
	s, c := start(t, embedded.Options{})
	create(t, c, "t")
	f, n := columnOf("e", "n")
	lose := func(method string, apply bool) {
		s.Control(method, func(*embedded.Request) *embedded.Outcome { return &embedded.Outcome{Drop: true, Apply: apply} })
	}
	for i, applied := range []bool{true, false, true} {
		lose("Mutate", applied)
		row, err := c.Increment(t.Context(), "t", []byte("r"), hbase.Amount{Family: f, Qualifier: n, By: 1})
		if err != nil || counter(row.Cells[0]) != int64(i+1) {
			t.Errorf("increment %d: %v %v", i, row, err)
		}
	}
	lose("Multi", true)
	if err := c.MutateRow(t.Context(), batch(t, "t", "r e:a 1 x", "r e:b 1 x")); err != nil {
		t.Errorf("mutate row: %v", err)
	}
	for _, applied := range []bool{true, false} {
		lose("Multi", applied)
		column := fmt.Sprint("c", applied)
		done, err := c.CheckAndMutate(t.Context(), batch(t, "t", "r f:"+column+" 1 x"), hbase.IfAbsent([]byte("f"), []byte(column)))
		if done || !errors.Is(err, hbase.ErrUnknownOutcome) {
			t.Errorf("applied %v: %v %v", applied, done, err)
		}
		row, err := c.Get(t.Context(), "t", hbase.Get{Row: []byte("r"), Columns: []hbase.Column{{Family: []byte("f"), Qualifier: []byte(column)}}})
		if err != nil || (len(row.Cells) == 1) != applied {
			t.Errorf("applied %v: %v %v", applied, row, err)
		}
	}
}

// Exceptions that a server answers before it does anything are retried, whatever the change.
func TestChangesAreRetriedWhenNothingWasDone(t *testing.T) {
	s, c := start(t, embedded.Options{})
	create(t, c, "t")
	for _, class := range []string{"NotServingRegionException", "RegionTooBusyException", "CallQueueTooBigException", "regionserver.RegionServerStoppedException"} {
		for _, method := range []string{"Multi", "Mutate"} {
			s.Control(method, func(*embedded.Request) *embedded.Outcome {
				return &embedded.Outcome{Exception: &embedded.Exception{Class: "org.apache.hadoop.hbase." + class}}
			})
		}
		column := []byte(class)
		done, err := c.CheckAndMutate(t.Context(), batch(t, "t", "r e:"+class+" 1 x"), hbase.IfAbsent([]byte("e"), column))
		if err != nil || !done {
			t.Errorf("%s: %v %v", class, done, err)
		}
		row, err := c.Increment(t.Context(), "t", []byte("r"), hbase.Amount{Family: []byte("f"), Qualifier: column, By: 3})
		if err != nil || counter(row.Cells[0]) != 3 {
			t.Errorf("%s: %v %v", class, row, err)
		}
	}
}

// A server that received the region by a move does not know the increment whose answer was lost, so it must not be sent there.
func TestIncrementIsNotRepeatedOnAnotherServer(t *testing.T) {
	s, mover := start(t, embedded.Options{Servers: 2})
	create(t, mover, "t")
	move := func() {
		regions, err := mover.Regions(t.Context(), "t")
		if err == nil {
			err = mover.MoveRegion(t.Context(), regions[0], "")
		}
		if after, _ := mover.Regions(t.Context(), "t"); err != nil || after[0].Server == regions[0].Server {
			t.Errorf("not moved: %v", err)
		}
	}
	c, err := hbase.Open(t.Context(), hbase.Options{Connect: "rpc://" + s.Addr(), Pause: time.Millisecond, Hooks: hbase.Hooks{
		Retry: func(i hbase.RetryInfo) {
			if i.Class == "connection" {
				move()
			}
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s.Control("Mutate", func(*embedded.Request) *embedded.Outcome { return &embedded.Outcome{Drop: true, Apply: true} })
	one := hbase.Amount{Family: []byte("e"), Qualifier: []byte("n"), By: 1}
	if _, err := c.Increment(t.Context(), "t", []byte("r"), one); !errors.Is(err, hbase.ErrUnknownOutcome) {
		t.Errorf("after the move: %v", err)
	}
	row, err := c.Increment(t.Context(), "t", []byte("r"), one)
	if err != nil || counter(row.Cells[0]) != 2 {
		t.Errorf("%v %v", row, err)
	}
}
