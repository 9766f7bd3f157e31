package embedded

import (
	"errors"
	"os"
	"path/filepath"

	index "github.com/blevesearch/bleve_index_api"

	"brine/indexer"
	"brine/internal/datadir"
)

// Damaged is an index that Repair has moved aside.
type Damaged struct {
	Index string
	Err   error
}

// Repair moves the damaged indexes of a folder to aside, which must not exist; the others stay. It recovers nothing from them: their
// documents must be written again.
func Repair(dir, aside string) (moved []Damaged, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lock, err := datadir.Lock(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	queue := index.NewAnalysisQueue(1)
	defer queue.Close()
	for _, entry := range entries {
		name := entry.Name()
		if !entry.IsDir() || indexer.ValidIndex(name) != nil {
			continue
		}
		damage := checkIndex(filepath.Join(dir, name), queue)
		if damage == nil {
			if err := folderLayout.Seal(filepath.Join(dir, name)); err != nil {
				return moved, err
			}
			continue
		}
		if !errors.Is(damage, ErrDamaged) {
			return moved, damage
		}
		if err := errors.Join(os.MkdirAll(aside, 0o700), os.Rename(filepath.Join(dir, name), filepath.Join(aside, name))); err != nil {
			return moved, err
		}
		moved = append(moved, Damaged{name, damage})
	}
	return moved, nil
}
