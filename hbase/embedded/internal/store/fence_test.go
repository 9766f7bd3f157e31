package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"brine/hbase/embedded/internal/store/storetest"
	"brine/internal/datadir/datadirtest"
)

// disk is a disk that fails, with the store's warnings.
type disk struct {
	*storetest.Disk

	mu     sync.Mutex
	warned []string
}

func newDisk(err error) *disk { return &disk{Disk: storetest.NewDisk(err)} }

func (d *disk) warn(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.warned = append(d.warned, err.Error())
}

func (d *disk) open(t *testing.T, dir string, fsync bool) *Store {
	t.Helper()
	s, err := Open(Options{Dir: dir, FS: d.FS, Warn: d.warn, Fsync: fsync})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(s *Store, row string) error {
	b := s.NewBatch()
	if err := b.Add(7, []byte(row), []byte("e"), []byte("q"), 1, Put, make([]byte, 100)); err != nil {
		return errors.Join(err, b.Close())
	}
	return b.Commit()
}

// rows returns the keys of all rows.
func rows(t *testing.T, s *Store) map[string]bool {
	t.Helper()
	r, err := s.NewReader(7, Schema{{Name: []byte("e"), MaxVersions: 1}}, &Query{MaxVersions: 1, Times: AllTime, StoreLimit: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	found := map[string]bool{}
	for row := (Row{}); ; {
		ok, err := r.Next(t.Context(), &row)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return found
		}
		found[string(row.Key)] = true
	}
}

// TestNothingIsWrittenBehindAFailedWrite: whichever write or sync fails, the store reports why and acknowledges nothing more until the
// folder could be opened again. Then it continues, and has every acknowledged row, in this process and in the next.
func TestNothingIsWrittenBehindAFailedWrite(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		at   int64
	}{
		{"no space, the first write of a log", syscall.ENOSPC, 1},
		{"no space, a later one", syscall.ENOSPC, 150},
		{"a disk that fails", syscall.EIO, 77},
		{"no space at a sync", syscall.ENOSPC, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, dir := newDisk(c.err), t.TempDir()
			s := d.open(t, dir, true)
			d.FailAt.Store(c.at)
			acknowledged := writeUntilItFails(t, s, c.err)
			if err := put(s, "refused"); !errors.Is(err, ErrUnavailable) || !errors.Is(err, c.err) {
				t.Errorf("a put while the disk is full: %v", err)
			}
			if err := s.Broken(); !errors.Is(err, c.err) || !strings.Contains(err.Error(), dir) {
				t.Errorf("Broken is %v: it names neither cause nor path", err)
			}
			d.Full.Store(false)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := s.Wait(ctx); err != nil {
				t.Fatal(err)
			}
			if err := put(s, "again"); err != nil {
				t.Error(err)
			}
			check(t, s, append(acknowledged, "again"))
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if len(d.warned) != 2 || !strings.Contains(d.warned[0], c.err.Error()) || !strings.Contains(d.warned[1], "is writable again") {
				t.Errorf("warned %q", d.warned)
			}
			s = d.open(t, dir, true)
			check(t, s, append(acknowledged, "again"))
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// writeUntilItFails writes rows from several goroutines and returns those that were acknowledged.
func writeUntilItFails(t *testing.T, s *Store, want error) (acknowledged []string) {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for n := range 10_000 {
				row := fmt.Sprint(w, ".", n)
				err := put(s, row)
				if err != nil {
					if !errors.Is(err, ErrUnavailable) || !errors.Is(err, want) {
						t.Errorf("a put failed with %v", err)
					}
					return
				}
				mu.Lock()
				acknowledged = append(acknowledged, row)
				mu.Unlock()
			}
			t.Error("the disk never failed")
		})
	}
	wg.Wait()
	return acknowledged
}

func check(t *testing.T, s *Store, acknowledged []string) {
	t.Helper()
	found := rows(t, s)
	for _, row := range acknowledged {
		if !found[row] {
			t.Fatalf("row %s was acknowledged and is missing (%d acknowledged, %d found)", row, len(acknowledged), len(found))
		}
	}
}

// TestCauseIsKnownAtOnce: a call after the write fails and before the store notices also gets the cause.
func TestCauseIsKnownAtOnce(t *testing.T) {
	d := newDisk(syscall.ENOSPC)
	s := d.open(t, t.TempDir(), false)
	f := s.life.Load().fence
	cause := error(syscall.ENOSPC)
	f.err.Store(&cause)
	if err := put(s, "a"); !errors.Is(err, ErrUnavailable) || !errors.Is(err, cause) {
		t.Errorf("put: %v", err)
	}
	if err := s.Broken(); !errors.Is(err, cause) {
		t.Errorf("Broken is %v", err)
	}
	f.failed()
	if err := s.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := put(s, "a"); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestCloseWhileTheFolderIsOpened: a life that comes too late is closed, even if nothing can be written.
func TestCloseWhileTheFolderIsOpened(t *testing.T) {
	d := newDisk(syscall.ENOSPC)
	s := &Store{opts: Options{Dir: t.TempDir(), FS: d.FS, Warn: d.warn}, closing: make(chan struct{}), closed: true}
	if err := folderLayout.Make(s.opts.Dir); err != nil {
		t.Fatal(err)
	}
	late, err := s.begin(0)
	if err != nil {
		t.Fatal(err)
	}
	d.Full.Store(true)
	if err := s.install(late); !errors.Is(err, errClosed) {
		t.Errorf("install: %v", err)
	}
	if late.fence.cause() == nil {
		t.Error("closing wrote nothing")
	}
}

// TestFlushThatFails: failures in Pebble's own jobs are handled like those of commits.
func TestFlushThatFails(t *testing.T) {
	d := newDisk(syscall.ENOSPC)
	s := d.open(t, t.TempDir(), false)
	if err := put(s, "a"); err != nil {
		t.Fatal(err)
	}
	d.Full.Store(true)
	if err := s.Flush(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Flush: %v", err)
	}
	d.Full.Store(false)
	if err := s.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(t, s, []string{"a"})
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestCloseWhileTheDiskIsFull: Close returns, with the reason, and the folder can be opened again; open readers do not prevent that.
func TestCloseWhileTheDiskIsFull(t *testing.T) {
	d, dir := newDisk(syscall.ENOSPC), t.TempDir()
	s := d.open(t, dir, false)
	if err := put(s, "a"); err != nil {
		t.Fatal(err)
	}
	r, err := s.NewReader(7, Schema{{Name: []byte("e"), MaxVersions: 1}}, &Query{MaxVersions: 1, Times: AllTime, StoreLimit: -1})
	if err != nil {
		t.Fatal(err)
	}
	d.Full.Store(true)
	if err := put(s, "b"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("put: %v", err)
	}
	if _, err := r.Next(t.Context(), &Row{}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a reader of the life before: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Close: %v", err)
	}
	if _, err := Open(Options{Dir: dir, FS: d.FS}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Open on a full disk: %v", err)
	}
	d.Full.Store(false)
	s = d.open(t, dir, false)
	check(t, s, []string{"a"})
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestCommitSurely: a batch that may have been applied is committed again until it is applied.
func TestCommitSurely(t *testing.T) {
	d := newDisk(syscall.ENOSPC)
	s := d.open(t, t.TempDir(), false)
	d.Full.Store(true)
	b := s.NewBatch()
	if err := b.SetRecord("table/t", []byte("v")); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- b.CommitSurely(t.Context()) }()
	for s.Broken() == nil {
		time.Sleep(time.Millisecond)
	}
	d.Full.Store(false)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if v, err := s.Record("table/t"); err != nil || string(v) != "v" {
		t.Errorf("record %q, %v", v, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestFullDisk is the same test with a real disk of 20 MB, filled with a file.
func TestFullDisk(t *testing.T) {
	dir, d := datadirtest.SmallDisk(t), newDisk(nil)
	s := d.open(t, filepath.Join(dir, "store"), false)
	if err := put(s, "before"); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(dir, "ballast")
	datadirtest.Fill(t, ballast)
	acknowledged := append(writeUntilItFails(t, s, syscall.ENOSPC), "before")
	if err := s.Broken(); err == nil || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("Broken is %v", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := put(s, "again"); err != nil {
		t.Error(err)
	}
	check(t, s, append(acknowledged, "again"))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
