package account

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"brine/internal/backoff"
)

// lockFolder waits until no other process has the file locked. It calls waits, unless that is nil, when the wait begins, and every few
// seconds during it.
func lockFolder(ctx context.Context, path string, waits func(waited time.Duration)) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	began, next := time.Now(), time.Duration(0)
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), f.Close())
		}
		if waited := time.Since(began); waits != nil && waited >= next {
			waits(waited.Round(time.Second))
			next += lockTry
		}
		if err := backoff.Wait(ctx, 20*time.Millisecond); err != nil {
			return nil, errors.Join(fmt.Errorf("waiting for another process that has locked %s: %w", path, err), f.Close())
		}
	}
}
