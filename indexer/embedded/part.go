package embedded

import (
	"context"
	"regexp"

	"brine/indexer"
)

// partName matches the end of a part's name.
var partName = regexp.MustCompile(`-\d{4}(\.\d\d){0,2}$`)

// wholeOf returns the index that a part belongs to. All parts of an index are one folder here, because a search covers one.
func wholeOf(name string) string {
	if at := partName.FindStringIndex(name); at != nil {
		return name[:at[0]]
	}
	return name
}

var _ indexer.Partitioned = (*Engine)(nil)

// EnsurePart implements indexer.Partitioned. The part is the index itself.
func (e *Engine) EnsurePart(_ context.Context, m indexer.Mapping, _ string) error {
	_, err := e.store(m.Index)
	return err
}

// Expire implements indexer.Partitioned. It drops nothing: LIMITS.md.
func (e *Engine) Expire(context.Context, string, int64) ([]string, error) { return nil, nil }
