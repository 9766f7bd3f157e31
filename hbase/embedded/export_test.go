package embedded

import "brine/hbase/embedded/internal/store"

// StartFailing is Start with a store whose commits fail when the function says so.
func StartFailing(o Options, beforeCommit func() error) (*Server, error) {
	o = o.withDefaults()
	st, err := store.Open(store.Options{Dir: o.Dir, Fsync: o.Fsync, Log: o.Logger, BeforeCommit: beforeCommit})
	if err != nil {
		return nil, err
	}
	return startOn(o, st)
}
