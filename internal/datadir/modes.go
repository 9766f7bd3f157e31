package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// What a data folder holds is its owner's alone.
const (
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o600
)

// Make makes a data folder where there is none, and takes away what others may do with the store's files in it, and with the folder
// itself where nothing else is in it.
func (l Layout) Make(dir string) error {
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return err
	}
	if err := l.walk(dir, func(name string, d fs.DirEntry) error { return tighten(filepath.Join(dir, name), d) }); err != nil {
		return err
	}
	for _, name := range []string{lockFile, InventoryFile} {
		if err := os.Chmod(filepath.Join(dir, name), fileMode); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if !l.owns(entry.Name()) {
			return err
		}
	}
	return errors.Join(err, os.Chmod(dir, dirMode))
}

// tighten takes away what others may do with a file or folder.
func tighten(path string, d fs.DirEntry) error {
	mode := fileMode
	if d.IsDir() {
		mode = dirMode
	}
	info, err := d.Info()
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().Perm()&^mode == 0 {
		return nil
	}
	return errors.Join(err, os.Chmod(path, mode))
}
