package embedded

import (
	"github.com/cockroachdb/pebble/v2/vfs"
	"google.golang.org/protobuf/proto"

	"brine/hbase/embedded/internal/store"
)

// StartOnDisk is Start on a file system.
func StartOnDisk(o Options, fs vfs.FS) (*Server, error) {
	o.EnsureDefaults()
	st, err := store.Open(store.Options{Dir: o.Dir, Fsync: o.Fsync, Log: o.Logger, Warn: o.Warn, FS: fs})
	if err != nil {
		return nil, err
	}
	return startOn(o, st)
}

// StartFailing is Start with a store whose commits fail if beforeCommit does.
func StartFailing(o Options, beforeCommit func() error) (*Server, error) {
	o.EnsureDefaults()
	st, err := store.Open(store.Options{Dir: o.Dir, Fsync: o.Fsync, Log: o.Logger, BeforeCommit: beforeCommit})
	if err != nil {
		return nil, err
	}
	return startOn(o, st)
}

// Methods returns new parameters of all methods, by service and name.
func Methods() map[string]map[string]proto.Message {
	all := make(map[string]map[string]proto.Message)
	for service, methods := range services {
		all[service] = make(map[string]proto.Message)
		for name, m := range methods {
			all[service][name] = m.param()
		}
	}
	return all
}

// MergeTwice merges a family of methods with itself.
func MergeTwice() { merge(getMethods, getMethods) }
