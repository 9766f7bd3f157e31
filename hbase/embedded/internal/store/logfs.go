package store

import (
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// logFS makes a synced commit wait for the operating system's write of the log, not for the disk, unless fsync is set.
// Pebble's own NoSync would not do: it acknowledges before the write. Only log files are treated so; tables and manifests
// are always synced, and a log whose end is missing after a power failure is read up to there.
type logFS struct {
	vfs.FS
	fsync bool
}

func (fs logFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.Create(name, c)
	return fs.wrap(name, f), err
}

func (fs logFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.ReuseForWrite(oldname, newname, c)
	return fs.wrap(newname, f), err
}

// Unwrap is for vfs.Root.
func (fs logFS) Unwrap() vfs.FS { return fs.FS }

func (fs logFS) wrap(name string, f vfs.File) vfs.File {
	if fs.fsync || f == nil || !strings.HasSuffix(name, ".log") {
		return f
	}
	return logFile{f}
}

type logFile struct{ vfs.File }

func (logFile) Sync() error                { return nil }
func (logFile) SyncData() error            { return nil }
func (logFile) SyncTo(int64) (bool, error) { return true, nil }
