// Package storetest is a failing disk for tests of the store and of the server on top of it.
package storetest

import (
	"os"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// Disk is the system's file system, except that nothing can be written while Full is set.
type Disk struct {
	vfs.FS
	Full   atomic.Bool
	FailAt atomic.Int64 // number of writes after which Full is set; 0: never
	err    error
}

// NewDisk returns a disk whose writes fail with err.
func NewDisk(err error) *Disk {
	d := &Disk{err: err}
	d.FS = errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(d.inject))
	return d
}

func (d *Disk) inject(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpCreate, errorfs.OpFileWrite, errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo,
		errorfs.OpReuseForWrite, errorfs.OpRename:
	default:
		return nil
	}
	if n := d.FailAt.Add(-1); n == 0 {
		d.Full.Store(true)
	}
	if d.Full.Load() {
		return &os.PathError{Op: "write", Path: op.Path, Err: d.err}
	}
	return nil
}
