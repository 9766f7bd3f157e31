package hbase

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBatchHoldsCellsAsTheyTravel(t *testing.T) {
	b := NewBatch("t")
	b.Mutate([]byte("r1"))
	b.Put([]byte("e"), []byte("q1"), 5, []byte("v1"))
	b.Put([]byte("e"), []byte("q2"), 6, nil)
	b.Mutate([]byte("r2"))
	b.Delete(DeleteColumn, []byte("e"), []byte("q1"), 7)
	want := []Result{
		{Row: []byte("r1"), Cells: []Cell{
			{Row: []byte("r1"), Family: []byte("e"), Qualifier: []byte("q1"), Timestamp: 5, Type: Put, Value: []byte("v1")},
			{Row: []byte("r1"), Family: []byte("e"), Qualifier: []byte("q2"), Timestamp: 6, Type: Put, Value: []byte{}},
		}},
		{Row: []byte("r2"), Cells: []Cell{
			{Row: []byte("r2"), Family: []byte("e"), Qualifier: []byte("q1"), Timestamp: 7, Type: DeleteColumn, Value: []byte{}},
		}},
	}
	size := 0
	for i, w := range want {
		got, rest, err := takeCells(b.cellsOf(i), len(w.Cells))
		if err != nil || len(rest) > 0 {
			t.Fatal(err, rest)
		}
		if diff := cmp.Diff(w, got); diff != "" {
			t.Error(diff)
		}
		if string(b.Row(i)) != string(w.Row) {
			t.Errorf("row %d is %q", i, b.Row(i))
		}
		size += b.size(i)
	}
	if b.Len() != 2 || b.Bytes() != size {
		t.Errorf("%d mutations of %d bytes", b.Len(), b.Bytes())
	}
	b.Reset("u")
	if b.Len() != 0 || b.Bytes() != 0 || b.Table() != "u" {
		t.Error("Reset left something")
	}
}

func TestCellsWithoutAMutationAreRefused(t *testing.T) {
	b := NewBatch("t")
	b.Put([]byte("e"), nil, 1, nil)
	if b.Len() != 1 || b.check(0, 1000) == nil {
		t.Error("a cell of no row is taken")
	}
}

func TestBatchDoesNotAllocatePerMutation(t *testing.T) {
	b := NewBatch("t")
	row, family, qualifier, value := []byte("some-row"), []byte("e"), []byte("q"), []byte("value")
	fill := func() {
		b.Reset("t")
		for range 1000 {
			b.Mutate(row)
			b.Put(family, qualifier, 1, value)
			b.Put(family, qualifier, 2, value)
		}
	}
	fill()
	if n := testing.AllocsPerRun(10, fill); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
