package datadir

import (
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// Layout is the patterns, as path.Match has them, of the names of a store's files and folders in its data folder, with slashes. What
// else is in the folder is somebody else's, and left alone.
type Layout []string

// owns reports whether a file or folder, by its name in the data folder, is the store's.
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

// walk calls f for the store's files and folders in a data folder, but for the lock and the inventory.
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

// EscapeGlob makes of a path a pattern for filepath.Glob that matches it alone.
func EscapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
