package embedded

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"brine/bench/measure"
	"brine/hbase"
	"brine/hbase/embedded"
	"brine/internal/testenv"
)

// HBase's PerformanceEvaluation writes to the embedded server as it does to HBase, also to a table that it creates itself.
func TestPerformanceEvaluationRunsUnchanged(t *testing.T) {
	loadTools(t)
	s := start(t)
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
	if n < rows/2 || n > rows { // randomWrite draws its keys with repetition: of n, it misses one in e
		t.Errorf("%d rows of %d writes", n, rows)
	}
}

// HBase's LoadTestTool creates a table, writes rows of several columns, changes them and reads them again, which it verifies itself, with
// the embedded server as with HBase.
func TestLoadTestToolRunsUnchanged(t *testing.T) {
	for name, connect := range map[string]func(*testing.T) string{
		"embedded": func(t *testing.T) string { return "rpc://" + start(t).Addr() },
		"real":     func(t *testing.T) string { return testenv.HBase(t) },
	} {
		t.Run(name, func(t *testing.T) {
			jars := loadTools(t)
			connect := connect(t)
			table := testenv.Name(t)
			cmd := jars.Command(t, "org.apache.hadoop.hbase.util.LoadTestTool",
				"-Dhbase.client.registry.impl=org.apache.hadoop.hbase.client.RpcConnectionRegistry",
				"-Dhbase.client.bootstrap.servers="+strings.TrimPrefix(connect, "rpc://"),
				"-tn", table, "-families", "a,b", "-write", "3:64:2", "-update", "30:2", "-read", "100:2", "-num_keys", "500")
			out, err := cmd.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("Failed to write keys: 0")) {
				t.Fatalf("%v\n%s", err, out)
			}
			c, err := hbase.Open(t.Context(), hbase.Options{Connect: connect})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			n := 0
			for row, err := range c.Scan(t.Context(), table, hbase.Scan{}) {
				if err != nil || len(row.Cells) < 4 {
					t.Fatalf("row %q has %d cells, %v", row.Row, len(row.Cells), err)
				}
				n++
			}
			if n != 500 {
				t.Errorf("%d rows of 500", n)
			}
			if err := errors.Join(c.DisableTable(t.Context(), table), c.DeleteTable(t.Context(), table)); err != nil {
				t.Error(err)
			}
		})
	}
}

// loadTools returns HBase's own load tools.
func loadTools(t *testing.T) testenv.Classpath {
	t.Helper()
	java := testenv.Java(t)
	t.Chdir("../..")
	if err := measure.FetchEvaluation(t.Context()); err != nil {
		if os.Getenv("BRINE_REAL") == "required" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return java.And(measure.EvaluationJars)
}

func start(t *testing.T) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
