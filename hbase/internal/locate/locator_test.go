package locate

import (
	"fmt"
	"testing"

	"brine/hbase/internal/remote"
)

// A location that a server reports is used if it is newer than the known one; otherwise the client asks hbase:meta.
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

// A replica that moved is looked up again. It is never cached as the region, because the region's reads must see every write.
func TestAReplicaIsNeverTheRegion(t *testing.T) {
	var l Locator
	r := &Region{Table: "t", Name: []byte("t,,1_0001.x."), Server: "a:1", Replica: 1, seq: 5}
	text := "Region moved to: hostname=b port=1 startCode=1. As of locationSeqNum=9."
	d := remote.Diagnose(&remote.Exception{Class: remote.Package + "exceptions.RegionMovedException", Text: text})
	if moved := l.Correct(r, d); moved != nil {
		t.Errorf("%+v", moved)
	}
}
