package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"brine/internal/datadir/datadirtest"
)

const damageRows = 900

// writeRows fills a folder: sstables, and a log with rows that have not been flushed.
func writeRows(t *testing.T, s *Store) {
	t.Helper()
	b := s.NewBatch()
	if err := errors.Join(b.SetRecord("table", []byte{2}), b.Commit()); err != nil {
		t.Fatal(err)
	}
	for n := range damageRows {
		b := s.NewBatch()
		row := fmt.Appendf(nil, "row %06d", n)
		if err := b.Add(2, row, []byte("f"), []byte("q"), int64(n), Put, bytes.Repeat(row, 20)); err != nil {
			t.Fatal(err)
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
		if n == damageRows/3 || n == 2*damageRows/3 {
			if err := s.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// rowsOf returns the number of rows in a folder.
func rowsOf(s *Store) (n int, err error) {
	it, err := s.life.Load().db.NewIter(&pebble.IterOptions{LowerBound: []byte{cellPrefix}})
	if err != nil {
		return 0, err
	}
	for it.First(); it.Valid(); it.Next() {
		n++
	}
	return n, errors.Join(it.Error(), it.Close())
}

// folders returns the folder of a store that was closed, and one as a kill -9 leaves it.
func folders(t *testing.T) map[string]string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "closed")
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	writeRows(t, s)
	killed := datadirtest.Copy(t, dir)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"closed": dir, "killed": killed}
}

// TestDamageIsNeverSilent: whatever happens to a file, either opening or reading the store fails with an error that names the file, or
// every row is there.
func TestDamageIsNeverSilent(t *testing.T) {
	for state, dir := range folders(t) {
		refused := 0
		t.Run(state, func(t *testing.T) {
			datadirtest.Each(t, dir, datadirtest.Damages, func(t *testing.T, dir, name string) {
				if noticed(t, dir, name) {
					refused++
				}
			})
		})
		if refused < 40 {
			t.Errorf("%s: only %d damages were noticed", state, refused)
		}
	}
}

// noticed opens and reads a folder with a damaged file, and reports whether the damage was noticed.
func noticed(t *testing.T, dir, name string) bool {
	t.Helper()
	tables, _ := filepath.Glob(filepath.Join(dir, "*.sst"))
	var is error
	s, err := Open(Options{Dir: dir, Damaged: func(err error) { is = err }})
	n := 0
	if err == nil {
		n, err = rowsOf(s)
		_ = s.Close() // background work may have failed
	} else {
		is = err
	}
	switch {
	case err == nil && n == damageRows:
		return false
	case err == nil:
		t.Fatalf("%d rows of %d, and no error", n, damageRows)
	case !errors.Is(is, ErrDamaged):
		t.Fatalf("%v: %v is no damage", err, is)
	}
	kind, _, _ := strings.Cut(name, ".0") // the content of a marker is in its name
	if !strings.Contains(is.Error(), filepath.Join(dir, kind)) && !strings.Contains(is.Error(), strings.TrimSuffix(name, ".sst")) {
		t.Errorf("%q does not name %s", is, name)
	}
	if strings.Contains(is.Error(), "\n") {
		t.Errorf("more than a line: %q", is)
	}
	for _, table := range tables {
		if _, err := os.Stat(table); err != nil {
			t.Errorf("%s is gone after the refusal: %v", table, err)
		}
	}
	return true
}

// older converts a folder to the previous format.
func older(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{lengthsFile, "INVENTORY"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, formatFile), []byte("2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestOlderFolder: a folder of the previous format opens with all rows and is checked from then on. It is refused if its manifest is
// damaged.
func TestOlderFolder(t *testing.T) {
	for state, dir := range folders(t) {
		broken := datadirtest.Copy(t, dir)
		older(t, broken)
		datadirtest.FlippedInside.Apply(t, filepath.Join(broken, "MANIFEST-000001"))
		if !noticed(t, broken, "MANIFEST-000001") {
			t.Errorf("%s: a damaged manifest was not noticed", state)
		}
		older(t, dir)
		s, err := Open(Options{Dir: dir})
		if err != nil {
			t.Fatalf("%s: %v", state, err)
		}
		if n, err := rowsOf(s); n != damageRows || err != nil {
			t.Errorf("%s: %d rows of %d, error %v", state, n, damageRows, err)
		}
		killed := datadirtest.Copy(t, dir)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		datadirtest.Gone.Apply(t, filepath.Join(killed, lengthsFile))
		if !noticed(t, killed, lengthsFile) {
			t.Errorf("%s: without its lengths the folder opens", state)
		}
	}
}

func FuzzLengths(f *testing.F) {
	f.Add([]byte{})
	l := &lengths{}
	dir := f.TempDir()
	opened, err := openLengths(dir)
	if err != nil {
		f.Fatal(err)
	}
	if err := errors.Join(opened.note("MANIFEST-000001", 12), opened.note("000002.log", 1<<40), opened.close()); err != nil {
		f.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join(dir, lengthsFile))
	if err != nil {
		f.Fatal(err)
	}
	if !l.decode(file) || fmt.Sprint(l.of) != "[{MANIFEST-000001 12} {000002.log 1099511627776}]" {
		f.Fatalf("%v", l.of)
	}
	f.Add(file)
	f.Fuzz(func(t *testing.T, file []byte) {
		l := &lengths{}
		if whole := l.decode(file); !whole && l.of != nil {
			t.Errorf("%v of a file that is not whole", l.of)
		}
	})
}

func FuzzChunks(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 5, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, file []byte) {
		if to := readableTo(file); to < 0 || to > len(file) {
			t.Errorf("readable to %d of %d", to, len(file))
		}
	})
}
