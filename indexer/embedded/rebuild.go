package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"brine/indexer"
	"brine/search"
)

var _ indexer.Rebuilder = (*Engine)(nil)

// promoted is the suffix of the folder of an index that will take the place of another. It marks the index as complete, so that Open
// finishes a promotion that was interrupted between two renames.
const promoted = ".promoted"

// formerName returns the name of an index's folder after another has taken its place, with the first free number.
func (e *Engine) formerName(index string) string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s-%06d", index, n)
		if _, err := os.Stat(filepath.Join(e.dir, name)); errors.Is(err, fs.ErrNotExist) {
			return name
		}
	}
}

// Behind implements indexer.Rebuilder.
func (e *Engine) Behind(_ context.Context, index string) ([]string, error) {
	if _, err := e.store(index); err != nil {
		return nil, err
	}
	return []string{e.formerName(index)}, nil
}

// Promote implements indexer.Rebuilder.
func (e *Engine) Promote(_ context.Context, index string) error {
	for _, name := range []string{index, indexer.Beside(index)} {
		if _, err := e.store(name); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := errors.Join(e.closeStore(index), e.closeStore(indexer.Beside(index))); err != nil {
		return err
	}
	if err := e.rename(indexer.Beside(index), index+promoted); err != nil {
		return err
	}
	if err := e.finish(index); err != nil {
		return err
	}
	s, err := openStore(index, filepath.Join(e.dir, index), e.queue, e.analyzer)
	if err == nil {
		e.indexes[index] = s
	}
	return err
}

// finish renames a promoted index.
func (e *Engine) finish(index string) error {
	if _, err := os.Stat(filepath.Join(e.dir, index)); err == nil {
		if err := e.rename(index, e.formerName(index)); err != nil {
			return err
		}
	}
	return e.rename(index+promoted, index)
}

// finishAll finishes interrupted promotions.
func (e *Engine) finishAll(entries []fs.DirEntry) error {
	for _, entry := range entries {
		if index, ok := strings.CutSuffix(entry.Name(), promoted); ok {
			if err := e.finish(index); err != nil {
				return err
			}
		}
	}
	return nil
}

// rename renames the folder of an index durably.
func (e *Engine) rename(from, to string) error {
	if err := os.Rename(filepath.Join(e.dir, from), filepath.Join(e.dir, to)); err != nil {
		return err
	}
	dir, err := os.Open(e.dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// closeStore closes an index that is no longer used, if there is one. The caller holds e.mu.
func (e *Engine) closeStore(name string) error {
	s := e.indexes[name]
	delete(e.indexes, name)
	if s == nil {
		return nil
	}
	return s.close()
}

// Discard implements indexer.Rebuilder.
func (e *Engine) Discard(ctx context.Context, index string) error {
	return e.Drop(ctx, []string{indexer.Beside(index)})
}

// Drop implements indexer.Rebuilder.
func (e *Engine) Drop(_ context.Context, names []string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, name := range names {
		if err := indexer.ValidIndex(name); err != nil {
			return err
		}
		if err := errors.Join(e.closeStore(name), os.RemoveAll(filepath.Join(e.dir, name))); err != nil {
			return fmt.Errorf("drop index %s: %w", name, err)
		}
	}
	return nil
}

// Room implements indexer.Rebuilder. It does not determine the free space: the folder may grow until a write fails.
func (e *Engine) Room(_ context.Context, index string) (indexer.Room, error) {
	room := indexer.Room{Free: -1}
	err := filepath.WalkDir(filepath.Join(e.dir, index), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err == nil { // otherwise it has just been merged into another
			room.Index += info.Size()
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("index %s: %w", index, search.ErrNoIndex)
	}
	return room, err
}
