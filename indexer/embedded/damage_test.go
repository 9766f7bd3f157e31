package embedded_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/indexer"
	"brine/indexer/embedded"
	"brine/internal/datadir/datadirtest"
)

const damageBatches = 5

// searchFolders returns the folder of an engine that was closed, and one as a kill -9 leaves it.
func searchFolders(t *testing.T) map[string]string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "search")
	e := open(t, dir)
	if err := e.EnsureIndex(t.Context(), indexer.Mapping{Index: "orders", Fields: []indexer.Field{{Name: "status", Type: indexer.Keyword}}}); err != nil {
		t.Fatal(err)
	}
	for batch := range damageBatches {
		ops := batchOps(batch)
		if err := e.Bulk(t.Context(), ops, make([]indexer.Result, len(ops))); err != nil {
			t.Fatal(err)
		}
	}
	killed := datadirtest.Copy(t, dir)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"closed": dir, "killed": killed}
}

// TestDamageIsNeverSilent damages each file: the engine must either refuse to open and name the file, or have every document unchanged.
func TestDamageIsNeverSilent(t *testing.T) {
	for state, dir := range searchFolders(t) {
		refused := 0
		t.Run(state, func(t *testing.T) {
			datadirtest.Each(t, dir, datadirtest.Damages, func(t *testing.T, dir, name string) {
				if noticed(t, dir, name) {
					refused++
				}
			})
		})
		if refused < 10 {
			t.Errorf("%s: only %d damages were noticed", state, refused)
		}
	}
}

// TestRootDamageIsNeverSilent flips every part of root.bolt as a kill -9 leaves it.
func TestRootDamageIsNeverSilent(t *testing.T) {
	dir := searchFolders(t)["killed"]
	name := filepath.Join("orders", "root.bolt")
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < int(info.Size()); at += 512 {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			to := datadirtest.Copy(t, dir)
			datadirtest.Damage{Do: func(f []byte) []byte { return datadirtest.Flipped(f, at) }}.Apply(t, filepath.Join(to, name))
			noticed(t, to, name)
		})
	}
}

// noticed opens a folder with a damaged file, and reports whether the damage was detected.
func noticed(t *testing.T, dir, name string) bool {
	t.Helper()
	e, err := embedded.Open(embedded.Options{Dir: dir})
	if err == nil {
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		checkBatches(t, dir, damageBatches-1)
		return false
	}
	if !errors.Is(err, embedded.ErrDamaged) || !strings.Contains(err.Error(), filepath.Join(dir, name)) || !strings.Contains(err.Error(), " is damaged: ") {
		t.Errorf("%v does not name %s", err, name)
	}
	return true
}

func FuzzRoot(f *testing.F) {
	name := filepath.Join("orders", "root.bolt")
	dir := f.TempDir()
	e := open(f, dir)
	if err := e.EnsureIndex(f.Context(), indexer.Mapping{Index: "orders"}); err != nil {
		f.Fatal(err)
	}
	if err := e.Close(); err != nil {
		f.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		f.Fatal(err)
	}
	if err := embedded.CheckRoot(filepath.Join(dir, name)); err != nil {
		f.Fatal(err)
	}
	f.Add(file[:8192])
	f.Add([]byte{})
	to := filepath.Join(f.TempDir(), "root.bolt")
	f.Fuzz(func(t *testing.T, file []byte) {
		if err := os.WriteFile(to, file, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := embedded.CheckRoot(to); err != nil && !errors.Is(err, embedded.ErrDamaged) {
			t.Error(err)
		}
	})
}

// TestRepair checks that a damaged index is moved aside, that the engine opens without it, and that another one stays.
func TestRepair(t *testing.T) {
	dir := searchFolders(t)["closed"]
	e := open(t, dir)
	if err := e.EnsureIndex(t.Context(), indexer.Mapping{Index: "users"}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	aside := dir + ".damaged"
	if moved, err := embedded.Repair(dir, aside); len(moved) > 0 || err != nil {
		t.Fatalf("nothing is damaged: %v, %v", moved, err)
	}
	root := filepath.Join("users", "root.bolt")
	if err := os.Truncate(filepath.Join(dir, root), 100); err != nil {
		t.Fatal(err)
	}
	moved, err := embedded.Repair(dir, aside)
	if err != nil || len(moved) != 1 || moved[0].Index != "users" || !errors.Is(moved[0].Err, embedded.ErrDamaged) {
		t.Fatalf("%v, %v", moved, err)
	}
	if info, err := os.Stat(filepath.Join(aside, root)); err != nil || info.Size() != 100 {
		t.Errorf("%v, %v", info, err)
	}
	checkBatches(t, dir, damageBatches-1)
}
