package embedded_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/indexer"
	"brine/indexer/embedded"
)

const damageBatches = 5

// searchFolders are the folder of an engine that was closed, and of one as a kill -9 leaves it.
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
	killed := folderCopy(t, dir)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"closed": dir, "killed": killed}
}

func folderCopy(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "search")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// fileDamages are what may become of a file.
var fileDamages = []struct {
	name string
	do   func(file []byte) []byte // nil: the file is gone
}{
	{"gone", func([]byte) []byte { return nil }},
	{"empty", func([]byte) []byte { return []byte{} }},
	{"a byte less", func(f []byte) []byte { return f[:max(0, len(f)-1)] }},
	{"half", func(f []byte) []byte { return f[:len(f)/2] }},
	{"flipped at its beginning", func(f []byte) []byte { return flipped(f, 0) }},
	{"flipped at 157", func(f []byte) []byte { return flipped(f, 157) }},
	{"flipped in its middle", func(f []byte) []byte { return flipped(f, len(f)/2) }},
	{"flipped at its end", func(f []byte) []byte { return flipped(f, len(f)-16) }},
}

// flipped returns a file with 16 bytes flipped.
func flipped(file []byte, at int) []byte {
	file = bytes.Clone(file)
	for i := max(at, 0); i < min(at+16, len(file)); i++ {
		file[i] ^= 0xFF
	}
	return file
}

// TestDamageIsNeverSilent: whatever becomes of a file, the engine refuses to open and names the folder's file, or every document is there
// as it was.
func TestDamageIsNeverSilent(t *testing.T) {
	for state, dir := range searchFolders(t) {
		refused := 0
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			for _, damage := range fileDamages {
				t.Run(state+"/"+name+"/"+damage.name, func(t *testing.T) {
					if damagedFile(t, folderCopy(t, dir), name, damage.do) {
						refused++
					}
				})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if t.Logf("%s: %d refused", state, refused); refused < 10 {
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
			damagedFile(t, folderCopy(t, dir), name, func(f []byte) []byte { return flipped(f, at) })
		})
	}
}

// damagedFile damages a file of a folder and reports whether that was noticed.
func damagedFile(t *testing.T, dir, name string, do func([]byte) []byte) bool {
	t.Helper()
	path := filepath.Join(dir, name)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := do(file)
	if bytes.Equal(changed, file) && changed != nil {
		return false
	}
	if err = os.WriteFile(path, changed, 0o600); changed == nil {
		err = os.Remove(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	e, err := embedded.Open(embedded.Options{Dir: dir})
	if err == nil {
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		checkBatches(t, dir, damageBatches-1)
		return false
	}
	if !errors.Is(err, embedded.ErrDamaged) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), " is damaged: ") {
		t.Errorf("%v does not name %s", err, path)
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
