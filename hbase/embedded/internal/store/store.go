package store

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"brine/internal/datadir"
)

// Options say where the store is.
type Options struct {
	Dir   string // empty: in memory
	Fsync bool   // commits wait for the disk, not only for the operating system
	Log   pebble.Logger

	// Damaged, when set, is called once, with an ErrDamaged that names the file, when a table is found damaged while it is read. It
	// must not block or call the store.
	Damaged func(error)

	// BeforeCommit, when set, is asked before each commit of a Batch, which fails with its error: for tests of what a crash
	// leaves.
	BeforeCommit func() error
}

// Store is an open store. It is safe for concurrent use.
type Store struct {
	db           *pebble.DB
	tails        bool         // values have TTLs behind them
	dir          string       // empty: in memory, without what follows
	lock         *pebble.Lock // of the folder
	lengths      *lengths
	beforeCommit func() error // may be nil
}

// Open opens or creates a store.
func Open(o Options) (*Store, error) {
	opts := &pebble.Options{
		FS:                    vfs.NewMem(),
		CacheSize:             16 << 20,
		MemTableSize:          16 << 20,
		L0CompactionThreshold: 4,
		MaxOpenFiles:          256,
		FormatMajorVersion:    pebble.FormatColumnarBlocks,
		Logger:                o.Log,
	}
	if o.Log == nil {
		opts.Logger = quiet{}
	}
	if o.Damaged != nil {
		opts.EventListener = damageListener(o.Damaged)
	}
	if o.Dir == "" {
		db, err := pebble.Open("", opts)
		if err != nil {
			return nil, err
		}
		return &Store{db: db, tails: true, beforeCommit: o.BeforeCommit}, nil
	}
	lock, err := lockDir(o.Dir, vfs.Default)
	if err != nil {
		return nil, err
	}
	opts.Lock = lock
	s, err := openDir(o, opts)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	s.lock = lock
	return s, nil
}

func damageListener(damaged func(error)) *pebble.EventListener {
	var once sync.Once
	return &pebble.EventListener{DataCorruption: func(i pebble.DataCorruptionInfo) {
		once.Do(func() { damaged(datadir.Damaged(i.Path, "%v", i.Details)) })
	}}
}

func lockDir(dir string, fs vfs.FS) (*pebble.Lock, error) {
	if err := datadir.Make(dir); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	lock, err := pebble.LockDirectory(dir, fs)
	switch {
	case err == nil:
		return lock, nil
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EACCES) && !os.IsPermission(rootOf(err)), strings.Contains(err.Error(), "held by current process"):
		return nil, fmt.Errorf("%s: %w", dir, ErrInUse)
	default:
		return nil, fmt.Errorf("data folder %s: %w", dir, err)
	}
}

// rootOf gives err when it is about a path: then EACCES means a forbidden folder, not a lock that is held.
func rootOf(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path
	}
	return nil
}

// Close closes the store; readers must be closed before. A folder that is closed without an error is sealed.
func (s *Store) Close() error {
	err := s.db.Close()
	if s.dir == "" {
		return err
	}
	if err = errors.Join(err, s.lengths.close()); err == nil {
		err = datadir.Seal(s.dir)
	}
	return errors.Join(err, s.lock.Close())
}

// Flush writes the memtable to disk.
func (s *Store) Flush() error { return s.db.Flush() }

// Record gives the catalogue's record of that name, nil when there is none.
func (s *Store) Record(name string) ([]byte, error) {
	v, closer, err := s.db.Get(recordKey(name))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	return append([]byte{}, v...), nil
}

// Records gives all records whose name begins with prefix, in order, to f.
func (s *Store) Records(prefix string, f func(name string, value []byte) error) error {
	lower := recordKey(prefix)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: append(append([]byte{}, lower...), 0xFF)})
	if err != nil {
		return err
	}
	for it.First(); it.Valid(); it.Next() {
		if err := f(string(it.Key()[1:]), append([]byte{}, it.Value()...)); err != nil {
			return errors.Join(err, it.Close())
		}
	}
	return it.Close()
}

// Bytes estimates the disk space of the rows [start, stop) of a space; nil bounds mean its ends.
func (s *Store) Bytes(space Space, start, stop []byte) uint64 {
	r := Range{Start: start, Stop: stop}
	n, err := s.db.EstimateDiskUsage(r.lower(space), r.upper(space))
	if err != nil {
		return 0 // an estimate for statistics; the reads of the data report a broken store
	}
	return n
}

func recordKey(name string) []byte { return append([]byte{recordPrefix}, name...) }

// quiet drops Pebble's chatter; a fatal message still ends the process.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, args ...any) {
	panic("embedded store: " + fmt.Sprintf(format, args...))
}
