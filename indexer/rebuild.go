package indexer

import (
	"context"
	"strings"
)

// Rebuilder is an Engine whose indexes can be rebuilt beside the ones in use, under the name Beside, and then take
// its place.
type Rebuilder interface {
	// Behind names the indexes that an index is made of now, as they are called once others have taken their place.
	Behind(ctx context.Context, index string) ([]string, error)
	// Promote puts what was built beside an index in its place, at once for all readers and writers. The error wraps
	// search.ErrNoIndex when nothing is beside it. The former indexes stay, and nothing is read from them any more.
	Promote(ctx context.Context, index string) error
	// Discard drops what was built beside an index; nothing is no error.
	Discard(ctx context.Context, index string) error
	// Drop drops indexes that Behind has named. Those that are gone are no error; one that is in use is an error, and is not dropped.
	Drop(ctx context.Context, names []string) error
	// Room says how large an index is and what else has room.
	Room(ctx context.Context, index string) (Room, error)
}

// Room is bytes on disk.
type Room struct {
	Index int64 // of the index, with its replicas
	Free  int64 // of all nodes together; −1: not known
}

// beside ends the name by which an index is written and read until it takes the place of another.
const beside = ".reindex"

// Beside is the name of what is built beside an index.
func Beside(index string) string { return index + beside }

// StandsFor is the index, or the part of one, whose place an index or a part takes; ok is false of any other, which stands for
// itself.
func StandsFor(name string) (index string, ok bool) {
	at := strings.LastIndex(name, beside)
	if at < 0 || name[at+len(beside):] != "" && name[at+len(beside)] != '-' {
		return name, false
	}
	return name[:at] + name[at+len(beside):], true
}
