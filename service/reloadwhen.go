package service

import (
	"context"
	"crypto/sha256"
	"os"
	"time"
)

// ReloadWhen reloads whenever something comes from signals, and, if a file is named, whenever that holds something else than before, until
// ctx ends. What comes while a reload is done makes one more. What has become of each is in the log.
func (s *Service) ReloadWhen(ctx context.Context, signals <-chan os.Signal, file string) {
	var looks <-chan time.Time
	changed := func() bool { return false }
	if file != "" {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		looks, changed = tick.C, changes(file)
	}
	for {
		by := ""
		select {
		case <-ctx.Done():
			return
		case signal := <-signals:
			by = "signal: " + signal.String()
		case <-looks:
			if changed() {
				by = "--watch: " + file + " has changed"
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

// changes returns what reports whether a file holds something else than the last time, and the same as at the look before: an editor that
// is still writing is let finish. The content counts: two changes can have one time, and a mounted one changes the link above the file. A
// file that cannot be read is one that is about to be replaced.
func changes(file string) func() bool {
	sum := func() (sum [sha256.Size]byte, ok bool) {
		text, err := os.ReadFile(file)
		return sha256.Sum256(text), err == nil
	}
	used, _ := sum()
	last := used
	return func() bool {
		now, ok := sum()
		if !ok {
			return false
		}
		same := now == last
		last = now
		if !same || now == used {
			return false
		}
		used = now
		return true
	}
}
