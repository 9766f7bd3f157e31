package datadir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// ErrInUse is returned by Lock while the folder is locked, by this process or another.
var ErrInUse = errors.New("data folder is in use")

// Lock locks a folder until the lock is closed or the process ends.
func Lock(dir string) (io.Closer, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, fileMode)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = fmt.Errorf("%s: %w", dir, ErrInUse)
		}
		return nil, errors.Join(err, f.Close())
	}
	return lock{f}, nil
}

type lock struct{ *os.File }

// Close unlocks the folder first: a child that is being started has a copy of the open file until it executes its program, and with that
// copy the lock.
func (l lock) Close() error {
	return errors.Join(syscall.Flock(int(l.Fd()), syscall.LOCK_UN), l.File.Close())
}
