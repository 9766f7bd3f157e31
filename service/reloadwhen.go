package service

import (
	"context"
	"crypto/sha256"
	"os"
	"time"
)

// ReloadWhen reloads on each signal, and each time the content of file changes unless file is nil, until ctx is done. Signals that arrive
// before Run or during a reload cause one more reload. The log has the result of each.
func (s *Service) ReloadWhen(ctx context.Context, signals <-chan os.Signal, file *WatchedFile) {
	select {
	case <-s.running:
	case <-ctx.Done():
		return
	}
	var looks <-chan time.Time
	if file != nil {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		looks = tick.C
	}
	for {
		by := ""
		select {
		case <-ctx.Done():
			return
		case signal := <-signals:
			by = "signal: " + signal.String()
		case <-looks:
			if file.changed() {
				by = "--watch: " + file.name + " has changed"
			}
		}
		if by == "" {
			continue
		}
		if r, err := s.Reload(ctx, Reloading{By: by}); r == nil && ctx.Err() == nil { // otherwise Reload has logged it
			s.log.Warn("configuration not reloaded", "by", by, "error", err)
		}
	}
}

// watchEvery is how often a file is checked.
const watchEvery = 2 * time.Second

// WatchedFile is a file that ReloadWhen watches.
type WatchedFile struct {
	name       string
	used, last [sha256.Size]byte // sums of the content last reloaded, and at the last look
}

// WatchFile starts watching a file. Changes from then on count, so it must be called before the file is loaded.
func WatchFile(name string) *WatchedFile {
	f := &WatchedFile{name: name}
	f.used, _ = f.sum()
	f.last = f.used
	return f
}

func (f *WatchedFile) sum() (sum [sha256.Size]byte, ok bool) {
	text, err := os.ReadFile(f.name)
	return sha256.Sum256(text), err == nil
}

// changed reports whether the file has content that differs from the last reload and is the same as at the previous look, so that an editor
// can finish writing. The content counts, because two changes can have the same time, and a mounted file changes by a link above it. A file
// that cannot be read is taken to be in the middle of a replacement.
func (f *WatchedFile) changed() bool {
	now, ok := f.sum()
	if !ok {
		return false
	}
	same := now == f.last
	f.last = now
	if !same || now == f.used {
		return false
	}
	f.used = now
	return true
}
