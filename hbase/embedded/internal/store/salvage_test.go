package store

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/datadir/datadirtest"
)

func tableSpace(name string, value []byte) (Space, bool) { return Space(value[0]), name == "table" }

// TestSalvage: whatever happens to a file, all rows in the others are saved; if some are missing, the file is named.
func TestSalvage(t *testing.T) {
	for state, dir := range folders(t) {
		t.Run(state, func(t *testing.T) {
			datadirtest.Each(t, dir, []datadirtest.Damage{datadirtest.Gone, datadirtest.Half, datadirtest.FlippedInside}, salvaged)
		})
	}
}

// salvaged salvages a folder with a damaged file.
func salvaged(t *testing.T, dir, name string) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "saved")
	saved, err := Salvage(dir, to, tableSpace)
	if err != nil {
		t.Fatal(err)
	}
	holdsRows := strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".log")
	switch {
	case saved.Rows == damageRows && saved.Cells == damageRows:
	case !holdsRows:
		t.Errorf("%+v, though no file of rows is damaged", saved)
	case !strings.Contains(fmt.Sprint(saved.Lost), name[:6]):
		t.Errorf("%d rows of %d, and %q does not name %s", saved.Rows, damageRows, saved.Lost, name)
	}
	if err := Verify(to); err != nil {
		t.Error(err)
	}
	s, err := Open(Options{Dir: to})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := rowsOf(s); n != saved.Rows || err != nil {
		t.Errorf("%d rows were saved, and %d are there: %v", saved.Rows, n, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestSalvageKeepsDeletions: cells deleted one by one or by range stay deleted, and of a cell written more than once the newest version is
// saved, from sstables and logs alike.
func TestSalvageKeepsDeletions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "hbase")
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.enter()
	if err != nil {
		t.Fatal(err)
	}
	key := func(row string) []byte { return appendCellKey(nil, 2, []byte(row), []byte("f"), []byte("q"), 1, Put) }
	write := func(f func(*Batch) error) {
		b := s.NewBatch()
		if err := f(b); err != nil {
			t.Fatal(err)
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	put := func(row, value string) {
		write(func(b *Batch) error { return b.Add(2, []byte(row), []byte("f"), []byte("q"), 1, Put, []byte(value)) })
	}
	write(func(b *Batch) error { return b.SetRecord("table", []byte{2}) })
	for _, row := range []string{"a", "b", "c", "d"} {
		put(row, "old")
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	write(func(b *Batch) error { return b.b.DeleteRange(key("b"), key("d"), nil) })
	put("c", "new")
	write(func(b *Batch) error { return b.b.Delete(key("d"), nil) })
	put("a", "new")
	l.leave()
	killed := datadirtest.Copy(t, dir)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "saved")
	saved, err := Salvage(killed, to, tableSpace)
	if err != nil || saved.Rows != 2 || len(saved.Lost) > 0 {
		t.Fatalf("%+v, %v", saved, err)
	}
	if s, err = Open(Options{Dir: to}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if l, err = s.enter(); err != nil {
		t.Fatal(err)
	}
	defer l.leave()
	for row, want := range map[string]string{"a": "new", "b": "", "c": "new", "d": ""} {
		value, closer, err := l.db.Get(key(row))
		if got, _, _ := cutTTL(append(value, map[bool]string{true: "\x00"}[err != nil]...)); string(got) != want {
			t.Errorf("row %s has %q, want %q", row, got, want)
		}
		if err == nil {
			closer.Close()
		}
	}
}
