package locate

import (
	"fmt"
	"testing"

	"brine/hbase/internal/remote"
)

// A server's word on where a region went is followed when it is newer than what is known; else hbase:meta is asked.
func TestMovedIsFollowedForwardsOnly(t *testing.T) {
	for seq, follow := range map[int64]bool{-1: false, 55: false, 56: false, 57: true} {
		r := &Region{Table: "t", Encoded: "e", Server: "a:1", seq: 56}
		var l Locator
		l.cache.add(r)
		text := fmt.Sprintf("Region moved to: hostname=b port=1 startCode=1. As of locationSeqNum=%d.", seq)
		moved := l.Correct(r, remote.Diagnose(&remote.Exception{Class: remote.Package + "exceptions.RegionMovedException", Text: text}))
		if got := moved != nil; got != follow {
			t.Errorf("as of %d, when %d is known: followed %t", seq, r.seq, got)
		}
		if follow && (moved.Server != "b:1" || moved.seq != seq) {
			t.Errorf("as of %d: %+v", seq, moved)
		}
	}
}
