package indexer

import (
	"context"
	"strings"
)

// Rebuilder is an Engine that can rebuild indexes beside the ones in use, under the name Beside, and then swap them in.
type Rebuilder interface {
	// Behind returns the current indexes behind an index name, by the names that they have once others have taken their place.
	Behind(ctx context.Context, index string) ([]string, error)
	// Promote puts what was built beside an index in its place, at once for all readers and writers. The error wraps search.ErrNoIndex if
	// nothing is beside it. The former indexes stay, and nothing reads them any more.
	Promote(ctx context.Context, index string) error
	// Discard drops what was built beside an index; it is not an error if there is nothing.
	Discard(ctx context.Context, index string) error
	// Drop drops indexes that Behind has named. It ignores those that no longer exist. It returns an error for an index that is in use, and
	// does not drop it.
	Drop(ctx context.Context, names []string) error
	// Room returns the size of an index and the free space.
	Room(ctx context.Context, index string) (Room, error)
}

// Room is sizes on disk, in bytes.
type Room struct {
	Index int64 // of the index, with its replicas
	Free  int64 // of all nodes together; −1: not known
}

// beside is the suffix of the name under which an index is written and read until it takes the place of another.
const beside = ".reindex"

// Beside returns the name of what is built beside an index.
func Beside(index string) string { return index + beside }

// StandsFor returns the index, or the part of one, whose place an index or a part takes; ok is false for any other, which stands for
// itself.
func StandsFor(name string) (index string, ok bool) {
	at := strings.LastIndex(name, beside)
	if at < 0 || name[at+len(beside):] != "" && name[at+len(beside)] != '-' {
		return name, false
	}
	return name[:at] + name[at+len(beside):], true
}
