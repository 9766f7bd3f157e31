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

// Make makes a data folder where there is none, and takes away what others may do with it and with what is in it. It is for
// folders that are the store's alone: never for one that a user may share.
func Make(dir string) error {
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := fileMode
		switch {
		case d.IsDir():
			mode = dirMode
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().Perm()&^mode == 0 {
			return nil
		}
		return errors.Join(err, os.Chmod(path, mode))
	})
}
