package service

import (
	"context"
	"crypto/sha256"
	"os"
	"time"
)

// ReloadWhen reloads whenever something comes from signals, and whenever a file, unless it is nil, holds something else than before, until
// ctx ends. What comes before Run or while a reload is done makes one more. What has become of each is in the log.
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
		if r, err := s.Reload(ctx, Reloading{By: by}); r == nil && ctx.Err() == nil { // else it is in the log
			s.log.Warn("the configuration was not reloaded", "by", by, "error", err)
		}
	}
}

// watchEvery is how often a file is looked at.
const watchEvery = 2 * time.Second

// WatchedFile is a file whose changes ReloadWhen follows.
type WatchedFile struct {
	name       string
	used, last [sha256.Size]byte // sums of what was reloaded, and of what was there at the last look
}

// WatchFile begins to watch a file. What changes from then on counts, so it comes before the file is loaded.
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

// changed reports whether the file holds something else than the last time, and the same as at the look before: an editor that is still
// writing is let finish. The content counts: two changes can have one time, and a mounted one changes the link above the file. A file that
// cannot be read is one that is about to be replaced.
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
