package embedded

import (
	"os"
	"testing"

	"brine/bench/measure"
	"brine/hbase"
	"brine/hbase/embedded"
	"brine/internal/testenv"
)

// HBase's PerformanceEvaluation writes to the embedded server as it does to HBase, also a table that it makes itself.
func TestPerformanceEvaluationRunsUnchanged(t *testing.T) {
	testenv.Java(t)
	t.Chdir("../..")
	if err := measure.FetchEvaluation(t.Context()); err != nil {
		if os.Getenv("BRINE_REAL") == "required" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	s, err := embedded.Start(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	const clients, rows = 2, 6000
	shape := measure.Shape{Table: "TestTable", Rows: rows, Columns: 1, ValueBytes: 150}
	cmd, err := measure.Evaluation(t.Context(), t.TempDir(), "rpc://"+s.Addr(), shape, clients)
	if err != nil {
		t.Fatal(err)
	}
	l, err := measure.RunEvaluation(cmd, "pe", shape, clients, os.Getpid())
	if err != nil || l.Rows != rows {
		t.Fatalf("%+v, %v", l, err)
	}
	c, err := hbase.Open(t.Context(), hbase.Options{Connect: "rpc://" + s.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	n := 0
	for row, err := range c.Scan(t.Context(), shape.Table, hbase.Scan{}) {
		if err != nil || len(row.Cells) != 1 || len(row.Cells[0].Value) != shape.ValueBytes {
			t.Fatalf("row %q has %d cells, %v", row.Row, len(row.Cells), err)
		}
		n++
	}
	if n < rows/2 || n > rows { // randomWrite draws its keys with repetition: of n it leaves out one in e
		t.Errorf("%d rows of %d writes", n, rows)
	}
}
