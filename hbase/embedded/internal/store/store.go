package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Errors of Open that callers test with errors.Is.
var (
	ErrInUse       = errors.New("data folder is in use")
	ErrNewerFormat = errors.New("data folder was written by a newer version")
)

// format is the version of the layout in doc.go. A folder with a greater one is refused; one with a smaller one keeps it.
const format = 2

const formatWithoutTTLs = 1

const formatFile = "BRINE-FORMAT"

// Options say where the store is.
type Options struct {
	Dir   string // empty: in memory
	Fsync bool   // commits wait for the disk, not only for the operating system
	Log   pebble.Logger

	// BeforeCommit, when set, is asked before each commit of a Batch, which fails with its error: for tests of what a crash
	// leaves.
	BeforeCommit func() error
}

// Store is an open store. It is safe for concurrent use.
type Store struct {
	db           *pebble.DB
	tails        bool         // values have TTLs behind them
	lock         *pebble.Lock // of the folder; nil in memory
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
	if o.Dir == "" {
		db, err := pebble.Open("", opts)
		if err != nil {
			return nil, err
		}
		return &Store{db: db, tails: true, beforeCommit: o.BeforeCommit}, nil
	}
	opts.FS = logFS{FS: vfs.Default, fsync: o.Fsync}
	lock, err := lockDir(o.Dir, opts.FS)
	if err != nil {
		return nil, err
	}
	opts.Lock = lock
	db, n, err := openDir(o.Dir, opts)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &Store{db: db, tails: n > formatWithoutTTLs, lock: lock, beforeCommit: o.BeforeCommit}, nil
}

func lockDir(dir string, fs vfs.FS) (*pebble.Lock, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
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

// openDir opens a folder and gives its format.
func openDir(dir string, opts *pebble.Options) (db *pebble.DB, n int, err error) {
	name := filepath.Join(dir, formatFile)
	text, err := os.ReadFile(name)
	switch {
	case err == nil:
		if n, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
			return nil, 0, fmt.Errorf("%s: not a format number: %w", name, err)
		}
		if n > format {
			return nil, 0, fmt.Errorf("%s: %w: format %d, this one knows %d", dir, ErrNewerFormat, n, format)
		}
	case !errors.Is(err, os.ErrNotExist):
		return nil, 0, err
	}
	db, err = pebble.Open(dir, opts)
	if err != nil {
		if strings.Contains(err.Error(), "unknown format major version") {
			return nil, 0, fmt.Errorf("%s: %w: %w", dir, ErrNewerFormat, err)
		}
		return nil, 0, fmt.Errorf("data folder %s: %w", dir, err)
	}
	if text == nil {
		if err := os.WriteFile(name, []byte(strconv.Itoa(format)+"\n"), 0o644); err != nil {
			return nil, 0, errors.Join(err, db.Close())
		}
		n = format
	}
	return db, n, nil
}

// Close closes the store; readers must be closed before.
func (s *Store) Close() error {
	err := s.db.Close()
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return err
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
