package pipeline

import (
	"slices"
	"testing"

	"brine/hbase/internal/rpc"
	"brine/hbase/internal/wire"

	"github.com/google/go-cmp/cmp"
)

func TestBatchHoldsCellsAsTheyTravel(t *testing.T) {
	b := NewBatch("t")
	b.Mutate([]byte("r1"))
	b.Put([]byte("e"), []byte("q1"), 5, []byte("v1"))
	b.Put([]byte("e"), []byte("q2"), 6, nil)
	b.Mutate([]byte("r2"))
	b.Delete(wire.DeleteColumn, []byte("e"), []byte("q1"), 7)
	want := []rpc.Result{
		{Row: []byte("r1"), Cells: []wire.Cell{
			{Row: []byte("r1"), Family: []byte("e"), Qualifier: []byte("q1"), Timestamp: 5, Type: wire.Put, Value: []byte("v1")},
			{Row: []byte("r1"), Family: []byte("e"), Qualifier: []byte("q2"), Timestamp: 6, Type: wire.Put, Value: []byte{}},
		}},
		{Row: []byte("r2"), Cells: []wire.Cell{
			{Row: []byte("r2"), Family: []byte("e"), Qualifier: []byte("q1"), Timestamp: 7, Type: wire.DeleteColumn, Value: []byte{}},
		}},
	}
	size := 0
	for i, w := range want {
		got := rpc.Result{Row: b.Row(i), Cells: slices.Collect(b.Cells(i))}
		if diff := cmp.Diff(w, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(w.Cells, b.AppendCells(nil, i)); diff != "" {
			t.Error(diff)
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
