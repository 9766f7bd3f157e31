package verify_test

import (
	"context"
	"testing"
	"time"

	"brine/verify"
)

// TestFollowerTakesPartitionsThatStandStill checks that a partition without commits, one whose group was set back, and a new one do not
// prevent the verification of the others.
func TestFollowerTakesPartitionsThatStandStill(t *testing.T) {
	t.Parallel()
	w := newWorld(t, embeddedHBase)
	w.send(someOrders...)
	w.write()
	rounds := []map[int]int64{{0: 1, 1: 2}, {0: 2, 1: 2, 2: 0}, {0: 3, 1: 1, 2: 0}, {0: 3, 1: 2, 2: 3}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var records []int64
	o := w.options()
	o.Full = false
	f := verify.Follower{
		Options: o, Every: time.Millisecond,
		Committed: func(context.Context) (next, ends []map[int]int64, err error) {
			now := rounds[0]
			if rounds = rounds[1:]; len(rounds) == 0 {
				rounds = append(rounds, now)
			}
			copied := map[int]int64{}
			for partition, offset := range now {
				copied[partition] = offset
			}
			return []map[int]int64{copied}, []map[int]int64{{}}, nil
		},
		Started: func() {}, Work: func(work func()) { work() }, Proved: func(time.Time) {},
		Verified: func(r *verify.Report) {
			if r == nil {
				cancel() // nothing moves any more
				return
			}
			records = append(records, r.Sources[0].Records)
			if n := r.Problems(); n > 0 {
				t.Errorf("%d findings", n)
			}
		},
		Failed: func(err error) { t.Error(err); cancel() },
	}
	if err := f.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if want := []int64{1, 1, 4}; len(records) != 3 || records[0] != want[0] || records[1] != want[1] || records[2] != want[2] {
		t.Errorf("%v records were verified, round by round, expected %v", records, want)
	}
}
