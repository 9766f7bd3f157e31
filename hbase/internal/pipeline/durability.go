package pipeline

import (
	"fmt"

	"brine/hbase/hbasepb"
)

// Durability is what a region server does with its write-ahead log before it acknowledges a mutation. With all but the Unsafe ones,
// acknowledged mutations survive the death of a server.
type Durability uint8

// The kinds of durability.
const (
	TableDurability Durability = iota // the table's setting; if it has none, the log has reached other machines' file systems (SYNC_WAL)
	FsyncWAL                          // the log has reached their disks (FSYNC_WAL)
	UnsafeAsyncWAL                    // the log is written later: a server that dies loses its last second of acknowledged writes (ASYNC_WAL)
	UnsafeSkipWAL                     // there is no log: a server that dies loses everything not yet flushed, up to hours of writes (SKIP_WAL)
)

var durabilities = [...]struct {
	name string
	wire hbasepb.MutationProto_Durability
}{
	TableDurability: {"table", hbasepb.MutationProto_USE_DEFAULT},
	FsyncWAL:        {"fsync_wal", hbasepb.MutationProto_FSYNC_WAL},
	UnsafeAsyncWAL:  {"unsafe_async_wal", hbasepb.MutationProto_ASYNC_WAL},
	UnsafeSkipWAL:   {"unsafe_skip_wal", hbasepb.MutationProto_SKIP_WAL},
}

// ParseDurability parses table, fsync_wal, unsafe_async_wal or unsafe_skip_wal.
func ParseDurability(s string) (Durability, error) {
	for d, known := range durabilities {
		if known.name == s {
			return Durability(d), nil
		}
	}
	return 0, fmt.Errorf("unknown durability %q: write table, fsync_wal, unsafe_async_wal or unsafe_skip_wal", s)
}

func (d Durability) String() string {
	if int(d) >= len(durabilities) {
		return fmt.Sprintf("durability %d", uint8(d))
	}
	return durabilities[d].name
}

func (d Durability) wire() hbasepb.MutationProto_Durability { return durabilities[d].wire }
