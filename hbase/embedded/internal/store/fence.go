package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// fence stands between one life of the store and its folder. After the first failed write or sync it lets nothing through, but reports
// success to Pebble: Pebble must neither continue to write after the failure, nor end the process or wait forever, as it does on errors. A
// commit checks the fence before it is acknowledged.
type fence struct {
	failed func()       // called once, by a goroutine that may hold any of Pebble's locks
	opened atomic.Bool  // until then errors are returned to Pebble, which reports them
	writes sync.RWMutex // held shared by each operation in progress
	err    atomic.Pointer[error]
}

// cause returns why the fence is shut, or nil if it is not.
func (f *fence) cause() error {
	if f == nil {
		return nil
	}
	if err := f.err.Load(); err != nil {
		return *err
	}
	return nil
}

// drain waits for the operations in progress. The fence must be shut.
func (f *fence) drain() {
	f.writes.Lock()
	defer f.writes.Unlock()
}

// pass runs an operation on a file unless the fence is shut, and shuts the fence if the operation fails.
func (f *fence) pass(name string, operation func() error) error {
	f.writes.RLock()
	defer f.writes.RUnlock()
	if f.cause() != nil {
		return nil
	}
	err := operation()
	if err == nil {
		return nil
	}
	f.shut(name, err)
	if f.opened.Load() {
		return nil
	}
	return err
}

func (f *fence) shut(name string, err error) {
	if path := (*fs.PathError)(nil); !errors.As(err, &path) {
		err = fmt.Errorf("%s: %w", name, err)
	}
	if f.err.CompareAndSwap(nil, &err) {
		f.failed()
	}
}

// fencedFS is a file system behind a fence. The folder's lock belongs to the store, which holds it from life to life.
type fencedFS struct {
	vfs.FS
	fence *fence
}

// create runs an operation that creates a file. If the fence is shut it returns a nowhere.
func (fs fencedFS) create(name string, operation func() (vfs.File, error)) (vfs.File, error) {
	made := vfs.File(nowhere{name: name})
	err := fs.fence.pass(name, func() error {
		f, err := operation()
		if err == nil {
			made = fencedFile{File: f, name: name, fence: fs.fence}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

func (fs fencedFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.create(name, func() (vfs.File, error) { return fs.FS.Create(name, c) })
}

func (fs fencedFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.create(newname, func() (vfs.File, error) { return fs.FS.ReuseForWrite(oldname, newname, c) })
}

func (fs fencedFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return fs.create(name, func() (vfs.File, error) { return fs.FS.OpenReadWrite(name, c, opts...) })
}

func (fs fencedFS) OpenDir(name string) (vfs.File, error) {
	f, err := fs.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return fencedFile{File: f, name: name, fence: fs.fence}, nil
}

func (fs fencedFS) Link(oldname, newname string) error {
	return fs.fence.pass(newname, func() error { return fs.FS.Link(oldname, newname) })
}

func (fs fencedFS) Rename(oldname, newname string) error {
	return fs.fence.pass(newname, func() error { return fs.FS.Rename(oldname, newname) })
}

func (fs fencedFS) MkdirAll(dir string, perm os.FileMode) error {
	return fs.fence.pass(dir, func() error { return fs.FS.MkdirAll(dir, perm) })
}

// Remove and RemoveAll pass their errors on, because a failure wastes only space.
func (fs fencedFS) Remove(name string) error {
	return fs.remove(func() error { return fs.FS.Remove(name) })
}

func (fs fencedFS) RemoveAll(name string) error {
	return fs.remove(func() error { return fs.FS.RemoveAll(name) })
}

func (fs fencedFS) remove(operation func() error) error {
	fs.fence.writes.RLock()
	defer fs.fence.writes.RUnlock()
	if fs.fence.cause() != nil {
		return nil
	}
	return operation()
}

func (fs fencedFS) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

// Unwrap is for vfs.Root.
func (fs fencedFS) Unwrap() vfs.FS { return fs.FS }

// fencedFile is a file open for writing, or a folder.
type fencedFile struct {
	vfs.File
	name  string
	fence *fence
}

func (f fencedFile) pass(operation func() error) error { return f.fence.pass(f.name, operation) }

func (f fencedFile) Write(p []byte) (int, error) {
	return len(p), f.pass(func() error { _, err := f.File.Write(p); return err })
}

func (f fencedFile) WriteAt(p []byte, at int64) (int, error) {
	return len(p), f.pass(func() error { _, err := f.File.WriteAt(p, at); return err })
}

func (f fencedFile) Preallocate(at, n int64) error {
	if f.fence.cause() != nil {
		return nil //nolint:nilerr // the next write returns the cause
	}
	return f.File.Preallocate(at, n) // without it the file is only slower to write
}

func (f fencedFile) Sync() error     { return f.pass(f.File.Sync) }
func (f fencedFile) SyncData() error { return f.pass(f.File.SyncData) }

func (f fencedFile) SyncTo(n int64) (full bool, err error) {
	err = f.pass(func() error { full, err = f.File.SyncTo(n); return err })
	return full, err
}

func (f fencedFile) Close() error {
	if f.fence.cause() != nil {
		_ = f.File.Close() // no data can be lost
		return nil         //nolint:nilerr // the call that failed returned the cause
	}
	return f.pass(f.File.Close)
}

// nowhere is a file created behind a shut fence.
type nowhere struct {
	vfs.File
	name string
}

func (nowhere) Write(p []byte) (int, error)            { return len(p), nil }
func (nowhere) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (nowhere) Read([]byte) (int, error)               { return 0, io.EOF }
func (nowhere) ReadAt([]byte, int64) (int, error)      { return 0, io.EOF }
func (nowhere) Preallocate(int64, int64) error         { return nil }
func (nowhere) Prefetch(int64, int64) error            { return nil }
func (nowhere) Sync() error                            { return nil }
func (nowhere) SyncData() error                        { return nil }
func (nowhere) SyncTo(int64) (bool, error)             { return true, nil }
func (nowhere) Close() error                           { return nil }
func (nowhere) Fd() uintptr                            { return vfs.InvalidFd }
func (f nowhere) Stat() (vfs.FileInfo, error)          { return emptyFile(f), nil }

type emptyFile nowhere

func (f emptyFile) Name() string         { return f.name }
func (emptyFile) Size() int64            { return 0 }
func (emptyFile) Mode() os.FileMode      { return 0o600 }
func (emptyFile) ModTime() time.Time     { return time.Time{} }
func (emptyFile) IsDir() bool            { return false }
func (emptyFile) Sys() any               { return nil }
func (emptyFile) DeviceID() vfs.DeviceID { return vfs.DeviceID{} }

// fencedLog keeps Pebble from ending the process because of a folder behind a shut fence.
type fencedLog struct {
	pebble.Logger
	fence *fence
}

func (l fencedLog) Fatalf(format string, args ...any) {
	if l.fence.cause() == nil {
		l.Logger.Fatalf(format, args...)
	}
}
