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
	if want := []int64{1, 2, 4}; len(records) != 3 || records[0] != want[0] || records[1] != want[1] || records[2] != want[2] {
		t.Errorf("%v records were verified, round by round, expected %v", records, want)
	}
}

// A recreated topic holds other records at the offsets that were verified. They must not count as proved unread.
func TestFollowerDoesNotProveARecreatedTopicUnread(t *testing.T) {
	t.Parallel()
	w := newWorld(t, embeddedHBase)
	w.send(someOrders...)
	w.write()
	rounds, now := []int64{0, 3, 2}, int64(0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	records := int64(0)
	o := w.options()
	o.Full = false
	f := verify.Follower{
		Options: o, Every: time.Millisecond,
		Committed: func(context.Context) (next, ends []map[int]int64, err error) {
			if now = rounds[0]; len(rounds) > 1 {
				rounds = rounds[1:]
			}
			return []map[int]int64{{0: now, 1: 0, 2: 0}}, []map[int]int64{{0: now, 1: 0, 2: 0}}, nil
		},
		Started: func() {}, Work: func(work func()) { work() },
		Verified: func(r *verify.Report) {
			if r == nil {
				cancel() // nothing moves any more
				return
			}
			records += r.Sources[0].Records
		},
		Proved: func(time.Time) {
			if want := map[int64]int64{3: 3, 2: 3 + 2}[now]; records != want {
				t.Errorf("proved up to offset %d with %d records verified, expected %d", now, records, want)
			}
		},
		Failed: func(err error) { t.Error(err); cancel() },
	}
	if err := f.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if records != 3+2 {
		t.Errorf("%d records were verified, expected 3 of the topic and 2 of the one that replaced it", records)
	}
}
