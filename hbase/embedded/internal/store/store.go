package store

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"brine/internal/datadir"
)

// Options configure a store.
type Options struct {
	Dir   string // empty: in memory
	Fsync bool   // commits wait for the disk, not only for the operating system
	Log   pebble.Logger

	// Damaged, if set, is called with an ErrDamaged that names the file, when a read finds a table damaged, or reopening finds the folder
	// damaged. It must not block or call the store.
	Damaged func(error)

	// Warn, if set, is called with the reason when the folder cannot be written, and again when it can. It must not call the store.
	Warn func(error)

	// BeforeCommit, if set, is called before each commit of a Batch; if it returns an error, the commit fails with it. It is for tests of what
	// a crash leaves.
	BeforeCommit func() error

	FS vfs.FS // of the folder, for tests; default the system's
}

// Store is an open store. It is safe for concurrent use. If a write fails, calls return ErrUnavailable, and the store opens its folder
// again until that succeeds: see life and fence.
type Store struct {
	opts    Options
	lock    *pebble.Lock // of the folder; nil in memory
	life    atomic.Pointer[life]
	broken  atomic.Pointer[error] // why the newest life must not be used
	full    atomic.Bool           // see Fill
	closing chan struct{}
	wg      sync.WaitGroup // goroutines that reopen

	mu     sync.Mutex // guards closed, and life against replacement
	closed bool
}

// Open opens or creates a store.
func Open(o Options) (*Store, error) {
	if o.Warn == nil {
		o.Warn = func(error) {}
	}
	if o.FS == nil {
		o.FS = vfs.Default
	}
	s := &Store{opts: o, closing: make(chan struct{})}
	if o.Dir == "" {
		db, err := pebble.Open("", o.pebble(vfs.NewMem(), nil))
		if err != nil {
			return nil, err
		}
		s.life.Store((&life{db: db, tails: true}).begin())
		return s, nil
	}
	var err error
	if s.lock, err = lockDir(o.Dir, vfs.Default); err != nil {
		return nil, err
	}
	l, err := s.begin(0)
	if err == nil {
		err = s.install(l)
	}
	if err != nil {
		return nil, errors.Join(err, s.lock.Close())
	}
	return s, nil
}

// pebble returns Pebble's options for a life.
func (o Options) pebble(fs vfs.FS, f *fence) *pebble.Options {
	opts := &pebble.Options{
		FS:                    fs,
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
	opts.Logger = fencedLog{opts.Logger, f}
	if o.Damaged != nil {
		opts.EventListener = damageListener(o.Damaged, f)
	}
	return opts
}

func damageListener(damaged func(error), f *fence) *pebble.EventListener {
	var once sync.Once
	return &pebble.EventListener{DataCorruption: func(i pebble.DataCorruptionInfo) {
		if f.cause() == nil { // otherwise the file is incomplete because of a failed write
			once.Do(func() { damaged(datadir.Damaged(i.Path, "%v", i.Details)) })
		}
	}}
}

func lockDir(dir string, fs vfs.FS) (*pebble.Lock, error) {
	if err := folderLayout.Make(dir); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	lock, err := pebble.LockDirectory(dir, fs)
	switch {
	case err == nil:
		return lock, nil
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EACCES) && !os.IsPermission(rootOf(err)),
		strings.Contains(err.Error(), "held by current process"):
		return nil, fmt.Errorf("%s: %w", dir, ErrInUse)
	default:
		return nil, fmt.Errorf("data folder %s: %w", dir, err)
	}
}

// rootOf returns err if it concerns a path: in that case EACCES means a forbidden folder, not a held lock.
func rootOf(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path
	}
	return nil
}

// Close closes the store; all readers must be closed. A folder closed without an error is sealed.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	close(s.closing)
	s.wg.Wait()
	l := s.life.Load()
	l.abandon()
	<-l.ended
	if s.lock == nil {
		return l.end
	}
	err := l.end
	if err == nil {
		err = folderLayout.Seal(s.opts.Dir)
	}
	return errors.Join(err, s.lock.Close())
}

// Flush writes the memtable to disk.
func (s *Store) Flush() error {
	l, err := s.enter()
	if err != nil {
		return err
	}
	defer l.leave()
	return l.named(l.db.Flush())
}

// Record returns the catalogue's record with that name, or nil if there is none.
func (s *Store) Record(name string) ([]byte, error) {
	l, err := s.enter()
	if err != nil {
		return nil, err
	}
	defer l.leave()
	v, closer, err := l.db.Get(recordKey(name))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	return append([]byte{}, v...), nil
}

// Records calls f with all records whose names begin with prefix, in order.
func (s *Store) Records(prefix string, f func(name string, value []byte) error) error {
	l, err := s.enter()
	if err != nil {
		return err
	}
	defer l.leave()
	lower := recordKey(prefix)
	it, err := l.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: append(append([]byte{}, lower...), 0xFF)})
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

// Bytes returns an estimate of the disk space of the rows [start, stop) of a space; nil bounds mean its ends.
func (s *Store) Bytes(space Space, start, stop []byte) uint64 {
	l, err := s.enter()
	if err != nil {
		return 0
	}
	defer l.leave()
	r := Range{Start: start, Stop: stop}
	n, err := l.db.EstimateDiskUsage(r.lower(space), r.upper(space))
	if err != nil {
		return 0 // an estimate for statistics; reads of the data report a broken store
	}
	return n
}

func recordKey(name string) []byte { return append([]byte{recordPrefix}, name...) }

// quiet drops Pebble's messages; a fatal one still ends the process.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, args ...any) {
	panic("embedded store: " + fmt.Sprintf(format, args...))
}
