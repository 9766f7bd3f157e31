// Package datadirtest damages data folders and fills their disks, for tests of the embedded stores.
package datadirtest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Damage is a way to damage a file.
type Damage struct {
	Name string
	Do   func(file []byte) []byte // nil: remove the file
}

// Damages are the kinds of damage. None of them may go unnoticed if it loses something.
var Damages = []Damage{
	Gone,
	{"empty", func([]byte) []byte { return []byte{} }},
	{"a byte less", func(f []byte) []byte { return f[:max(0, len(f)-1)] }},
	Half,
	{"flipped at its beginning", func(f []byte) []byte { return Flipped(f, 0) }},
	{"flipped at 157", func(f []byte) []byte { return Flipped(f, 157) }},
	FlippedInside,
	{"flipped before its end", func(f []byte) []byte { return Flipped(f, len(f)-40) }},
	{"flipped at its end", func(f []byte) []byte { return Flipped(f, len(f)-16) }},
}

// Three of them, for slow tests.
var (
	Gone          = Damage{"gone", func([]byte) []byte { return nil }}
	Half          = Damage{"half", func(f []byte) []byte { return f[:len(f)/2] }}
	FlippedInside = Damage{"flipped in its middle", func(f []byte) []byte { return Flipped(f, len(f)/2) }}
)

// Flipped returns a file with 16 bytes flipped.
func Flipped(file []byte, at int) []byte {
	file = bytes.Clone(file)
	for i := max(at, 0); i < min(at+16, len(file)); i++ {
		file[i] ^= 0xFF
	}
	return file
}

// Apply damages a file and reports whether that changed it.
func (d Damage) Apply(t testing.TB, path string) bool {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := d.Do(file)
	if damaged == nil {
		err = os.Remove(path)
	} else {
		err = os.WriteFile(path, damaged, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return damaged == nil || !bytes.Equal(damaged, file)
}

// Each damages each file of a folder in each way, every time in a new copy of the folder. If the damage changes the file, Each calls f with
// the copy and the file's name in it.
func Each(t *testing.T, dir string, damages []Damage, f func(t *testing.T, dir, name string)) {
	t.Helper()
	for _, name := range files(t, dir) {
		for _, damage := range damages {
			t.Run(name+"/"+damage.Name, func(t *testing.T) {
				to := Copy(t, dir)
				if damage.Apply(t, filepath.Join(to, name)) {
					f(t, to, name)
				}
			})
		}
	}
}

func files(t testing.TB, dir string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Copy copies a folder. If the folder is in use, the copy is what a kill -9 would leave: Copy repeats until nothing changed meanwhile.
func Copy(t testing.TB, dir string) string {
	t.Helper()
	var err error
	for range 1000 {
		to := filepath.Join(t.TempDir(), filepath.Base(dir))
		before := look(dir)
		if err = os.CopyFS(to, os.DirFS(dir)); err == nil && look(dir) == before {
			own(t, to)
			return to
		}
	}
	t.Fatalf("%s does not keep still: %v", dir, err)
	return ""
}

// own restricts a folder to its owner, as data folders are.
func own(t testing.TB, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		mode := fs.FileMode(0o600)
		if err == nil && d.IsDir() {
			mode = 0o700
		}
		return errors.Join(err, os.Chmod(path, mode))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// look returns a description of the files in a folder and their modification times.
func look(dir string) (is string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // a file that disappears meanwhile changes the description
		if err == nil {
			if info, err := d.Info(); err == nil {
				is += fmt.Sprintln(path, info.Size(), info.ModTime().UnixNano())
			}
		}
		return nil
	})
	return is
}
