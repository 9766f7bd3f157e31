package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Only the owner of a data folder may access its contents.
const (
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o600
)

// Make creates a data folder if it is missing. It removes the permissions of other users from the store's files in it, and from the folder
// itself if it contains nothing else.
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

// tighten removes the permissions of other users from a file or folder.
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
