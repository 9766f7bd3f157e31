package embedded_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"brine/indexer"
)

// TestKilled checks that what was acknowledged before a kill -9 exists afterwards. The child process runs this test's binary.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("BRINE_TEST_KILLED_DIR"); dir != "" {
		writeForEver(t, dir)
	}
	dir := t.TempDir()
	for round := range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		child := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestKilled$")
		child.Env = append(os.Environ(), "BRINE_TEST_KILLED_DIR="+dir)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		acknowledged := -1
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if _, err := fmt.Sscanf(lines.Text(), "acknowledged %d", &acknowledged); err != nil {
				t.Fatalf("%v: %s", err, lines.Text())
			}
			if acknowledged >= 30+20*round {
				_ = child.Process.Kill()
			}
		}
		_ = child.Wait()
		if acknowledged < 30 {
			t.Fatalf("the child acknowledged %d batches", acknowledged)
		}
		checkBatches(t, dir, acknowledged)
	}
}

const batchSize = 20

func batchOps(batch int) []indexer.Op {
	var ops []indexer.Op
	for i := range batchSize {
		ops = append(ops, indexer.Op{
			Kind: indexer.Put, Index: "orders", ID: fmt.Appendf(nil, "%d", i), Version: int64(batch),
			Source: fmt.Appendf(nil, `{"_ver":%d,"status":"s%d"}`, batch, batch),
		}, indexer.Op{
			Kind: indexer.Put, Index: "orders", ID: fmt.Appendf(nil, "%d-%d", batch, i), Version: 1,
			Source: fmt.Appendf(nil, `{"_ver":1,"status":"s%d"}`, batch),
		})
	}
	return ops
}

// writeForEver replaces the same documents and adds new ones, and prints what is acknowledged, until it is killed.
func writeForEver(t *testing.T, dir string) {
	e := open(t, dir)
	if err := e.EnsureIndex(t.Context(), indexer.Mapping{Index: "orders", Fields: []indexer.Field{{Name: "status", Type: indexer.Keyword}}}); err != nil {
		t.Fatal(err)
	}
	for batch := 0; batch < 100_000; batch++ {
		ops := batchOps(batch)
		if err := e.Bulk(t.Context(), ops, make([]indexer.Result, len(ops))); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("acknowledged %d\n", batch)
	}
	t.Fatal("nobody has killed it")
}

func checkBatches(t *testing.T, dir string, acknowledged int) {
	t.Helper()
	e := open(t, dir)
	defer e.Close()
	for batch := range acknowledged + 1 {
		ops := batchOps(batch)
		refs, docs := make([]indexer.Ref, len(ops)), make([]indexer.Stored, len(ops))
		for i, o := range ops {
			refs[i] = indexer.Ref{Index: o.Index, ID: o.ID}
		}
		if err := e.Get(t.Context(), refs, docs); err != nil {
			t.Fatal(err)
		}
		results := make([]indexer.Result, len(ops))
		for i, doc := range docs {
			if !doc.Found {
				t.Fatalf("batch %d was acknowledged, document %s is not there", batch, refs[i].ID)
			}
		}
		if batch < acknowledged {
			continue
		}
		for i := range ops { // the previous version is stale
			ops[i].Version--
		}
		if err := e.Bulk(t.Context(), ops, results); err != nil {
			t.Fatal(err)
		}
		for i, r := range results {
			if r.Status != 409 {
				t.Errorf("document %s: status %d for a version before the acknowledged one", ops[i].ID, r.Status)
			}
		}
	}
}
