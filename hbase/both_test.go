package hbase_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/internal/testenv"
)

// onBoth runs a test on the embedded server, on a real HBase, and on the same HBase found through its ZooKeeper. Each run has its own table
// name, and the table is deleted afterwards.
func onBoth(t *testing.T, f func(t *testing.T, c *hbase.Client, table string)) {
	for name, connect := range map[string]func(*testing.T) string{
		"embedded":  func(t *testing.T) string { s, _ := start(t, embedded.Options{}); return "rpc://" + s.Addr() },
		"real":      func(t *testing.T) string { return testenv.HBase(t) },
		"zookeeper": func(t *testing.T) string { return testenv.HBaseZooKeeper(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of the time is spent waiting for masters
			c := dial(t, connect(t))
			table := testenv.Name(t)
			t.Cleanup(func() { drop(t, c, table) })
			f(t, c, table)
		})
	}
}

func drop(t testing.TB, c *hbase.Client, table string) {
	ctx := context.Background()
	if err := c.DisableTable(ctx, table); err != nil && !errors.Is(err, hbase.ErrDisabled) && !errors.Is(err, hbase.ErrNoTable) {
		t.Errorf("disable %s: %v", table, err)
	}
	if err := c.DeleteTable(ctx, table); err != nil && !errors.Is(err, hbase.ErrNoTable) {
		t.Errorf("delete %s: %v", table, err)
	}
}

func create(t testing.TB, c *hbase.Client, table string, splits ...string) {
	t.Helper()
	var keys [][]byte
	for _, s := range splits {
		keys = append(keys, []byte(s))
	}
	versions := map[string]string{"VERSIONS": "5"}
	spec := hbase.Table{Name: table, Families: []hbase.Family{{Name: "e", Values: versions}, {Name: "f", Values: versions}}}
	if err := c.CreateTable(t.Context(), spec, keys); err != nil {
		t.Fatal(err)
	}
}

// put writes cells given as "row family:qualifier timestamp value", one mutation each.
func put(t testing.TB, c *hbase.Client, table string, cells ...string) {
	t.Helper()
	failed, err := c.Submit(t.Context(), batch(t, table, cells...)).Wait(t.Context())
	if err != nil || failed != nil {
		t.Fatal(failed, err)
	}
}

func batch(t testing.TB, table string, cells ...string) *hbase.Batch {
	t.Helper()
	b := hbase.NewBatch(table)
	for _, cell := range cells {
		var row, column, value string
		var ts int64
		if _, err := fmt.Sscan(cell, &row, &column, &ts, &value); err != nil {
			t.Fatal(cell, err)
		}
		family, qualifier, _ := strings.Cut(column, ":")
		b.Mutate([]byte(row))
		b.Put([]byte(family), []byte(qualifier), ts, []byte(value))
	}
	return b
}

// read returns the cells of a scan as "row family:qualifier=value", in order.
func read(t testing.TB, c *hbase.Client, table string, s hbase.Scan) string {
	t.Helper()
	var out []string
	for r, err := range c.Scan(t.Context(), table, s) {
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range r.Cells {
			out = append(out, fmt.Sprintf("%s %s:%s=%s", k.Row, k.Family, k.Qualifier, k.Value))
		}
	}
	return strings.Join(out, ", ")
}

func columnOf(family, qualifier string) (f, q []byte) { return []byte(family), []byte(qualifier) }
