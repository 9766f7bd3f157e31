package store

import (
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// folderFS is Pebble's file system for a data folder. It records the lengths of logs and manifests.
//
// A synced commit waits only until the operating system has written the log, not until the disk has, unless fsync is set. Pebble's own
// NoSync would not do, because it acknowledges before the write. This applies only to log files; tables and manifests are always synced.
//
// Logs are neither preallocated nor recycled, so that nothing follows what was written.
type folderFS struct {
	vfs.FS
	fsync   bool
	lengths *lengths
}

func (fs folderFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.Create(name, c)
	base := filepath.Base(name)
	if err != nil || !follows(base) {
		return f, err
	}
	if err := fs.lengths.note(base, 0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &appended{File: f, name: base, lengths: fs.lengths, lazy: !fs.fsync && strings.HasSuffix(base, ".log")}, nil
}

func (fs folderFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := fs.Remove(oldname); err != nil {
		return nil, err
	}
	return fs.Create(newname, c)
}

func (fs folderFS) Remove(name string) error {
	if base := filepath.Base(name); follows(base) {
		if err := fs.lengths.drop(base); err != nil {
			return err
		}
	}
	return fs.FS.Remove(name)
}

// Unwrap is for vfs.Root.
func (fs folderFS) Unwrap() vfs.FS { return fs.FS }

// appended is a log or manifest open for writing.
type appended struct {
	vfs.File
	name    string
	lengths *lengths
	lazy    bool // do not wait for the disk
	written atomic.Int64
}

func (f *appended) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.written.Add(int64(n))
	return n, err
}

func (f *appended) Sync() error {
	if !f.lazy {
		if err := f.File.Sync(); err != nil {
			return err
		}
	}
	return f.lengths.note(f.name, f.written.Load())
}

func (f *appended) SyncData() error {
	if !f.lazy {
		if err := f.File.SyncData(); err != nil {
			return err
		}
	}
	return f.lengths.note(f.name, f.written.Load())
}

func (f *appended) SyncTo(n int64) (bool, error) {
	if f.lazy {
		return true, nil
	}
	return f.File.SyncTo(n)
}

func (*appended) Preallocate(int64, int64) error { return nil }
