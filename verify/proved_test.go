package verify

import (
	"testing"
	"time"
)

// at returns a time in minutes.
func at(minutes int) time.Time { return time.Unix(int64(60*minutes), 0) }

func ends(offsets ...int64) []map[int]int64 {
	of := map[int]int64{}
	for partition, offset := range offsets {
		of[partition] = offset
	}
	return []map[int]int64{of}
}

// TestProvedThrough checks that the proved time is the last at which the ends of the topics were ones that are verified by now, in all
// partitions.
func TestProvedThrough(t *testing.T) {
	var p proof
	for i, round := range []struct {
		ends, next []map[int]int64
		through    time.Time
	}{
		{ends(10, 10), ends(9, 10), time.Time{}},  // one record is behind
		{ends(20, 10), ends(10, 10), at(0)},       // up to the look of the first round
		{ends(20, 10), ends(19, 10), at(0)},       // still behind
		{ends(20, 10), ends(20, 10), at(3)},       // nothing is behind
		{ends(30, 11), ends(30, 10), at(3)},       // every partition counts
		{ends(30, 11, 5), ends(30, 11, 0), at(4)}, // a later partition was empty then
		{ends(30, 11, 5), ends(30, 11, 5), at(6)},
	} {
		p.looked(at(i), round.ends)
		if p.verified(round.next); !p.through.Equal(round.through) {
			t.Errorf("round %d: proved through %v, expected %v", i, p.through, round.through)
		}
	}
	p.looked(at(7), ends(31, 11, 5))
	p.broken = true
	if p.verified(ends(31, 11, 5)); !p.through.Equal(at(6)) || p.known[0].at != at(7) {
		t.Errorf("after something wrong was left: proved through %v", p.through)
	}
}

// TestLongLagsTakeBoundedMemory checks that a lag of days is remembered more coarsely, and proves no more than is verified.
func TestLongLagsTakeBoundedMemory(t *testing.T) {
	var p proof
	const days = 5 * 24 * 60
	for minute := range days {
		p.looked(at(minute), ends(int64(minute)))
		if len(p.known) > mostLooks {
			t.Fatalf("%d looks", len(p.known))
		}
	}
	p.verified(ends(days / 2))
	if behind := at(days / 2).Sub(p.through); behind < 0 || behind > 2*time.Hour {
		t.Errorf("proved through %v, and verified to %v", p.through, at(days/2))
	}
	if p.verified(ends(days)); p.through != at(days-1) {
		t.Errorf("proved through %v, expected %v", p.through, at(days-1))
	}
}
