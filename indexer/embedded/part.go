package embedded

import (
	"context"
	"regexp"

	"brine/indexer"
)

// partName is what the name of a part ends in.
var partName = regexp.MustCompile(`-\d{4}(\.\d\d){0,2}$`)

// wholeOf is the index that a part belongs to. The parts of an index are one folder here, since a search goes over one.
func wholeOf(name string) string {
	if at := partName.FindStringIndex(name); at != nil {
		return name[:at[0]]
	}
	return name
}

var _ indexer.Partitioned = (*Engine)(nil)

// EnsurePart implements indexer.Partitioned: the part is the index itself.
func (e *Engine) EnsurePart(_ context.Context, m indexer.Mapping, _ string) error {
	_, err := e.store(m.Index)
	return err
}

// Expire implements indexer.Partitioned. It drops nothing: LIMITS.md.
func (e *Engine) Expire(context.Context, string, int64) ([]string, error) { return nil, nil }
