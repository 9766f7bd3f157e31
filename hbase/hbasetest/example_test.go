package hbasetest_test

import (
	"testing"

	"brine/hbase"
	"brine/hbase/hbasetest"
)

// TestOrders is the example of docs/test-hbase.md, which a test holds to it.
func TestOrders(t *testing.T) {
	client := hbasetest.Run(t).Client(t)
	orders := hbase.Table{Name: "orders", Families: []hbase.Family{{Name: "f"}}}
	if err := client.CreateTable(t.Context(), orders, nil); err != nil {
		t.Fatal(err)
	}
	b := hbase.NewBatch("orders")
	b.Mutate([]byte("o-1"))
	b.Put([]byte("f"), []byte("state"), 1, []byte("paid"))
	if failed, err := client.Submit(t.Context(), b).Wait(t.Context()); err != nil || len(failed) > 0 {
		t.Fatal(failed, err)
	}
	row, err := client.Get(t.Context(), "orders", hbase.Get{Row: []byte("o-1")})
	if err != nil || len(row.Cells) != 1 || string(row.Cells[0].Value) != "paid" {
		t.Errorf("the order is %v (%v)", row.Cells, err)
	}
}
