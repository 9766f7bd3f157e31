package embedded

import (
	"github.com/cockroachdb/pebble/v2/vfs"

	"brine/hbase/embedded/internal/store"
)

// StartOnDisk is Start on a file system.
func StartOnDisk(o Options, fs vfs.FS) (*Server, error) {
	o = o.withDefaults()
	st, err := store.Open(store.Options{Dir: o.Dir, Fsync: o.Fsync, Log: o.Logger, Warn: o.Warn, FS: fs})
	if err != nil {
		return nil, err
	}
	return startOn(o, st)
}

// StartFailing is Start with a store whose commits fail when the function says so.
func StartFailing(o Options, beforeCommit func() error) (*Server, error) {
	o = o.withDefaults()
	st, err := store.Open(store.Options{Dir: o.Dir, Fsync: o.Fsync, Log: o.Logger, BeforeCommit: beforeCommit})
	if err != nil {
		return nil, err
	}
	return startOn(o, st)
}
