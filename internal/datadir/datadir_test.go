package datadir_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"brine/internal/datadir"
)

var layout = datadir.Layout{"a", "sub*", "sub*/*"}

// folder returns a sealed folder of two files, one of them in a subfolder.
func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.MkdirAll(filepath.Join(dir, "sub folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "sub folder/b\n", "LOCK", "else"} {
		if err := os.WriteFile(filepath.Join(dir, name), bytes.Repeat([]byte(name), 100), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := layout.Seal(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestUnsealNamesWhatIsDamaged(t *testing.T) {
	for _, c := range []struct {
		name, file, says string
		damage           func(path string) error
	}{
		{"untouched", "", "", nil},
		{"missing", "a", "missing", os.Remove},
		{"cut", "sub folder/b\n", "it has 7 bytes; it had 1300", func(path string) error { return os.Truncate(path, 7) }},
		{"changed", "a", "its 100 bytes are not those it had", func(path string) error {
			return os.WriteFile(path, bytes.Repeat([]byte("b"), 100), 0o600)
		}},
		{"its inventory cut", "INVENTORY", "no inventory", func(path string) error { return os.Truncate(path, 30) }},
		{"its inventory empty", "INVENTORY", "no inventory", func(path string) error { return os.Truncate(path, 0) }},
		{"what is not the store's", "else", "", os.Remove},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t)
			path := filepath.Join(dir, c.file)
			if c.damage != nil {
				if err := c.damage(path); err != nil {
					t.Fatal(err)
				}
			}
			sealed, err := datadir.Unseal(dir)
			if c.says == "" {
				if again, errAgain := datadir.Unseal(dir); !sealed || again || err != nil || errAgain != nil {
					t.Errorf("sealed %v, then %v: %v, %v", sealed, again, err, errAgain)
				}
				return
			}
			if !errors.Is(err, datadir.ErrDamaged) || !strings.Contains(err.Error(), path+" is damaged") || !strings.Contains(err.Error(), c.says) {
				t.Errorf("sealed %v, error %v", sealed, err)
			}
			if _, again := datadir.Unseal(dir); again == nil || again.Error() != err.Error() {
				t.Errorf("the second time it says %v", again)
			}
		})
	}
}

// TestInventoryFlipped: a changed byte in the inventory never makes a folder pass for another.
func TestInventoryFlipped(t *testing.T) {
	dir := folder(t)
	name := filepath.Join(dir, datadir.InventoryFile)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		flipped := bytes.Clone(text)
		flipped[i] ^= 0xFF
		if err := os.WriteFile(name, flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := datadir.Unseal(dir); !errors.Is(err, datadir.ErrDamaged) {
			t.Fatalf("byte %d flipped: %v", i, err)
		}
	}
}

func TestEscapeGlob(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `[a]*?\b`)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "1.log")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := filepath.Glob(filepath.Join(datadir.EscapeGlob(dir), "*.log")); err != nil || len(found) != 1 || found[0] != name {
		t.Errorf("found %q, %v", found, err)
	}
}

func TestMakeTightens(t *testing.T) {
	for _, c := range []struct {
		name   string
		layout datadir.Layout
		want   map[string]fs.FileMode
	}{
		{"its own", datadir.Layout{"a", "sub", "sub/*"}, map[string]fs.FileMode{".": 0o700, "a": 0o600, "sub": 0o700, "sub/b": 0o600}},
		{"shared", datadir.Layout{"a"}, map[string]fs.FileMode{".": 0o755, "a": 0o600, "sub": 0o755, "sub/b": 0o644}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"a", "sub/b"} {
				if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.layout.Make(dir); err != nil {
				t.Fatal(err)
			}
			for name, want := range c.want {
				info, err := os.Stat(filepath.Join(dir, name))
				if err != nil || info.Mode().Perm() != want {
					t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
				}
			}
		})
	}
}

func TestMakeMakes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x", "data")
	if err := layout.Make(dir); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	lock, err := datadir.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := datadir.Lock(dir); !errors.Is(err, datadir.ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second lock: %v", err)
	}
	copied, err := syscall.Dup(int(lock.(interface{ Fd() uintptr }).Fd())) // as a child has between fork and exec
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(copied) //nolint:errcheck // it is the test's
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if lock, err = datadir.Lock(dir); err != nil || lock.Close() != nil {
		t.Errorf("after the first one is closed: %v", err)
	}
}
