package datadir

import (
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// Layout is the patterns, in the syntax of path.Match with slashes, of the names of a store's files and folders in its data folder. Other
// files in the folder belong to somebody else and are left alone.
type Layout []string

// owns reports whether a file or folder, given by its name in the data folder, belongs to the store.
func (l Layout) owns(name string) bool {
	if name == lockFile || name == InventoryFile {
		return true
	}
	for _, pattern := range l {
		if ok, _ := path.Match(pattern, filepath.ToSlash(name)); ok {
			return true
		}
	}
	return false
}

// walk calls f for the store's files and folders in a data folder, except the lock and the inventory.
func (l Layout) walk(dir string, f func(name string, d fs.DirEntry) error) error {
	return filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == dir {
			return err
		}
		name, err := filepath.Rel(dir, at)
		switch {
		case err != nil:
			return err
		case name == lockFile, name == InventoryFile:
			return nil
		case !l.owns(name) && d.IsDir():
			return fs.SkipDir
		case !l.owns(name), !d.IsDir() && !d.Type().IsRegular():
			return nil
		}
		return f(name, d)
	})
}

// EscapeGlob returns a pattern for filepath.Glob that matches only path.
func EscapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
